import type { TokenKind } from '@firsthand/contract/account/tokens';
import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../../../shared/refusal.ts';

/** Access to create for a member. Only the hash of its secret is stored. */
export interface NewMemberAccess {
  readonly tokenID: string;
  readonly account: number;
  readonly kind: TokenKind;
  readonly hash: string;
  readonly time: number;
  /** The row number of the token that invited the member; null: the command line. */
  readonly createdBy: number | null;
  readonly memberID: string;
}

/** Throws a Refusal if an account with this many members cannot add another member. */
export const checkRoomForMember = (members: number): void => {
  const max = limits.membersPerAccount;
  if (members < max) return;
  throw new Refusal('invalid_field', {
    field: 'memberEmailaddress',
    message: `\`memberEmailaddress\` is new, and the account already has ${max} members: remove one with removeMember`,
  });
};

export const unknownMember = (): Refusal => new Refusal('unknown_member', { field: 'memberID' });

/** The refusal for an invitation that is unknown, used, replaced or expired. */
export const noInvitation = (): Refusal =>
  new Refusal('invalid_token', {
    field: 'code',
    message: `the invitation is not valid: an invitation works once, for ${limits.invitationDays} days, until a newer one replaces it; ask an owner for a new one, or run firsthand login-link on the server`,
  });

/** The refusal for a sign-in whose password was changed after it was verified. */
export const changedPassword = (): Refusal =>
  new Refusal('invalid_token', {
    field: 'password',
    message: 'the password has just been changed: sign in with the new one',
  });

/** How long a network stays known, and the maximum number of known networks per member. */
export const knownNetworkMilliseconds = 30 * 86_400_000;
export const maxKnownNetworks = 20;

/** The refusal for revoking a member's access with revokeToken. */
export const memberAccessToken = (): Refusal =>
  new Refusal('invalid_field', { field: 'tokenID', message: '`tokenID` is the access of a member: use removeMember' });

/** The tokenName of a member's access. */
export const accessName = 'Member of the console';
