/** Members: the people who may sign in to the console of an account. */
import * as z from 'zod';
import { answer, count, isoTime, text, told } from '../answer.ts';
import * as field from '../fields.ts';
import { limits } from '../limits.ts';
import type { TokenKind } from './tokens.ts';

/** What a member may do: what a viewer, editor or server token may. */
export const memberRoles = ['viewer', 'editor', 'owner'] as const;
export type MemberRole = (typeof memberRoles)[number];

/** The kind of token whose rights a role has. */
export const roleKinds = { viewer: 'viewer', editor: 'editor', owner: 'server' } as const satisfies Record<
  MemberRole,
  TokenKind
>;

/** The role whose rights a kind of token has. */
export const roleOf = (kind: TokenKind): MemberRole => (kind === 'viewer' || kind === 'editor' ? kind : 'owner');

const whatRolesDo =
  '`viewer` reads; `editor` also changes contacts, catalogues, segments and views, and shares reports; `owner` does all that an account may.';
const role = field.described(field.oneOf(memberRoles), whatRolesDo, 'editor');
const toldRole = field.described(z.enum(memberRoles), whatRolesDo, 'editor');
const emailaddress = field.described(
  field.email,
  'The e-mail address that the member signs in with.',
  'ben@shop.example',
);
const memberName = 'The name of the member; "" until there is one.';
export const memberNameField = field.nameInLine;

const which = {
  accountUUID: field.described(
    field.optional(field.accountUUID),
    'The account. Required with an operator token; other tokens name their own account, or none.',
  ),
};

export const inviteMemberInput = z.object({
  ...which,
  memberEmailaddress: emailaddress,
  memberRole: role,
  memberName: field.described(field.optional(memberNameField), memberName, 'Ben Lime'),
});
export const inviteMemberOutput = answer({
  memberID: told(field.memberID),
  memberRole: toldRole,
  invitationCode: text(
    'The code of the invitation. It is returned only by this call.',
    'invitation_4kQwYb5rEv7uJc1LzT8nX2aa',
  ),
  expiresTime: isoTime(
    `When the invitation ends: ${limits.invitationDays} days after it was made.`,
    '2099-01-01T00:00:00.000Z',
  ),
});

export const listMembersInput = z.object(which);
export const listMembersOutput = answer({
  member: z
    .array(
      z.object({
        memberID: told(field.memberID),
        memberEmailaddress: told(emailaddress),
        memberName: text(memberName, 'Ben Lime'),
        memberRole: toldRole,
        createdTime: isoTime('When the member was first invited.'),
        joinedTime: isoTime('When the member last took an invitation. Absent before.').optional(),
        signedInTime: isoTime('When the member last signed in. Absent before.').optional(),
        passkeys: count(`The passkeys that the member signs in with: at most ${limits.passkeysPerMember}.`, 1),
        invitationExpiresTime: isoTime(
          'When the open invitation ends. Absent without one.',
          '2099-01-01T00:00:00.000Z',
        ).optional(),
      }),
    )
    .describe('The members.'),
});

export const updateMemberInput = z.object({ ...which, memberID: field.memberID, memberRole: role });
export const updateMemberOutput = answer({ memberID: told(field.memberID), memberRole: toldRole });

export const removeMemberInput = z.object({
  ...which,
  memberID: field.memberID,
  descendants: field.described(
    field.optional(field.flag),
    'Also revokes the viewer, editor and server tokens that the member created, directly or not, the share links, and the open invitations.',
    true,
  ),
});
export const removeMemberOutput = answer({
  memberID: told(field.memberID),
  descendants: count(
    'With descendants=true: the number of tokens that the member had created, directly or not, and that were revoked.',
    0,
  ).optional(),
});
