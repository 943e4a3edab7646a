/** Describes invitations, and lets a member join with one. */
import { memberNameField, roleOf } from '@firsthand/contract/account/members';
import { check } from '@firsthand/contract/checking';
import type { Context } from 'hono';
import { nanoid } from 'nanoid';
import { createTokenText, hashToken } from '../../ingest/token.ts';
import { Refusal } from '../../shared/refusal.ts';
import { noInvitation } from '../../store/rules/accounts/members.ts';
import type { Store } from '../../store/store.ts';
import type { AddressOf } from '../access/client-address.ts';
import type { RateLimit } from '../access/rate-limits.ts';
import { type Fields, optionalText, requiredText } from './form-fields.ts';
import type { MemberPasswords } from './member-passwords.ts';
import type { Passkeys } from './passkeys/passkeys.ts';
import type { Owner } from './sign-in.ts';

interface Surroundings {
  readonly store: Pick<Store, 'findInvitation' | 'joinMember'>;
  readonly addressOf: AddressOf;
  readonly memberPasswords: MemberPasswords;
  readonly passkeys: Passkeys;
  /** Counts guesses at codes, by address. */
  readonly unknownCodes: Pick<RateLimit, 'take'>;
  readonly now: () => number;
}

export const createInvitations = ({ store, addressOf, memberPasswords, passkeys, unknownCodes, now }: Surroundings) => {
  const findInvitation = async (given: Fields, c: Context) => {
    const invitationHash = hashToken(requiredText(given, 'code'));
    const found = await store.findInvitation({ hash: invitationHash, time: now() });
    if (found !== undefined) return { found, hash: invitationHash };
    // After the look-up, so that guesses from an address do not delay a visitor with an invitation there.
    unknownCodes.take(addressOf(c));
    throw noInvitation();
  };

  /** The purpose of the challenge for joining with a passkey. */
  const purposeOf = (invitationHash: string) => `join ${invitationHash}`;

  /** Returns the credential of a member who joins: the passkey, or the hash of the password. */
  const newCredential = async (
    given: Fields,
    c: Context,
    { hash, found }: Awaited<ReturnType<typeof findInvitation>>,
  ) => {
    if (given.passkey !== undefined) {
      const { passkey } = await passkeys.read(c, purposeOf(hash), given);
      return { password: null, passkey };
    }
    const password = requiredText(given, 'password');
    memberPasswords.countHash(addressOf(c));
    const memberName = optionalText(given, 'memberName') ?? '';
    return { password: await memberPasswords.hash(c, password, { ...found, memberName }) };
  };

  return {
    /** Returns the account, address, name and role that an invitation is for. */
    async describe(given: Fields, c: Context) {
      const { accountName, emailaddress, memberName, kind } = (await findInvitation(given, c)).found;
      return { accountName, memberEmailaddress: emailaddress, memberName, memberRole: roleOf(kind) };
    },

    /** The options of a passkey to join with, and the cookie that belongs to them. */
    async optionsToJoin(given: Fields, c: Context) {
      const { found, hash } = await findInvitation(given, c);
      return passkeys.optionsToCreate(c, purposeOf(hash), found);
    },

    /** Takes an invitation: the member gets a name and a password or a passkey, and signs in. */
    async join(given: Fields, c: Context): Promise<Owner> {
      const password = given.passkey === undefined ? requiredText(given, 'password') : optionalText(given, 'password');
      if (given.passkey !== undefined && password !== undefined) {
        const message = '`password` must be absent where there is a `passkey`: a member joins with one of them';
        throw new Refusal('invalid_field', { field: 'password', message });
      }
      const memberName = requiredText({ memberName: optionalText(given, 'memberName')?.trim() }, 'memberName');
      const checked = check(memberNameField, memberName, 'memberName');
      if (!checked.ok) throw new Refusal(checked.problem.code, checked.problem);
      const invitation = await findInvitation(given, c);
      const { found, hash } = invitation;
      const joining = { hash, memberName, ...(await newCredential(given, c, invitation)), time: now() };
      // No client receives the text of this token.
      const access = { tokenID: nanoid(), hash: hashToken(createTokenText(found.kind)) };
      const { account, memberID, access: owner } = await store.joinMember({ ...joining, access });
      await memberPasswords.noteNetwork(c, found.emailaddress, [memberID]);
      return { account, ...owner };
    },
  };
};
export type Invitations = ReturnType<typeof createInvitations>;
