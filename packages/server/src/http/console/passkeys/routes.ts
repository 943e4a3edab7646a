/** Answers the console's pages about passkeys: the options to use or make one, and a member's own list. `sign-in.ts` takes the answers of passkeys. */
import type { Context } from 'hono';
import { Refusal } from '../../../shared/refusal.ts';
import { checkRoomForPasskey } from '../../../store/rules/accounts/passkeys.ts';
import type { Passkey, Store } from '../../../store/store.ts';
import type { RateLimit } from '../../access/rate-limits.ts';
import { type Exchange, jsonAnswer } from '../../answers/answers.ts';
import { isoTime } from '../../answers/iso-time.ts';
import type { Given } from '../../request/input.ts';
import type { OpenSession, Sessions } from '../sessions.ts';
import type { SignIn } from '../sign-in.ts';
import type { Passkeys } from './passkeys.ts';

/** A session changes passkeys for so long after it began: somebody at a computer that was left alone gets no way to come back. */
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

export const createPasskeyAnswers = ({
  store,
  passkeys,
  signIn,
  sessions,
  additions,
  sessionOfPage,
  now,
}: Surroundings) => {
  /** The session of the page and its member. Throws a Refusal where a token began the session, or it began too long ago. */
  const memberOf = async (c: Context) => {
    const session = await sessionOfPage(c, await sessions.ofBrowser(c));
    const member = await sessions.memberOf(session);
    if (member === undefined) {
      throw new Refusal('token_kind', { message: 'only a member has passkeys: this session was begun with a token' });
    }
    const { account, token: by } = session.access;
    if (now() - member.begunTime < freshMilliseconds) return { memberID: member.memberID, account, by, session };
    const message = 'sign out and in again first: passkeys are added and removed within ten minutes of signing in';
    throw new Refusal('invalid_token', { message });
  };

  /** Answers with options and the cookie that belongs to them. */
  const withOptions =
    (make: (c: Context, given: Given) => Promise<{ options: object; cookie: string }>) =>
    async (c: Context, exchange: Exchange, given: Given): Promise<Response> => {
      passkeys.takeLimit(c);
      const { options, cookie } = await make(c, given);
      return jsonAnswer(exchange, { options, status: '200' }, { 'Set-Cookie': cookie });
    };

  const purposeOf = (memberID: string) => `add ${memberID}`;

  return {
    toSignIn: withOptions((c) => passkeys.optionsToSignIn(c)),

    toJoin: withOptions((c, given) => signIn.optionsToJoin(given, c)),

    toAdd: withOptions(async (c) => {
      const { memberID, account, session } = await memberOf(c);
      const [members, [shown], present] = await Promise.all([
        store.listMembers({ account }),
        sessions.show([session.access]),
        store.listPasskeys({ memberID }),
      ]);
      checkRoomForPasskey(present.length);
      const member = members.find((each) => each.memberID === memberID);
      if (!member) throw new Refusal('unknown_member');
      const user = { ...member, accountName: shown?.accountName ?? '' };
      return passkeys.optionsToCreate(c, purposeOf(memberID), user, present);
    }),

    add: async (c: Context, exchange: Exchange, given: Given): Promise<Response> => {
      const { memberID, account, by } = await memberOf(c);
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
