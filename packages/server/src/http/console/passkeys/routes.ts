/** Answers the console's pages about passkeys: the options to use or make one, and a member's own list. `sign-in.ts` takes the answers of passkeys. */
import type { Context } from 'hono';
import { Refusal } from '../../../refusal.ts';
import type { Passkey, Store } from '../../../store/store.ts';
import type { RateLimit } from '../../access/rate-limits.ts';
import { type Exchange, jsonAnswer } from '../../answers/answers.ts';
import { isoTime } from '../../answers/iso-time.ts';
import type { Given } from '../../request/input.ts';
import type { OpenSession, Sessions } from '../sessions.ts';
import type { SignIn } from '../sign-in.ts';
import type { Passkeys } from './passkeys.ts';

/** A session adds passkeys for so long after it began: somebody at a computer that was left alone gets no way to come back. */
const freshMilliseconds = 10 * 60_000;

/** How often a member may add a passkey: the audit log keeps each addition and removal for good. */
export const additionRate = { perSecond: 20 / 86_400, burst: 20 };

interface Surroundings {
  readonly store: Pick<Store, 'listPasskeys' | 'addPasskey' | 'removePasskey' | 'listMembers'>;
  readonly passkeys: Passkeys;
  readonly signIn: Pick<SignIn, 'optionsToJoin'>;
  readonly sessions: Pick<Sessions, 'memberOf' | 'show' | 'ofBrowser'>;
  /** Counts added passkeys, by memberID. */
  readonly additions: Pick<RateLimit, 'take'>;
  /** The session that the page of a request was loaded with. */
  readonly sessionOfPage: (c: Context, open: readonly OpenSession[]) => Promise<OpenSession>;
  readonly now: () => number;
}

const passkeyAnswer = ({ passkeyID, passkeyName, createdTime, lastUsedTime }: Passkey) => ({
  ...{ passkeyID, passkeyName, createdTime: isoTime(createdTime) },
  ...(lastUsedTime !== null && { lastUsedTime: isoTime(lastUsedTime) }),
});

const optionsAnswer = (exchange: Exchange, { options, cookie }: { options: object; cookie: string }): Response =>
  jsonAnswer(exchange, { options, status: '200' }, { 'Set-Cookie': cookie });

export const createPasskeyAnswers = ({
  store,
  passkeys,
  signIn,
  sessions,
  additions,
  sessionOfPage,
  now,
}: Surroundings) => {
  /** The session of the page and its member. Throws a Refusal where a token began the session. */
  const memberOf = async (c: Context) => {
    const session = await sessionOfPage(c, await sessions.ofBrowser(c));
    const member = await sessions.memberOf(session);
    if (member) return { ...member, account: session.access.account, by: session.access.token, session };
    throw new Refusal('token_kind', { message: 'only a member has passkeys: this session was begun with a token' });
  };

  const freshMemberOf = async (c: Context) => {
    const member = await memberOf(c);
    if (now() - member.begunTime < freshMilliseconds) return member;
    const message = 'sign out and in again first: a passkey is added within ten minutes of signing in';
    throw new Refusal('invalid_token', { message });
  };

  const purposeOf = (memberID: string) => `add ${memberID}`;

  return {
    toSignIn: async (c: Context, exchange: Exchange): Promise<Response> =>
      optionsAnswer(exchange, await passkeys.optionsToSignIn(c)),

    toJoin: async (c: Context, exchange: Exchange, given: Given): Promise<Response> =>
      optionsAnswer(exchange, await signIn.optionsToJoin(given, c)),

    toAdd: async (c: Context, exchange: Exchange): Promise<Response> => {
      const { memberID, account, session } = await freshMemberOf(c);
      const [members, [shown], present] = await Promise.all([
        store.listMembers({ account }),
        sessions.show([session.access]),
        store.listPasskeys({ memberID }),
      ]);
      const member = members.find((each) => each.memberID === memberID);
      if (!member) throw new Refusal('unknown_member');
      const user = { ...member, accountName: shown?.accountName ?? '' };
      return optionsAnswer(exchange, await passkeys.optionsToMake(c, purposeOf(memberID), user, present));
    },

    add: async (c: Context, exchange: Exchange, given: Given): Promise<Response> => {
      const { memberID, account, by } = await freshMemberOf(c);
      const { passkey, challenge } = await passkeys.read(c, purposeOf(memberID), given);
      additions.take(memberID);
      await store.addPasskey({ account, memberID, passkey, challenge, by, time: now() });
      return jsonAnswer(exchange, { passkeyID: passkey.passkeyID, passkeyName: passkey.passkeyName, status: '200' });
    },

    remove: async (c: Context, exchange: Exchange, { passkeyID }: Given): Promise<Response> => {
      const { memberID, account, by } = await memberOf(c);
      if (typeof passkeyID !== 'string') throw new Refusal('missing_field', { field: 'passkeyID' });
      await store.removePasskey({ account, memberID, passkeyID, by, time: now() });
      return jsonAnswer(exchange, { passkeyID, status: '200' });
    },

    /** The member's passkeys; null for a session that a token began, which is no error. */
    list: async (c: Context, exchange: Exchange): Promise<Response> => {
      const session = await sessionOfPage(c, await sessions.ofBrowser(c));
      const member = await sessions.memberOf(session);
      const listed = member && (await store.listPasskeys(member));
      return jsonAnswer(exchange, { passkeys: listed?.map(passkeyAnswer) ?? null, status: '200' });
    },
  };
};
export type PasskeyAnswers = ReturnType<typeof createPasskeyAnswers>;
