/** Members: the people who may sign in to an account's console. */
import { roleKinds, roleOf } from '@firsthand/contract/account/members';
import { limits } from '@firsthand/contract/limits';
import { nanoid } from 'nanoid';
import { hashToken } from '../../../ingest/token.ts';
import { dayMilliseconds } from '../../../shared/time.ts';
import type { Member, Store } from '../../../store/store.ts';
import { actorOf, type Handlers, namedAccount } from '../../access/caller.ts';
import { toCanonicalAddress } from '../../request/contact-names.ts';
import { isoTime } from '../../responses/iso-time.ts';

/** Returns a member in the form that responses use. */
export const memberResponse = (member: Member, time: number) => {
  const { memberID, emailaddress, memberName, kind, createdTime, joinedTime, signedInTime, passkeys } = member;
  const { invitationExpiresTime } = member;
  return {
    memberID,
    memberEmailaddress: emailaddress,
    memberName,
    memberRole: roleOf(kind),
    createdTime: isoTime(createdTime),
    ...(joinedTime !== null && { joinedTime: isoTime(joinedTime) }),
    ...(signedInTime !== null && { signedInTime: isoTime(signedInTime) }),
    passkeys,
    ...(invitationExpiresTime !== null &&
      time < invitationExpiresTime && { invitationExpiresTime: isoTime(invitationExpiresTime) }),
  };
};

export const createMembers = (
  store: Pick<Store, 'findAccount' | 'inviteMember' | 'listMembers' | 'updateMember' | 'removeMember'>,
): Handlers<'inviteMember' | 'listMembers' | 'updateMember' | 'removeMember'> => ({
  inviteMember: async ({ accountUUID, memberEmailaddress, memberRole, memberName }, caller) => {
    const account = await namedAccount(store, caller, accountUUID);
    const emailaddress = toCanonicalAddress(memberEmailaddress, 'memberEmailaddress');
    const { time } = caller;
    // Prefixed so that secret scanners and our log scrubber recognize it.
    const invitationCode = `invitation_${nanoid(24)}`;
    const expiresTime = time + limits.invitationDays * dayMilliseconds;
    const { memberID, kind } = await store.inviteMember({
      account,
      memberID: nanoid(),
      emailaddress,
      memberName,
      kind: roleKinds[memberRole],
      hash: hashToken(invitationCode),
      expiresTime,
      by: actorOf(caller),
      time,
    });
    return { memberID, memberRole: roleOf(kind), invitationCode, expiresTime: isoTime(expiresTime) };
  },

  listMembers: async ({ accountUUID }, caller) => {
    const members = await store.listMembers({ account: await namedAccount(store, caller, accountUUID) });
    return { member: members.map((member) => memberResponse(member, caller.time)) };
  },

  updateMember: async ({ accountUUID, memberID, memberRole }, caller) => {
    const account = await namedAccount(store, caller, accountUUID);
    const change = { account, memberID, kind: roleKinds[memberRole], by: actorOf(caller), time: caller.time };
    await store.updateMember(change);
    return { memberID, memberRole };
  },

  removeMember: async ({ accountUUID, memberID, descendants }, caller) => {
    const account = await namedAccount(store, caller, accountUUID);
    const { time } = caller;
    const revoked = await store.removeMember({ account, memberID, descendants, by: actorOf(caller), time });
    return { memberID, ...(descendants && { descendants: revoked.tokens.length }) };
  },
});
