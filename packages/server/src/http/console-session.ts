/** Signing in to the console: a server or viewer token, or the code of a one-time link, becomes a session in a cookie. */
import { limits } from '@firsthand/contract/limits';
import type { TokenKind } from '@firsthand/contract/tokens';
import type { Context } from 'hono';
import { nanoid } from 'nanoid';
import { isLive, newToken } from '../ingest/token.ts';
import { Refusal } from '../refusal.ts';
import type { Access, ListedToken, Store } from '../store/store.ts';
import { bindingsOf } from './access/client-address.ts';
import {
  isFromConsole,
  isOfPage,
  sessionCookie,
  sessionOf,
  sessionPrefix,
  sessionSeconds,
} from './access/console-cookie.ts';
import { isLocalVisitor } from './access/loopback.ts';
import type { RateLimit } from './access/rate-limits.ts';
import type { SignInCodes } from './access/sign-in-codes.ts';
import { type Exchange, jsonAnswer } from './answers/answers.ts';
import type { Admit } from './request/admission.ts';
import { readInput } from './request/input.ts';
import type { BudgetOf } from './request/parsing-budget.ts';
import type { Route } from './routes.ts';

/** The most open sessions of a token; one more ends its oldest. */
const mostSessions = 100;

interface Surroundings {
  readonly store: Pick<Store, 'createToken' | 'revokeToken' | 'getAccount' | 'listTokens'>;
  readonly admit: Admit;
  readonly authenticate: (token: string, c: Context) => Promise<Access>;
  readonly budgetOf: BudgetOf;
  /** How often a token may sign in: each session is stored for good, as every token is. */
  readonly signIns: Pick<RateLimit, 'take'>;
  readonly codes: SignInCodes;
  /** The origin whose pages may sign in, besides those of this machine. */
  readonly consoleOrigin: string | undefined;
  readonly now: () => number;
}

/** The source of a session: a token, or a code, for which `token` and `tokenID` are null. */
interface Owner {
  readonly kind: TokenKind;
  readonly account: number;
  readonly token: number | null;
  readonly tokenID: string | null;
}

const textIn = (given: Readonly<Record<string, unknown>>, name: string): string | undefined => {
  const value = given[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw new Refusal('invalid_field', { field: name, message: `\`${name}\` must be text` });
};

export const createConsoleSessions = ({
  store,
  admit,
  authenticate,
  budgetOf,
  signIns,
  codes,
  consoleOrigin,
  now,
}: Surroundings): readonly { readonly path: string; readonly route: Route }[] => {
  const ownerOfToken = async (token: string, c: Context): Promise<Owner> => {
    const access = await authenticate(token, c);
    const { kind, account } = access;
    if (account === null || kind === 'browser' || kind === 'operator' || token.startsWith(sessionPrefix)) {
      const message = `the console takes a server token or a viewer token; this one is a ${kind} token`;
      throw new Refusal('token_kind', { field: 'tokenUUID', message });
    }
    return { kind, account, token: access.token, tokenID: access.tokenID };
  };

  const ownerOfCode = (code: string, c: Context): Owner => {
    const { incoming } = bindingsOf(c);
    const { headers } = c.req.raw;
    const isLocal = isLocalVisitor({ remoteAddress: incoming?.socket?.remoteAddress, headers });
    const account = isLocal ? codes.take(code) : undefined;
    if (account !== undefined) return { kind: 'server', account, token: null, tokenID: null };
    const message =
      'the link does not sign in: it works once, within ten minutes of the start of the server, and on the same machine. Start the server again for another one, or sign in with a token';
    throw new Refusal('invalid_token', { field: 'code', message });
  };

  /** Revokes the oldest sessions of a token that has as many as it may. */
  const endOldest = async (tokens: readonly ListedToken[], { account, token: by, tokenID }: Owner, time: number) => {
    const open = tokens.filter((token) => token.session && token.createdBy === tokenID && isLive(token, time));
    for (const oldest of open.slice(0, Math.max(0, open.length - mostSessions + 1)))
      await store.revokeToken({ account, tokenID: oldest.tokenID, by, time });
  };

  /** When a new session ends: a session does not outlive its token. */
  const endOf = (tokens: readonly ListedToken[], owner: Owner, time: number): number => {
    const { expiresTime } = tokens.find(({ tokenID }) => tokenID === owner.tokenID) ?? {};
    return Math.min(time + sessionSeconds * 1_000, expiresTime ?? Infinity);
  };

  const describe = async (account: number, kind: TokenKind, sessionID: string) => {
    const { accountUUID, accountName } = await store.getAccount(account);
    return { accountUUID, accountName, kind, sessionID };
  };

  const checkSender = ({ headers }: Request): void => {
    if (isFromConsole(headers)) return;
    throw new Refusal('origin_not_allowed', { message: 'only the pages of the console may send this request' });
  };

  const signIn = async (c: Context, exchange: Exchange, given: Readonly<Record<string, unknown>>) => {
    const { headers } = c.req.raw;
    const text = sessionPrefix + nanoid(32);
    const cookie = sessionCookie(headers, text, consoleOrigin);
    if (cookie === undefined) {
      const message = `the console of this server is at ${consoleOrigin ?? 'this machine only: CONSOLE_ORIGIN gives it an address of its own'}`;
      throw new Refusal('origin_not_allowed', { message });
    }
    if (new URL(c.req.url).search !== '') {
      throw new Refusal('invalid_field', { message: 'the token belongs in the body: logs hold addresses' });
    }
    const [tokenUUID, code] = [textIn(given, 'tokenUUID'), textIn(given, 'code')];
    if (tokenUUID === undefined && code === undefined) throw new Refusal('missing_field', { field: 'tokenUUID' });
    const owner = tokenUUID === undefined ? ownerOfCode(code as string, c) : await ownerOfToken(tokenUUID, c);
    const { account, kind, token: createdBy } = owner;
    signIns.take(String(createdBy ?? `account ${account}`));
    const time = now();
    const tokens = await store.listTokens({ account });
    await endOldest(tokens, owner, time);
    const expiresTime = endOf(tokens, owner, time);
    const tokenID = nanoid();
    const token = newToken(kind, { text, tokenID, tokenName: 'Console', time, createdBy, expiresTime });
    await store.createToken({ ...token, account, session: true });
    const session = await describe(account, kind, tokenID);
    return jsonAnswer(exchange, { session, status: '200' }, { 'Set-Cookie': cookie });
  };

  /** The session of a request. Throws Refusal('missing_token') or ('invalid_token') without one. */
  const findSession = async (c: Context): Promise<Access & { readonly account: number }> => {
    const text = sessionOf(c.req.raw.headers);
    if (text === undefined) throw new Refusal('missing_token', { message: 'nobody is signed in' });
    return (await authenticate(text, c)) as Access & { account: number };
  };

  const signOut = async (c: Context, exchange: Exchange) => {
    const { headers } = c.req.raw;
    const { account, tokenID, token } = await findSession(c);
    if (!isOfPage(headers, tokenID))
      throw new Refusal('invalid_token', { message: 'the browser has another session now' });
    await store.revokeToken({ account, tokenID, by: token, time: now() });
    const cookie = sessionCookie(headers, '', consoleOrigin);
    return jsonAnswer(exchange, { status: '200' }, cookie === undefined ? undefined : { 'Set-Cookie': cookie });
  };

  /** Who is signed in. Nobody is no error: a browser would write one to its console. */
  const tell = async (c: Context, exchange: Exchange) => {
    const found = await findSession(c).catch((error) => {
      if (error instanceof Refusal && ['missing_token', 'invalid_token'].includes(error.code)) return undefined;
      throw error;
    });
    if (found === undefined) return jsonAnswer(exchange, { session: null, status: '200' });
    const session = await describe(found.account, found.kind, found.tokenID);
    return jsonAnswer(exchange, { session, status: '200' });
  };

  const name = 'console';
  return [
    {
      path: '/console/sign-in',
      route: {
        name,
        methods: ['POST'],
        answer: (c, exchange) =>
          admit(c, async (source) => {
            checkSender(c.req.raw);
            return signIn(c, exchange, await readInput(c.req.raw, limits.bodyBytes, source, budgetOf(c)));
          }),
      },
    },
    {
      path: '/console/sign-out',
      route: {
        name,
        methods: ['POST'],
        answer: (c, exchange) => {
          checkSender(c.req.raw);
          return signOut(c, exchange);
        },
      },
    },
    { path: '/console/session', route: { name, methods: ['GET'], answer: tell } },
  ];
};
