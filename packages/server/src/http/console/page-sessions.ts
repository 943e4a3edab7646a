/** Manages the requesting browser's console sessions, and the cookie that holds them. */
import type { Context } from 'hono';
import { Refusal } from '../../shared/refusal.ts';
import type { RequestFields } from '../request/input.ts';
import { type Exchange, jsonResponse } from '../responses/responses.ts';
import { hasConsoleHeader, maxSessionsPerCookie, sessionCookie } from './cookie.ts';
import type { OpenSession, Sessions } from './sessions.ts';
import type { Owner } from './sign-in.ts';

/**
 * The maximum age of a session that can change passwords or passkeys, so that an unattended computer gives nobody
 * permanent access.
 */
const freshMilliseconds = 10 * 60_000;

interface Dependencies {
  readonly sessions: Sessions;
  readonly consoleOrigin: string | undefined;
  readonly now: () => number;
}

export const createPageSessions = ({ sessions, consoleOrigin, now }: Dependencies) => {
  /** Responds with the cookie for these sessions. */
  const respondWith = (
    c: Context,
    exchange: Exchange,
    open: readonly Pick<OpenSession, 'text'>[],
    body: object = {},
  ): Response => {
    const cookie = sessionCookie(
      c.req.raw.headers,
      open.map(({ text }) => text),
      consoleOrigin,
    );
    return jsonResponse(
      exchange,
      { ...body, status: '200' },
      cookie === undefined ? undefined : { 'Set-Cookie': cookie },
    );
  };

  /** Returns the session, among the browser's sessions, that the requesting page was loaded with. */
  const pickOfPage = (c: Context, open: readonly OpenSession[]): OpenSession => {
    if (open.length === 0) throw new Refusal('missing_token', { message: 'not signed in: sign in first' });
    const session = open.find(({ access }) => hasConsoleHeader(c.req.raw.headers, access.tokenID));
    if (session) return session;
    throw new Refusal('invalid_token', { message: 'this page belongs to an earlier session: reload it' });
  };
  const ofPage = async (c: Context): Promise<OpenSession> => pickOfPage(c, await sessions.ofBrowser(c));

  return {
    respondWith,

    /** Returns the session that the requesting page was loaded with. */
    ofPage,

    /**
     * Returns the page's session and member. Throws a Refusal if a token started the session, or it started too long
     * ago.
     */
    async memberOfPage(c: Context) {
      const session = await ofPage(c);
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
    },

    /**
     * Starts a session for each owner allowed to have one, and puts these sessions first in the cookie. An existing
     * session ends if it belongs to the same account, or if the cookie has no more room for it.
     */
    async signInAs(c: Context, exchange: Exchange, owners: readonly Owner[]): Promise<Response> {
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
        .slice(0, Math.max(0, maxSessionsPerCookie - started.length));
      for (const session of previous) if (!retained.includes(session)) await sessions.end(session);
      const [session] = await sessions.describe(started.slice(0, 1));
      return respondWith(c, exchange, [...started, ...retained], { session });
    },

    /** Ends the page's session; with `all`, every session of the browser. */
    async signOut(c: Context, exchange: Exchange, { all }: RequestFields): Promise<Response> {
      const open = await sessions.ofBrowser(c);
      const session = pickOfPage(c, open);
      const ended = all === true ? open : [session];
      for (const each of ended) await sessions.end(each);
      return respondWith(
        c,
        exchange,
        open.filter((each) => !ended.includes(each)),
      );
    },
  };
};
export type PageSessions = ReturnType<typeof createPageSessions>;
