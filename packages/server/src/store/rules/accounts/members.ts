import type { TokenKind } from '@firsthand/contract/account/tokens';
import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../../../shared/refusal.ts';

/** The token that stands for a member and makes the member's sessions: nobody knows its text. */
export interface MemberAccess {
  readonly tokenID: string;
  readonly account: number;
  readonly kind: TokenKind;
  readonly hash: string;
  readonly time: number;
  /** The number of the token that invited the member; null: the command line. */
  readonly createdBy: number | null;
  readonly memberID: string;
}

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
    message: `the invitation is not valid: it works once, for ${limits.invitationDays} days, and only the last one does; ask an owner for another one, or run firsthand login-link on the server`,
  });

/** The refusal of a sign-in whose password was changed after it was compared. */
export const changedPassword = (): Refusal =>
  new Refusal('invalid_token', {
    field: 'password',
    message: 'the password was changed meanwhile: sign in with the new one',
  });

/** How long a member is known by a network, and by how many. */
export const knownNetworkMilliseconds = 30 * 86_400_000;
export const maxKnownNetworks = 20;

/** The refusal to revoke the access of a member as if it were a token. */
export const isMembers = (): Refusal =>
  new Refusal('invalid_field', { field: 'tokenID', message: '`tokenID` is the access of a member: use removeMember' });

/** The name of the access of a member, for lists of tokens. */
export const accessName = 'Member of the console';
