/**
 * Handles the console's passkey requests: options for using or creating a passkey, and a member's own passkeys.
 * `sign-in.ts` and `invitations.ts` verify the responses.
 */
import type { Context } from 'hono';
import { Refusal } from '../../../shared/refusal.ts';
import { checkRoomForPasskey } from '../../../store/rules/accounts/passkeys.ts';
import type { Passkey, Store } from '../../../store/store.ts';
import type { RateLimit } from '../../access/rate-limits.ts';
import type { RequestFields } from '../../request/input.ts';
import { isoTime } from '../../responses/iso-time.ts';
import { type Exchange, jsonResponse } from '../../responses/responses.ts';
import type { Invitations } from '../invitations.ts';
import type { PageSessions } from '../page-sessions.ts';
import type { Sessions } from '../sessions.ts';
import type { Passkeys } from './passkeys.ts';

/** How often a member may add a passkey: the audit log stores each addition and removal permanently. */
export const additionRate = { perSecond: 20 / 86_400, burst: 20 };

interface Dependencies {
  readonly store: Pick<Store, 'listPasskeys' | 'addPasskey' | 'removePasskey' | 'listMembers'>;
  readonly passkeys: Passkeys;
  readonly invitations: Pick<Invitations, 'optionsToJoin'>;
  readonly sessions: Pick<Sessions, 'memberOf' | 'describe'>;
  readonly pageSessions: Pick<PageSessions, 'ofPage' | 'memberOfPage'>;
  /** Counts added passkeys, by memberID. */
  readonly additions: Pick<RateLimit, 'take'>;
  readonly now: () => number;
}

const passkeyResponse = ({ passkeyID, passkeyName, createdTime, lastUsedTime }: Passkey) => ({
  ...{ passkeyID, passkeyName, createdTime: isoTime(createdTime) },
  ...(lastUsedTime !== null && { lastUsedTime: isoTime(lastUsedTime) }),
});

export const createPasskeyHandlers = ({
  store,
  passkeys,
  invitations,
  sessions,
  pageSessions,
  additions,
  now,
}: Dependencies) => {
  /** Responds with options and their cookie. */
  const withOptions =
    (createOptions: (c: Context, fields: RequestFields) => Promise<{ options: object; cookie: string }>) =>
    async (c: Context, exchange: Exchange, fields: RequestFields): Promise<Response> => {
      passkeys.takeLimit(c);
      const { options, cookie } = await createOptions(c, fields);
      return jsonResponse(exchange, { options, status: '200' }, { 'Set-Cookie': cookie });
    };

  const purposeOf = (memberID: string) => `add ${memberID}`;

  return {
    toSignIn: withOptions((c) => passkeys.optionsToSignIn(c)),

    toJoin: withOptions((c, fields) => invitations.optionsToJoin(fields, c)),

    toAdd: withOptions(async (c) => {
      const { memberID, account, session } = await pageSessions.memberOfPage(c);
      const [members, [summary], existing] = await Promise.all([
        store.listMembers({ account }),
        sessions.describe([session.access]),
        store.listPasskeys({ memberID }),
      ]);
      checkRoomForPasskey(existing.length);
      const member = members.find((each) => each.memberID === memberID);
      if (!member) throw new Refusal('unknown_member');
      const user = { ...member, accountName: summary?.accountName ?? '' };
      return passkeys.optionsToCreate(c, purposeOf(memberID), user, existing);
    }),

    add: async (c: Context, exchange: Exchange, fields: RequestFields): Promise<Response> => {
      const { memberID, account, by } = await pageSessions.memberOfPage(c);
      const { passkey, challenge } = await passkeys.read(c, purposeOf(memberID), fields);
      additions.take(memberID);
      await store.addPasskey({ account, memberID, passkey, challenge, by, time: now() });
      return jsonResponse(exchange, { passkeyID: passkey.passkeyID, passkeyName: passkey.passkeyName, status: '200' });
    },

    remove: async (c: Context, exchange: Exchange, { passkeyID }: RequestFields): Promise<Response> => {
      const { memberID, account, by } = await pageSessions.memberOfPage(c);
      if (typeof passkeyID !== 'string') throw new Refusal('missing_field', { field: 'passkeyID' });
      await store.removePasskey({ account, memberID, passkeyID, by, time: now() });
      return jsonResponse(exchange, { passkeyID, status: '200' });
    },

    /**
     * Lists the member's passkeys and whether there is a password. `passkeys` is null if a token started the session.
     */
    list: async (c: Context, exchange: Exchange): Promise<Response> => {
      const session = await pageSessions.ofPage(c);
      const own = await sessions.memberOf(session);
      const members = own ? await store.listMembers(session.access) : [];
      const member = members.find(({ memberID }) => memberID === own?.memberID);
      if (!member) return jsonResponse(exchange, { passkeys: null, status: '200' });
      const passkeys = (await store.listPasskeys(member)).map(passkeyResponse);
      const { emailaddress: memberEmailaddress, hasPassword } = member;
      return jsonResponse(exchange, { passkeys, memberEmailaddress, hasPassword, status: '200' });
    },
  };
};
