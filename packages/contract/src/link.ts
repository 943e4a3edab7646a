/** Links, claims and merges: stating which contact a user is, and undoing that. */
import * as z from 'zod';
import { answer, count, flag, isoTime, text, told } from './answer.ts';
import * as field from './fields.ts';

export const linkUserInput = z.object({ userUUID: field.userUUID, ...field.named }).refine(...field.namesContact());
export const linkUserOutput = answer({
  exists: flag('The user was linked to this contact already.', false),
  linkID: told(field.linkID),
});

export const unlinkUserInput = z.object({ userUUID: field.userUUID });
export const unlinkUserOutput = answer({
  exists: flag('Whether the user was unlinked before.', false),
  linkID: text('The linkID of the unlink, for voidLink; "" when there was nothing to unlink.', '1043'),
});

const restore = field.described(field.optional(field.flag), 'Undoes an earlier call.', false);

export const voidLinkInput = z
  .object({
    linkID: field.described(field.optional(field.linkID), 'The link; or name a token with `tokenID`.'),
    tokenID: field.described(
      field.optional(field.tokenID),
      'Instead of `linkID`: all links that this token claimed between `from` and `to`.',
    ),
    from: field.described(field.optional(field.time), 'Only links claimed from this time on.', '2026-11-01T00:00:00Z'),
    to: field.described(field.optional(field.time), 'Only links claimed before this time.', '2026-12-01T00:00:00Z'),
    restore,
  })
  .refine(({ linkID, tokenID }) => linkID !== undefined || tokenID !== undefined, {
    path: ['linkID'],
    message: 'is required unless `tokenID` is given',
  });
export const voidLinkOutput = answer({ links: count('The number of links that changed.', 1) });

const contactUUID = told(field.contactUUID);

export const acceptClaimInput = z.object({ claimID: field.claimID });
export const acceptClaimOutput = answer({ contactUUID });

export const voidClaimInput = z.object({ claimID: field.claimID, restore });
export const voidClaimOutput = answer({ contactUUID });

const otherNamed = {
  otherContactUUID: field.described(
    field.optional(field.contactUUID),
    'The contact that is merged into another one; or name it by `otherContactExternalID` or `otherContactEmailaddress`.',
    'Qm4zX9wTf2Rk7yWcJ1LsA',
  ),
  otherContactExternalID: field.described(
    field.optional(field.externalID),
    'The external ID of the contact that is merged into another one.',
    'customer-2077',
  ),
  otherContactEmailaddress: field.described(
    field.optional(field.email),
    'The e-mail address of the contact that is merged into another one.',
    'ann@work.example',
  ),
};

export const mergeContactInput = z
  .object({
    ...field.named,
    contactUUID: field.named.contactUUID.describe(
      'The contact that stays; or name it by `contactExternalID` or `contactEmailaddress`.',
    ),
    ...otherNamed,
  })
  .refine(...field.namesContact())
  .refine(...field.namesContact('otherContact'));
export const mergeContactOutput = answer({
  contactUUID: contactUUID.describe('The contactUUID of the merged contact.'),
  mergedTime: isoTime('When they were merged.'),
});

export const unmergeContactInput = z.object(otherNamed).refine(...field.namesContact('otherContact'));
export const unmergeContactOutput = answer({ contactUUID });
