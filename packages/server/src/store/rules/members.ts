import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../../refusal.ts';

/** Throws a Refusal when an account that has so many members may not add one. */
export const checkRoomForMember = (members: number): void => {
  const most = limits.membersPerAccount;
  if (members < most) return;
  throw new Refusal('invalid_field', {
    field: 'memberEmailaddress',
    message: `\`memberEmailaddress\` is new, and the account has ${most} members already: remove one with removeMember`,
  });
};

export const unknownMember = (): Refusal => new Refusal('unknown_member', { field: 'memberID' });

/** The refusal of an invitation that is unknown, has been used or replaced, or has ended. */
export const noInvitation = (): Refusal =>
  new Refusal('invalid_token', {
    field: 'code',
    message: 'the invitation is not valid: it works once, for 7 days, and only the last one does; ask for another one',
  });

/** The name of the token that stands for a member, for lists of tokens. */
export const accessName = 'Member of the console';
