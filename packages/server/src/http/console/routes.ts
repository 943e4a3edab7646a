/** What the console's pages send beside operations: signing in and out, joining as a member, changing a password, and the sample shop. */
import { limits } from '@firsthand/contract/limits';
import type { Context } from 'hono';
import { Refusal } from '../../shared/refusal.ts';
import type { Store } from '../../store/store.ts';
import { bindingsOf } from '../access/client-address.ts';
import { isLocalVisitor } from '../access/loopback.ts';
import type { RateLimit } from '../access/rate-limits.ts';
import { type Exchange, jsonAnswer } from '../answers/answers.ts';
import type { Admit } from '../request/admission.ts';
import { type Given, readInput } from '../request/input.ts';
import type { BudgetOf } from '../request/parsing-budget.ts';
import type { Route } from '../routes.ts';
import { isFromConsole, isOfPage, maxInCookie, sessionCookie } from './cookie.ts';
import type { Invitations } from './invitations.ts';
import type { MemberPasswords } from './member-passwords.ts';
import type { Passkeys } from './passkeys/passkeys.ts';
import { createPasskeyAnswers } from './passkeys/routes.ts';
import type { OpenSession, Sessions } from './sessions.ts';
import type { Owner, SignIn } from './sign-in.ts';

/** Fills and removes the sample shop of a server that somebody tries out. */
export interface SampleShop {
  /** Fills it unless it is there; resolves with its account. */
  fill(): Promise<number>;
  /** How much of it is filled; undefined while nothing fills it. */
  progress(): { readonly events: number; readonly of: number } | undefined;
  isShop(accountUUID: string): boolean;
  /** Whether the database has it, filled to its end or not. */
  exists(): Promise<boolean>;
  remove(): Promise<void>;
}

/** How old a session may be that changes a password or a passkey: a computer left unattended gives a passer-by no permanent way in. */
const freshMilliseconds = 10 * 60_000;

interface Surroundings {
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
  /** The origin whose pages may sign in, besides those of this machine. */
  readonly consoleOrigin: string | undefined;
  readonly sampleShop: SampleShop | undefined;
  readonly now: () => number;
}

type Answer = (c: Context, exchange: Exchange, given: Given) => Promise<Response>;

const checkSender = ({ headers }: Request): void => {
  if (isFromConsole(headers)) return;
  throw new Refusal('origin_not_allowed', { message: 'only the pages of the console may send this request' });
};

const isLocal = (c: Context): boolean =>
  isLocalVisitor({ remoteAddress: bindingsOf(c).incoming?.socket?.remoteAddress, headers: c.req.raw.headers });

/** Throws a Refusal for a visitor of another machine. */
const checkLocal = (c: Context): void => {
  if (isLocal(c)) return;
  throw new Refusal('origin_not_allowed', { message: 'only somebody at the machine of the server may do this' });
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
}: Surroundings): readonly { readonly path: string; readonly route: Route }[] => {
  /** Throws a Refusal when this page could not have a cookie, before anything is done for it. */
  const checkPage = ({ raw: { headers, url } }: Context['req']): void => {
    if (sessionCookie(headers, [], consoleOrigin) === undefined) {
      const message = `the console of this server is at ${consoleOrigin ?? 'this machine only: CONSOLE_ORIGIN gives it an address of its own'}`;
      throw new Refusal('origin_not_allowed', { message });
    }
    if (new URL(url).search !== '') {
      throw new Refusal('invalid_field', { message: 'the token belongs in the body: logs hold addresses' });
    }
  };

  const withCookie = (c: Context, texts: readonly string[]) => {
    const cookie = sessionCookie(c.req.raw.headers, texts, consoleOrigin);
    return cookie === undefined ? undefined : { 'Set-Cookie': cookie };
  };

  /**
   * Begins a session of each owner, as far as each may begin one. They come before those that the browser has; a session of the same
   * account ends, and so does one for which the cookie has no room.
   */
  const signInAs = async (c: Context, exchange: Exchange, found: readonly Owner[]): Promise<Response> => {
    const before = await sessions.ofBrowser(c);
    const attempts = await Promise.allSettled(
      found.map(async (owner) => ({ ...owner, ...(await sessions.begin(owner)) })),
    );
    const begun = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? attempt.value : []));
    const [refused] = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? [attempt.reason] : []));
    if (begun.length === 0) throw refused;
    const isReplaced = ({ access }: OpenSession) => begun.some(({ account }) => account === access.account);
    const kept = before.filter((session) => !isReplaced(session)).slice(0, Math.max(0, maxInCookie - begun.length));
    for (const session of before) if (!kept.includes(session)) await sessions.end(session);
    const [session] = await sessions.show(begun.slice(0, 1));
    const texts = [...begun, ...kept].map(({ text }) => text);
    return jsonAnswer(exchange, { session, status: '200' }, withCookie(c, texts));
  };

  /** The session that the page of a request was loaded with. */
  const sessionOfPage = async (c: Context, open: readonly OpenSession[]): Promise<OpenSession> => {
    if (open.length === 0) throw new Refusal('missing_token', { message: 'nobody is signed in' });
    const session = open.find(({ access }) => isOfPage(c.req.raw.headers, access.tokenID));
    if (session) return session;
    throw new Refusal('invalid_token', { message: 'the browser has another session now' });
  };

  /** The session of the page and its member. Throws a Refusal where a token began the session, or it began too long ago. */
  const memberOfPage = async (c: Context) => {
    const session = await sessionOfPage(c, await sessions.ofBrowser(c));
    const member = await sessions.memberOf(session);
    if (member === undefined) {
      const message = 'only a member has a password or passkeys: this session was begun with a token';
      throw new Refusal('token_kind', { message });
    }
    const { account, token: by } = session.access;
    if (now() - member.begunTime < freshMilliseconds) return { memberID: member.memberID, account, by, session };
    const message = 'sign out and in again first: passwords and passkeys change within ten minutes of signing in';
    throw new Refusal('invalid_token', { message });
  };

  const changePassword: Answer = async (c, exchange, given) => {
    const { memberID, account, by } = await memberOfPage(c);
    const password = await memberPasswords.hashNewPassword(given, c, { account, memberID });
    await store.changePassword({ account, memberID, password, by, time: now() });
    return jsonAnswer(exchange, { status: '200' });
  };

  /** Ends the session of the page; with `all`, every session of the browser. */
  const signOut: Answer = async (c, exchange, { all }) => {
    const open = await sessions.ofBrowser(c);
    const session = await sessionOfPage(c, open);
    const ended = all === true ? open : [session];
    for (const each of ended) await sessions.end(each);
    const left = open.filter((each) => !ended.includes(each));
    return jsonAnswer(
      exchange,
      { status: '200' },
      withCookie(
        c,
        left.map(({ text }) => text),
      ),
    );
  };

  /** Who is signed in. Nobody is no error: a browser would write one to its console. */
  const whoIs = async (c: Context, exchange: Exchange): Promise<Response> => {
    const open = (await sessions.ofBrowser(c)).map(({ access }) => access);
    const shown = await sessions.show(open);
    const { headers } = c.req.raw;
    const session = shown.find(({ sessionID }) => isOfPage(headers, sessionID)) ?? shown[0] ?? null;
    const sample = sampleShop &&
      isLocal(c) && {
        sampleShop: {
          accountUUID: shown.find(({ accountUUID }) => sampleShop.isShop(accountUUID))?.accountUUID ?? '',
          exists: await sampleShop.exists(),
        },
      };
    return jsonAnswer(exchange, { session, sessions: shown, ...sample, status: '200' });
  };

  /** Fills the sample shop, where somebody tries the server out, and signs in to it. */
  const openSampleShop = async (c: Context, exchange: Exchange, shop: SampleShop): Promise<Response> => {
    checkLocal(c);
    const account = await shop.fill();
    return signInAs(c, exchange, [{ kind: 'server', account, token: null, tokenID: null }]);
  };

  const removeSampleShop = async (c: Context, exchange: Exchange, shop: SampleShop): Promise<Response> => {
    checkLocal(c);
    const session = await sessionOfPage(c, await sessions.ofBrowser(c));
    const [shown] = await sessions.show([session.access]);
    if (!shown || !shop.isShop(shown.accountUUID)) {
      throw new Refusal('unknown_account', { message: 'the account of this session is not the sample shop' });
    }
    if (session.access.kind !== 'server') {
      throw new Refusal('token_kind', { message: 'only an owner of the sample shop can remove it' });
    }
    const kept = (await sessions.ofBrowser(c)).filter(({ access }) => access.account !== session.access.account);
    await shop.remove();
    return jsonAnswer(
      exchange,
      { status: '200' },
      withCookie(
        c,
        kept.map(({ text }) => text),
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

  /** For what only a page that may have a cookie sends. */
  const postOfPage = (path: string, answer: Answer) =>
    post(path, async (c, exchange, given) => {
      checkPage(c.req);
      return answer(c, exchange, given);
    });

  const ofPasskeys = createPasskeyAnswers({
    ...{ store, passkeys, additions, invitations, sessions, sessionOfPage, memberOfPage, now },
  });

  return [
    postOfPage('/console/sign-in', async (c, exchange, given) => signInAs(c, exchange, await signIn.find(given, c))),
    postOfPage('/console/invitation', async (c, exchange, given) =>
      jsonAnswer(exchange, { invitation: await invitations.describe(given, c), status: '200' }),
    ),
    postOfPage('/console/accept', async (c, exchange, given) =>
      signInAs(c, exchange, [await invitations.join(given, c)]),
    ),
    postOfPage('/console/password', changePassword),
    postOfPage('/console/passkeys/to-sign-in', ofPasskeys.toSignIn),
    postOfPage('/console/passkeys/to-join', ofPasskeys.toJoin),
    postOfPage('/console/passkeys/to-add', ofPasskeys.toAdd),
    postOfPage('/console/passkeys/add', ofPasskeys.add),
    postOfPage('/console/passkeys/remove', ofPasskeys.remove),
    { path: '/console/passkeys', route: { name, methods: ['GET'], answer: ofPasskeys.list } },
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
    { path: '/console/session', route: { name, methods: ['GET'], answer: whoIs } },
  ];
};
