/** Answers the console's pages about passkeys: the options to use or make one, and a member's own list. `sign-in.ts` and `invitations.ts` check the responses of passkeys. */
import type { Context } from 'hono';
import { Refusal } from '../../../shared/refusal.ts';
import { checkRoomForPasskey } from '../../../store/rules/accounts/passkeys.ts';
import type { Passkey, Store } from '../../../store/store.ts';
import type { RateLimit } from '../../access/rate-limits.ts';
import { type Exchange, jsonAnswer } from '../../answers/answers.ts';
import { isoTime } from '../../answers/iso-time.ts';
import type { Given } from '../../request/input.ts';
import type { Invitations } from '../invitations.ts';
import type { OpenSession, Sessions } from '../sessions.ts';
import type { Passkeys } from './passkeys.ts';

/** How often a member may add a passkey: the audit log keeps each addition and removal for good. */
export const additionRate = { perSecond: 20 / 86_400, burst: 20 };

/** The session of the page and its member. Throws a Refusal where a token began the session, or it began too long ago. */
type MemberOfPage = (c: Context) => Promise<{
  readonly memberID: string;
  readonly account: number;
  readonly by: number;
  readonly session: OpenSession;
}>;

interface Surroundings {
  readonly store: Pick<Store, 'listPasskeys' | 'addPasskey' | 'removePasskey' | 'listMembers'>;
  readonly passkeys: Passkeys;
  readonly invitations: Pick<Invitations, 'optionsToJoin'>;
  readonly sessions: Pick<Sessions, 'memberOf' | 'show' | 'ofBrowser'>;
  readonly memberOfPage: MemberOfPage;
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
  invitations,
  sessions,
  additions,
  sessionOfPage,
  memberOfPage,
  now,
}: Surroundings) => {
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

    toJoin: withOptions((c, given) => invitations.optionsToJoin(given, c)),

    toAdd: withOptions(async (c) => {
      const { memberID, account, session } = await memberOfPage(c);
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
      const { memberID, account, by } = await memberOfPage(c);
      const { passkey, challenge } = await passkeys.read(c, purposeOf(memberID), given);
      additions.take(memberID);
      await store.addPasskey({ account, memberID, passkey, challenge, by, time: now() });
      return jsonAnswer(exchange, { passkeyID: passkey.passkeyID, passkeyName: passkey.passkeyName, status: '200' });
    },

    remove: async (c: Context, exchange: Exchange, { passkeyID }: Given): Promise<Response> => {
      const { memberID, account, by } = await memberOfPage(c);
      if (typeof passkeyID !== 'string') throw new Refusal('missing_field', { field: 'passkeyID' });
      await store.removePasskey({ account, memberID, passkeyID, by, time: now() });
      return jsonAnswer(exchange, { passkeyID, status: '200' });
    },

    /** The member's passkeys, and whether there is a password; null for a session that a token began, which is no error. */
    list: async (c: Context, exchange: Exchange): Promise<Response> => {
      const session = await sessionOfPage(c, await sessions.ofBrowser(c));
      const own = await sessions.memberOf(session);
      const members = own ? await store.listMembers(session.access) : [];
      const member = members.find(({ memberID }) => memberID === own?.memberID);
      if (!member) return jsonAnswer(exchange, { passkeys: null, status: '200' });
      const passkeys = (await store.listPasskeys(member)).map(passkeyAnswer);
      const { emailaddress: memberEmailaddress, hasPassword } = member;
      return jsonAnswer(exchange, { passkeys, memberEmailaddress, hasPassword, status: '200' });
    },
  };
};
