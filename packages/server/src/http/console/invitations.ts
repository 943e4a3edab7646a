/** Returns invitation details, and accepts invitations. */
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

interface Dependencies {
  readonly store: Pick<Store, 'findInvitation' | 'joinMember'>;
  readonly addressOf: AddressOf;
  readonly memberPasswords: MemberPasswords;
  readonly passkeys: Passkeys;
  /** Counts guesses at codes, by address. */
  readonly unknownCodes: Pick<RateLimit, 'take'>;
  readonly now: () => number;
}

export const createInvitations = ({ store, addressOf, memberPasswords, passkeys, unknownCodes, now }: Dependencies) => {
  const findInvitation = async (fields: Fields, c: Context) => {
    const hash = hashToken(requiredText(fields, 'code'));
    const invitation = await store.findInvitation({ hash, time: now() });
    if (invitation !== undefined) return { invitation, hash };
    // Only a failed lookup counts as a guess, so that other guesses don't block an invited visitor at the same address.
    unknownCodes.take(addressOf(c));
    throw noInvitation();
  };

  /** Returns the purpose of the challenge for joining with a passkey. */
  const purposeOf = (invitationHash: string) => `join ${invitationHash}`;

  /** Returns the new member's credential: a passkey, or the hash of the password. */
  const newCredential = async (
    fields: Fields,
    c: Context,
    { hash, invitation }: Awaited<ReturnType<typeof findInvitation>>,
  ) => {
    if (fields.passkey !== undefined) {
      const { passkey } = await passkeys.read(c, purposeOf(hash), fields);
      return { password: null, passkey };
    }
    const password = requiredText(fields, 'password');
    memberPasswords.countHash(addressOf(c));
    const memberName = optionalText(fields, 'memberName') ?? '';
    return { password: await memberPasswords.hash(c, password, { ...invitation, memberName }) };
  };

  return {
    /** Returns the account, e-mail address, name and role of an invitation. */
    async describe(fields: Fields, c: Context) {
      const { accountName, emailaddress, memberName, kind } = (await findInvitation(fields, c)).invitation;
      return { accountName, memberEmailaddress: emailaddress, memberName, memberRole: roleOf(kind) };
    },

    /** Returns the options for creating a passkey to join with, and their cookie. */
    async optionsToJoin(fields: Fields, c: Context) {
      const { invitation, hash } = await findInvitation(fields, c);
      return passkeys.optionsToCreate(c, purposeOf(hash), invitation);
    },

    /** Accepts an invitation: stores the member's name and credential, and returns the owner of the new session. */
    async join(fields: Fields, c: Context): Promise<Owner> {
      const password =
        fields.passkey === undefined ? requiredText(fields, 'password') : optionalText(fields, 'password');
      if (fields.passkey !== undefined && password !== undefined) {
        const message = 'send either `password` or `passkey`, not both';
        throw new Refusal('invalid_field', { field: 'password', message });
      }
      const memberName = requiredText({ memberName: optionalText(fields, 'memberName')?.trim() }, 'memberName');
      const checked = check(memberNameField, memberName, 'memberName');
      if (!checked.ok) throw new Refusal(checked.problem.code, checked.problem);
      const match = await findInvitation(fields, c);
      const { invitation, hash } = match;
      const member = { hash, memberName, ...(await newCredential(fields, c, match)), time: now() };
      // This token's secret is discarded: no client receives it.
      const access = { tokenID: nanoid(), hash: hashToken(createTokenText(invitation.kind)) };
      const { account, memberID, access: owner } = await store.joinMember({ ...member, access });
      await memberPasswords.noteNetwork(c, invitation.emailaddress, [memberID]);
      return { account, ...owner };
    },
  };
};
export type Invitations = ReturnType<typeof createInvitations>;
