/**
 * Routes of the console's own requests: sign-in and sign-out, invitations, password changes, passkeys and the sample
 * shop.
 */
import { limits } from '@firsthand/contract/limits';
import type { Context } from 'hono';
import { Refusal } from '../../shared/refusal.ts';
import type { Store } from '../../store/store.ts';
import { bindingsOf } from '../access/client-address.ts';
import { isLocalVisitor } from '../access/loopback.ts';
import type { RateLimit } from '../access/rate-limits.ts';
import { type Exchange, jsonAnswer } from '../answers/answers.ts';
import type { Admit } from '../request/admission.ts';
import { type RequestFields, readInput } from '../request/input.ts';
import type { BudgetOf } from '../request/parsing-budget.ts';
import type { Route } from '../routes.ts';
import { hasConsoleHeader, isFromConsole, maxInCookie, sessionCookie } from './cookie.ts';
import type { Invitations } from './invitations.ts';
import type { MemberPasswords } from './member-passwords.ts';
import type { Passkeys } from './passkeys/passkeys.ts';
import { createPasskeyAnswers } from './passkeys/routes.ts';
import type { OpenSession, Sessions } from './sessions.ts';
import type { Owner, SignIn } from './sign-in.ts';

/** Fills and removes the sample shop, for trying out a server. */
export interface SampleShop {
  /** Creates and fills the shop unless it exists; resolves with its account. */
  fill(): Promise<number>;
  /** Returns how much of the shop has been filled; undefined unless it is being filled. */
  progress(): { readonly events: number; readonly of: number } | undefined;
  isShop(accountUUID: string): boolean;
  /** Whether the database has the shop, even if only partly filled. */
  exists(): Promise<boolean>;
  remove(): Promise<void>;
}

/**
 * How old a session may be to change passwords or passkeys, so that an unattended computer gives nobody permanent
 * access.
 */
const freshMilliseconds = 10 * 60_000;

interface Dependencies {
  readonly store: Pick<Store, 'listPasskeys' | 'addPasskey' | 'removePasskey' | 'listMembers' | 'changePassword'>;
  readonly signIn: SignIn;
  readonly memberPasswords: Pick<MemberPasswords, 'hashNewPassword'>;
  readonly invitations: Invitations;
  readonly passkeys: Passkeys;
  /** Counts added passkeys, by memberID. */
  readonly passkeyAdditions: Pick<RateLimit, 'take'>;
  readonly sessions: Sessions;
  readonly admit: Admit;
  readonly budgetOf: BudgetOf;
  /** The origin whose pages may sign in, in addition to those on this machine. */
  readonly consoleOrigin: string | undefined;
  readonly sampleShop: SampleShop | undefined;
  readonly now: () => number;
}

type Answer = (c: Context, exchange: Exchange, fields: RequestFields) => Promise<Response>;

const checkSender = ({ headers }: Request): void => {
  if (isFromConsole(headers)) return;
  throw new Refusal('origin_not_allowed', { message: 'only pages of the console may send this request' });
};

const isLocal = (c: Context): boolean =>
  isLocalVisitor({ remoteAddress: bindingsOf(c).incoming?.socket?.remoteAddress, headers: c.req.raw.headers });

/** Throws a Refusal for a visitor on another machine. */
const checkLocal = (c: Context): void => {
  if (isLocal(c)) return;
  throw new Refusal('origin_not_allowed', { message: "this works only in a browser on the server's own machine" });
};

export const createConsoleAnswers = ({
  store,
  signIn,
  memberPasswords,
  invitations,
  passkeys,
  passkeyAdditions: additions,
  sessions,
  admit,
  budgetOf,
  consoleOrigin,
  sampleShop,
  now,
}: Dependencies): readonly { readonly path: string; readonly route: Route }[] => {
  /** Throws a Refusal if this page may not get a cookie, before doing any work for it. */
  const checkPage = ({ raw: { headers, url } }: Context['req']): void => {
    if (sessionCookie(headers, [], consoleOrigin) === undefined) {
      const message =
        consoleOrigin === undefined
          ? "the console works only on the server's own machine; set CONSOLE_ORIGIN to use it from elsewhere"
          : `the console of this server is at ${consoleOrigin}`;
      throw new Refusal('origin_not_allowed', { message });
    }
    if (new URL(url).search !== '') {
      throw new Refusal('invalid_field', {
        message: 'send the token in the body, not in the URL: URLs end up in logs',
      });
    }
  };

  const withCookie = (c: Context, texts: readonly string[]) => {
    const cookie = sessionCookie(c.req.raw.headers, texts, consoleOrigin);
    return cookie === undefined ? undefined : { 'Set-Cookie': cookie };
  };

  /**
   * Starts a session for each owner that may start one, and puts them first in the cookie. An existing session ends if
   * it belongs to the same account, or if the cookie has no room for it.
   */
  const signInAs = async (c: Context, exchange: Exchange, owners: readonly Owner[]): Promise<Response> => {
    const previous = await sessions.ofBrowser(c);
    const attempts = await Promise.allSettled(
      owners.map(async (owner) => ({ ...owner, ...(await sessions.start(owner)) })),
    );
    const started = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? attempt.value : []));
    const [refusal] = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? [attempt.reason] : []));
    if (started.length === 0) throw refusal;
    const isReplaced = ({ access }: OpenSession) => started.some(({ account }) => account === access.account);
    const retained = previous
      .filter((session) => !isReplaced(session))
      .slice(0, Math.max(0, maxInCookie - started.length));
    for (const session of previous) if (!retained.includes(session)) await sessions.end(session);
    const [session] = await sessions.describe(started.slice(0, 1));
    const texts = [...started, ...retained].map(({ text }) => text);
    return jsonAnswer(exchange, { session, status: '200' }, withCookie(c, texts));
  };

  /** Returns the session that the requesting page was loaded with. */
  const sessionOfPage = async (c: Context, open: readonly OpenSession[]): Promise<OpenSession> => {
    if (open.length === 0) throw new Refusal('missing_token', { message: 'not signed in: sign in first' });
    const session = open.find(({ access }) => hasConsoleHeader(c.req.raw.headers, access.tokenID));
    if (session) return session;
    throw new Refusal('invalid_token', { message: 'this page belongs to an earlier session: reload it' });
  };

  /**
   * Returns the page's session and member. Throws a Refusal if a token started the session, or it started too long ago.
   */
  const memberOfPage = async (c: Context) => {
    const session = await sessionOfPage(c, await sessions.ofBrowser(c));
    const member = await sessions.memberOf(session);
    if (member === undefined) {
      const message = 'only members have passwords and passkeys; this session was started with a token';
      throw new Refusal('token_kind', { message });
    }
    const { account, token: by } = session.access;
    if (now() - member.startTime < freshMilliseconds) return { memberID: member.memberID, account, by, session };
    const message =
      'sign out and in again: passwords and passkeys can only be changed within ten minutes of signing in';
    throw new Refusal('invalid_token', { message });
  };

  const changePassword: Answer = async (c, exchange, fields) => {
    const { memberID, account, by } = await memberOfPage(c);
    const password = await memberPasswords.hashNewPassword(fields, c, { account, memberID });
    await store.changePassword({ account, memberID, password, by, time: now() });
    return jsonAnswer(exchange, { status: '200' });
  };

  /** Ends the page's session; with `all`, every session of the browser. */
  const signOut: Answer = async (c, exchange, { all }) => {
    const open = await sessions.ofBrowser(c);
    const session = await sessionOfPage(c, open);
    const ended = all === true ? open : [session];
    for (const each of ended) await sessions.end(each);
    const remaining = open.filter((each) => !ended.includes(each));
    return jsonAnswer(
      exchange,
      { status: '200' },
      withCookie(
        c,
        remaining.map(({ text }) => text),
      ),
    );
  };

  /** Returns the browser's sessions. Having none is not an error, which the browser would log to its console. */
  const getSession = async (c: Context, exchange: Exchange): Promise<Response> => {
    const open = (await sessions.ofBrowser(c)).map(({ access }) => access);
    const summaries = await sessions.describe(open);
    const { headers } = c.req.raw;
    const session = summaries.find(({ sessionID }) => hasConsoleHeader(headers, sessionID)) ?? summaries[0] ?? null;
    const sample = sampleShop &&
      isLocal(c) && {
        sampleShop: {
          accountUUID: summaries.find(({ accountUUID }) => sampleShop.isShop(accountUUID))?.accountUUID ?? '',
          exists: await sampleShop.exists(),
        },
      };
    return jsonAnswer(exchange, { session, sessions: summaries, ...sample, status: '200' });
  };

  /** Fills the sample shop and signs in to it. */
  const openSampleShop = async (c: Context, exchange: Exchange, shop: SampleShop): Promise<Response> => {
    checkLocal(c);
    const account = await shop.fill();
    return signInAs(c, exchange, [{ kind: 'server', account, token: null, tokenID: null }]);
  };

  const removeSampleShop = async (c: Context, exchange: Exchange, shop: SampleShop): Promise<Response> => {
    checkLocal(c);
    const session = await sessionOfPage(c, await sessions.ofBrowser(c));
    const [summary] = await sessions.describe([session.access]);
    if (!summary || !shop.isShop(summary.accountUUID)) {
      throw new Refusal('unknown_account', { message: "this session's account is not the sample shop" });
    }
    if (session.access.kind !== 'server') {
      throw new Refusal('token_kind', { message: 'only an owner of the sample shop can remove it' });
    }
    const remaining = (await sessions.ofBrowser(c)).filter(({ access }) => access.account !== session.access.account);
    await shop.remove();
    return jsonAnswer(
      exchange,
      { status: '200' },
      withCookie(
        c,
        remaining.map(({ text }) => text),
      ),
    );
  };

  const name = 'console';
  const post = (path: string, answer: Answer) => ({
    path,
    route: {
      name,
      methods: ['POST'],
      answer: (c, exchange) =>
        admit(c, async (source) => {
          checkSender(c.req.raw);
          return answer(c, exchange, await readInput(c.req.raw, limits.bodyBytes, source, budgetOf(c)));
        }),
    } satisfies Route,
  });

  /** Like `post`, but only for pages that may have the cookie. */
  const postOfPage = (path: string, answer: Answer) =>
    post(path, async (c, exchange, fields) => {
      checkPage(c.req);
      return answer(c, exchange, fields);
    });

  const passkeyAnswers = createPasskeyAnswers({
    ...{ store, passkeys, additions, invitations, sessions, sessionOfPage, memberOfPage, now },
  });

  return [
    postOfPage('/console/sign-in', async (c, exchange, fields) => signInAs(c, exchange, await signIn.find(fields, c))),
    postOfPage('/console/invitation', async (c, exchange, fields) =>
      jsonAnswer(exchange, { invitation: await invitations.describe(fields, c), status: '200' }),
    ),
    postOfPage('/console/accept', async (c, exchange, fields) =>
      signInAs(c, exchange, [await invitations.join(fields, c)]),
    ),
    postOfPage('/console/password', changePassword),
    postOfPage('/console/passkeys/to-sign-in', passkeyAnswers.toSignIn),
    postOfPage('/console/passkeys/to-join', passkeyAnswers.toJoin),
    postOfPage('/console/passkeys/to-add', passkeyAnswers.toAdd),
    postOfPage('/console/passkeys/add', passkeyAnswers.add),
    postOfPage('/console/passkeys/remove', passkeyAnswers.remove),
    { path: '/console/passkeys', route: { name, methods: ['GET'], answer: passkeyAnswers.list } },
    post('/console/sign-out', signOut),
    ...(sampleShop
      ? [
          post('/console/sample-shop', (c, exchange) => openSampleShop(c, exchange, sampleShop)),
          {
            path: '/console/sample-shop/progress',
            route: {
              name,
              methods: ['GET'],
              answer: (c, exchange) => {
                checkLocal(c);
                return jsonAnswer(exchange, { progress: sampleShop.progress() ?? null, status: '200' });
              },
            } satisfies Route,
          },
          post('/console/sample-shop/remove', (c, exchange) => removeSampleShop(c, exchange, sampleShop)),
        ]
      : []),
    { path: '/console/session', route: { name, methods: ['GET'], answer: getSession } },
  ];
};
