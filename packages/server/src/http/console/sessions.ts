/** The sessions of the console: begins and ends them, and says which a browser has. */
import type { TokenKind } from '@firsthand/contract/account/tokens';
import type { Context } from 'hono';
import { nanoid } from 'nanoid';
import { hashToken, isLive, newToken } from '../../ingest/token.ts';
import type { Access, ListedToken, Store } from '../../store/store.ts';
import type { RateLimit } from '../access/rate-limits.ts';
import { newSessionText, sessionSeconds, sessionsOf } from './cookie.ts';
import type { Owner } from './sign-in.ts';

/** The most open sessions of a token; one more ends its oldest. */
const maxSessions = 100;

/** How often each token may sign in: 200 times at once, and 200 a day. */
export const signInRate = { perSecond: 200 / 86_400, burst: 200 };

/** A session of a browser. */
export interface OpenSession {
  readonly text: string;
  readonly access: Access & { readonly account: number };
}

interface SessionMember {
  readonly memberID: string;
  readonly begunTime: number;
}

/** What a page learns of a session. */
interface ShownSession {
  readonly accountUUID: string;
  readonly accountName: string;
  readonly kind: TokenKind;
  readonly sessionID: string;
}

interface Surroundings {
  readonly store: Pick<Store, 'createToken' | 'revokeToken' | 'findAccess' | 'listAccounts' | 'listTokens'>;
  /** How often a token may sign in: each session is stored for good, as every token is. */
  readonly signIns: Pick<RateLimit, 'take'>;
  readonly now: () => number;
}

export const createSessions = ({ store, signIns, now }: Surroundings) => {
  /** Revokes the oldest sessions of a token that has as many as it may. */
  const endOldest = async (tokens: readonly ListedToken[], { account, token: by, tokenID }: Owner, time: number) => {
    const open = tokens.filter((token) => token.session && token.createdBy === tokenID && isLive(token, time));
    for (const oldest of open.slice(0, Math.max(0, open.length - maxSessions + 1)))
      await store.revokeToken({ account, tokenID: oldest.tokenID, by, time });
  };

  /** When a new session ends: a session does not outlive its token. */
  const endOf = (tokens: readonly ListedToken[], owner: Owner, time: number): number => {
    const { expiresTime } = tokens.find(({ tokenID }) => tokenID === owner.tokenID) ?? {};
    return Math.min(time + sessionSeconds * 1_000, expiresTime ?? Infinity);
  };

  /**
   * The session with this text; undefined: it is none, or has ended. Unlike other tokens it is looked up without being counted as a
   * guess: a cookie goes on holding sessions that have ended, and nobody guesses one.
   */
  const find = async (text: string): Promise<OpenSession | undefined> => {
    const access = await store.findAccess(hashToken(text), now());
    return access && { text, access: access as OpenSession['access'] };
  };

  return {
    /** Begins a session and returns its text, which is stored nowhere, and its tokenID. */
    async begin(owner: Owner): Promise<{ text: string; tokenID: string }> {
      const { account, kind, token: createdBy, password } = owner;
      signIns.take(String(createdBy ?? `account ${account}`));
      const time = now();
      const tokens = await store.listTokens({ account });
      await endOldest(tokens, owner, time);
      const expiresTime = endOf(tokens, owner, time);
      const tokenID = nanoid();
      const text = newSessionText(tokenID);
      const token = newToken(kind, { text, tokenID, tokenName: 'Console', time, createdBy, expiresTime });
      await store.createToken({ ...token, account, session: true, password });
      return { text, tokenID };
    },

    /** The open sessions in the cookie of a request, that of the last sign-in first. */
    async ofBrowser(c: Context): Promise<OpenSession[]> {
      const found: OpenSession[] = [];
      for (const text of sessionsOf(c.req.raw.headers)) {
        const session = await find(text);
        if (session) found.push(session);
      }
      return found;
    },

    /** The member whose session it is, and when it began; undefined: a token or a one-time link began it. */
    async memberOf({ access: { account, tokenID } }: OpenSession): Promise<SessionMember | undefined> {
      const session = (await store.listTokens({ account })).find((token) => token.tokenID === tokenID);
      if (session === undefined || session.memberID === null) return undefined;
      return { memberID: session.memberID, begunTime: session.createdTime };
    },

    /**
     * Ends a session in the name of the token that began it. The audit log then does not name the session itself, so that the session can be
     * deleted later (deleteEnded).
     */
    async end({ access: { account, tokenID, token } }: OpenSession): Promise<void> {
      const tokens = await store.listTokens({ account });
      const createdBy = tokens.find((each) => each.tokenID === tokenID)?.createdBy;
      const maker = tokens.find((each) => each.tokenID === createdBy);
      await store.revokeToken({ account, tokenID, by: maker?.token ?? token, time: now() });
    },

    async show(
      accesses: readonly Pick<OpenSession['access'], 'account' | 'kind' | 'tokenID'>[],
    ): Promise<ShownSession[]> {
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
