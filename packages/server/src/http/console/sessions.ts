/** Starts and ends console sessions, and lists a browser's sessions. */
import type { TokenKind } from '@firsthand/contract/account/tokens';
import type { Context } from 'hono';
import { nanoid } from 'nanoid';
import { hashToken, isLive, newToken } from '../../ingest/token.ts';
import type { Access, ListedToken, Store } from '../../store/store.ts';
import type { RateLimit } from '../access/rate-limits.ts';
import { createSessionSecret, sessionSeconds, sessionsOf } from './cookie.ts';
import type { Owner } from './sign-in.ts';

/** The maximum number of open sessions per token. Starting another session ends the oldest. */
const maxSessions = 100;

/** How often each token may sign in: a burst of 200, then 200 a day. */
export const signInRate = { perSecond: 200 / 86_400, burst: 200 };

/** One of a browser's sessions. */
export interface OpenSession {
  readonly text: string;
  readonly access: Access & { readonly account: number };
}

interface SessionMember {
  readonly memberID: string;
  readonly startTime: number;
}

/** A session, as the console's pages receive it. */
interface SessionSummary {
  readonly accountUUID: string;
  readonly accountName: string;
  readonly kind: TokenKind;
  readonly sessionID: string;
}

interface Dependencies {
  readonly store: Pick<Store, 'createToken' | 'revokeToken' | 'findAccess' | 'listAccounts' | 'listTokens'>;
  /** Limits the rate of sign-ins with a token: each session is stored permanently, like every token. */
  readonly signIns: Pick<RateLimit, 'take'>;
  readonly now: () => number;
}

export const createSessions = ({ store, signIns, now }: Dependencies) => {
  /** Revokes the oldest sessions of a token that has reached its maximum. */
  const endOldest = async (tokens: readonly ListedToken[], { account, token: by, tokenID }: Owner, time: number) => {
    const open = tokens.filter((token) => token.session && token.createdBy === tokenID && isLive(token, time));
    for (const oldest of open.slice(0, Math.max(0, open.length - maxSessions + 1)))
      await store.revokeToken({ account, tokenID: oldest.tokenID, by, time });
  };

  /** Returns when a new session ends: a session can't outlive its token. */
  const endOf = (tokens: readonly ListedToken[], owner: Owner, time: number): number => {
    const { expiresTime } = tokens.find(({ tokenID }) => tokenID === owner.tokenID) ?? {};
    return Math.min(time + sessionSeconds * 1_000, expiresTime ?? Infinity);
  };

  /**
   * Returns the session with this secret; undefined if the session has ended or never existed. Unlike with other
   * tokens, an unknown secret doesn't count as a guess: cookies can contain ended sessions, and session secrets can't
   * be guessed.
   */
  const find = async (text: string): Promise<OpenSession | undefined> => {
    const access = await store.findAccess(hashToken(text), now());
    return access && { text, access: access as OpenSession['access'] };
  };

  return {
    /** Starts a session. Returns its tokenID and its secret, which is not stored. */
    async start(owner: Owner): Promise<{ text: string; tokenID: string }> {
      const { account, kind, token: createdBy, password } = owner;
      signIns.take(String(createdBy ?? `account ${account}`));
      const time = now();
      const tokens = await store.listTokens({ account });
      await endOldest(tokens, owner, time);
      const expiresTime = endOf(tokens, owner, time);
      const tokenID = nanoid();
      const text = createSessionSecret(tokenID);
      const token = newToken(kind, { text, tokenID, tokenName: 'Console', time, createdBy, expiresTime });
      await store.createToken({ ...token, account, session: true, password });
      return { text, tokenID };
    },

    /** Returns the open sessions in the request's cookie, latest sign-in first. */
    async ofBrowser(c: Context): Promise<OpenSession[]> {
      const sessions: OpenSession[] = [];
      for (const text of sessionsOf(c.req.raw.headers)) {
        const session = await find(text);
        if (session) sessions.push(session);
      }
      return sessions;
    },

    /** Returns a session's member and when it started; undefined if a token or a one-time link started it. */
    async memberOf({ access: { account, tokenID } }: OpenSession): Promise<SessionMember | undefined> {
      const session = (await store.listTokens({ account })).find((token) => token.tokenID === tokenID);
      if (session === undefined || session.memberID === null) return undefined;
      return { memberID: session.memberID, startTime: session.createdTime };
    },

    /**
     * Ends a session on behalf of the token that started it. The audit log then doesn't refer to the session itself,
     * which can be deleted later (deleteExpired).
     */
    async end({ access: { account, tokenID, token } }: OpenSession): Promise<void> {
      const tokens = await store.listTokens({ account });
      const createdBy = tokens.find((each) => each.tokenID === tokenID)?.createdBy;
      const creator = tokens.find((each) => each.tokenID === createdBy);
      await store.revokeToken({ account, tokenID, by: creator?.token ?? token, time: now() });
    },

    async describe(
      accesses: readonly Pick<OpenSession['access'], 'account' | 'kind' | 'tokenID'>[],
    ): Promise<SessionSummary[]> {
      if (accesses.length === 0) return [];
      const accounts = await store.listAccounts();
      return accesses.flatMap(({ account, kind, tokenID: sessionID }) => {
        const { accountUUID, accountName } = accounts.find((each) => each.account === account) ?? {};
        if (accountUUID === undefined || accountName === undefined) return [];
        return { accountUUID, accountName, kind, sessionID };
      });
    },
  };
};
export type Sessions = ReturnType<typeof createSessions>;
