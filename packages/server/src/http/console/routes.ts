/** What the console's pages send beside operations: signing in and out, joining as a member, and the sample shop. */
import { limits } from '@firsthand/contract/limits';
import type { Context } from 'hono';
import { Refusal } from '../../refusal.ts';
import { bindingsOf } from '../access/client-address.ts';
import { isLocalVisitor } from '../access/loopback.ts';
import { type Exchange, jsonAnswer } from '../answers/answers.ts';
import type { Admit } from '../request/admission.ts';
import { type Given, readInput } from '../request/input.ts';
import type { BudgetOf } from '../request/parsing-budget.ts';
import type { Route } from '../routes.ts';
import { isFromConsole, isOfPage, sessionCookie } from './cookie.ts';
import type { Owner, Owners } from './owners.ts';
import type { OpenSession, Sessions } from './sessions.ts';

/** Fills and removes the sample shop of a server that somebody tries out. */
export interface SampleShop {
  /** Fills it unless it is there; resolves with its account. */
  fill(): Promise<number>;
  isShop(accountUUID: string): boolean;
  remove(): Promise<void>;
}

interface Surroundings {
  readonly owners: Owners;
  readonly sessions: Sessions;
  readonly admit: Admit;
  readonly budgetOf: BudgetOf;
  /** The origin whose pages may sign in, besides those of this machine. */
  readonly consoleOrigin: string | undefined;
  readonly sampleShop: SampleShop | undefined;
}

type Answer = (c: Context, exchange: Exchange, given: Given) => Promise<Response>;

const checkSender = ({ headers }: Request): void => {
  if (isFromConsole(headers)) return;
  throw new Refusal('origin_not_allowed', { message: 'only the pages of the console may send this request' });
};

/** Throws a Refusal for a visitor of another machine. */
const checkLocal = (c: Context): void => {
  const remoteAddress = bindingsOf(c).incoming?.socket?.remoteAddress;
  if (isLocalVisitor({ remoteAddress, headers: c.req.raw.headers })) return;
  throw new Refusal('origin_not_allowed', { message: 'only somebody at the machine of the server may do this' });
};

export const createConsoleAnswers = ({
  owners,
  sessions,
  admit,
  budgetOf,
  consoleOrigin,
  sampleShop,
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

  /** Begins a session of each owner. They come before those that the browser has; a session of the same account ends. */
  const signInAs = async (c: Context, exchange: Exchange, found: readonly Owner[]): Promise<Response> => {
    const before = await sessions.ofBrowser(c);
    const begun = [];
    for (const owner of found) begun.push({ owner, ...(await sessions.begin(owner)) });
    const isReplaced = ({ access }: OpenSession) => found.some(({ account }) => account === access.account);
    for (const session of before.filter(isReplaced)) await sessions.end(session);
    const kept = before.filter((session) => !isReplaced(session));
    const [session] = await sessions.tell(
      begun.slice(0, 1).map(({ owner: { account, kind }, tokenID }) => ({ account, kind, tokenID })),
    );
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

  const signOut: Answer = async (c, exchange) => {
    const open = await sessions.ofBrowser(c);
    const session = await sessionOfPage(c, open);
    await sessions.end(session);
    const left = open.filter((each) => each !== session);
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
  const tell = async (c: Context, exchange: Exchange): Promise<Response> => {
    const open = (await sessions.ofBrowser(c)).map(({ access }) => access);
    const told = await sessions.tell(open);
    const { headers } = c.req.raw;
    const session = told.find(({ sessionID }) => isOfPage(headers, sessionID)) ?? told[0] ?? null;
    const sample = sampleShop && {
      sampleShop: { accountUUID: told.find(({ accountUUID }) => sampleShop.isShop(accountUUID))?.accountUUID ?? '' },
    };
    return jsonAnswer(exchange, { session, sessions: told, ...sample, status: '200' });
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
    const [told] = await sessions.tell([session.access]);
    if (!told || !shop.isShop(told.accountUUID)) {
      throw new Refusal('unknown_account', { message: 'the account of this session is not the sample shop' });
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

  return [
    post('/console/sign-in', async (c, exchange, given) => {
      checkPage(c.req);
      return signInAs(c, exchange, await owners.find(given, c));
    }),
    post('/console/invitation', async (c, exchange, given) => {
      checkPage(c.req);
      return jsonAnswer(exchange, { invitation: await owners.invitation(given, c), status: '200' });
    }),
    post('/console/accept', async (c, exchange, given) => {
      checkPage(c.req);
      return signInAs(c, exchange, [await owners.join(given, c)]);
    }),
    post('/console/sign-out', signOut),
    ...(sampleShop
      ? [
          post('/console/sample-shop', (c, exchange) => openSampleShop(c, exchange, sampleShop)),
          post('/console/sample-shop/remove', (c, exchange) => removeSampleShop(c, exchange, sampleShop)),
        ]
      : []),
    { path: '/console/session', route: { name, methods: ['GET'], answer: tell } },
  ];
};
