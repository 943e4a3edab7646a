/** Members: people who can sign in to an account's console. */
import * as z from 'zod';
import * as field from '../fields.ts';
import { limits } from '../limits.ts';
import { count, isoTime, response, responseText, text } from '../response.ts';
import type { TokenKind } from './tokens.ts';

/** A viewer has a viewer token's rights, an editor an editor token's, and an owner a server token's. */
export const memberRoles = ['viewer', 'editor', 'owner'] as const;
export type MemberRole = (typeof memberRoles)[number];

/** The token kind with the same rights as a role. */
export const roleKinds = { viewer: 'viewer', editor: 'editor', owner: 'server' } as const satisfies Record<
  MemberRole,
  TokenKind
>;

/** The role with the same rights as a token kind. */
export const roleOf = (kind: TokenKind): MemberRole => (kind === 'viewer' || kind === 'editor' ? kind : 'owner');

const roleDescription =
  '`viewer` can only read. `editor` can also change contacts, catalogues, segments and views, and share reports. `owner` has full access to the account.';
const role = field.describe(field.oneOf(memberRoles), roleDescription, 'editor');
const roleOutput = field.describe(z.enum(memberRoles), roleDescription, 'editor');
const emailaddress = field.describe(
  field.email,
  'The e-mail address that the member signs in with.',
  'ben@shop.example',
);
const memberName = 'The name of the member; "" until it is set.';
export const memberNameField = field.nameInLine;

const accountSelector = {
  accountUUID: field.describe(
    field.optional(field.accountUUID),
    'The account. Required with an operator token. With any other token, omit it or send the account of the token.',
  ),
};

export const inviteMemberInput = z.object({
  ...accountSelector,
  memberEmailaddress: emailaddress,
  memberRole: role,
  memberName: field.describe(field.optional(memberNameField), memberName, 'Ben Lime'),
});
export const inviteMemberOutput = response({
  memberID: responseText(field.memberID),
  memberRole: roleOutput,
  invitationCode: text('The invitation code. Only this call returns it.', 'invitation_4kQwYb5rEv7uJc1LzT8nX2aa'),
  expiresTime: isoTime(
    `When the invitation expires: ${limits.invitationDays} days after it was created.`,
    '2099-01-01T00:00:00.000Z',
  ),
});

export const listMembersInput = z.object(accountSelector);
export const listMembersOutput = response({
  member: z
    .array(
      z.object({
        memberID: responseText(field.memberID),
        memberEmailaddress: responseText(emailaddress),
        memberName: text(memberName, 'Ben Lime'),
        memberRole: roleOutput,
        createdTime: isoTime('When the member was first invited.'),
        joinedTime: isoTime('When the member last accepted an invitation. Absent if they never have.').optional(),
        signedInTime: isoTime('When the member last signed in. Absent if they never have.').optional(),
        passkeys: count(`How many passkeys the member has, at most ${limits.passkeysPerMember}.`, 1),
        invitationExpiresTime: isoTime(
          'When the pending invitation expires. Absent if there is none.',
          '2099-01-01T00:00:00.000Z',
        ).optional(),
      }),
    )
    .describe('The members.'),
});

export const updateMemberInput = z.object({ ...accountSelector, memberID: field.memberID, memberRole: role });
export const updateMemberOutput = response({ memberID: responseText(field.memberID), memberRole: roleOutput });

export const removeMemberInput = z.object({
  ...accountSelector,
  memberID: field.memberID,
  descendants: field.describe(
    field.optional(field.flag),
    'Also revokes the agent, viewer, editor and server tokens that the member created, directly or indirectly, and the member’s share links and open invitations.',
    true,
  ),
});
export const removeMemberOutput = response({
  memberID: responseText(field.memberID),
  descendants: count(
    'With descendants=true: the number of tokens created by the member, directly or indirectly, that were revoked.',
    0,
  ).optional(),
});
