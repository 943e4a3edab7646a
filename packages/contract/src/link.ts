/** Links, claims and merges, which connect users to contacts, and how to undo them. */
import * as z from 'zod';
import * as field from './fields.ts';
import { count, flag, isoTime, response, responseText, text } from './response.ts';

export const linkUserInput = z
  .object({ userUUID: field.userUUID, ...field.contactKeys })
  .refine(...field.identifiesContact());
export const linkUserOutput = response({
  exists: flag('Whether the user was already linked to this contact.', false),
  linkID: responseText(field.linkID),
});

export const unlinkUserInput = z.object({ userUUID: field.userUUID });
export const unlinkUserOutput = response({
  exists: flag('Whether the user was already unlinked.', false),
  linkID: text('The linkID of the unlink, for voidLink; "" if there was nothing to unlink.', '1043'),
});

const restore = field.describe(field.optional(field.flag), 'Whether to undo an earlier call to this operation.', false);

export const voidLinkInput = z
  .object({
    linkID: field.describe(field.optional(field.linkID), 'The link. Send `tokenID` instead to select links by token.'),
    tokenID: field.describe(
      field.optional(field.tokenID),
      'Instead of `linkID`: all links claimed with this token between `from` and `to`.',
    ),
    from: field.describe(
      field.optional(field.time),
      'Only links claimed at or after this time.',
      '2026-11-01T00:00:00Z',
    ),
    to: field.describe(field.optional(field.time), 'Only links claimed before this time.', '2026-12-01T00:00:00Z'),
    restore,
  })
  .refine(({ linkID, tokenID }) => linkID !== undefined || tokenID !== undefined, {
    path: ['linkID'],
    message: 'is required unless `tokenID` is given',
  });
export const voidLinkOutput = response({ links: count('How many links changed.', 1) });

const contactUUID = responseText(field.contactUUID);

export const acceptClaimInput = z.object({ claimID: field.claimID });
export const acceptClaimOutput = response({ contactUUID });

export const voidClaimInput = z.object({ claimID: field.claimID, restore });
export const voidClaimOutput = response({ contactUUID });

const otherContactKeys = {
  otherContactUUID: field.describe(
    field.optional(field.contactUUID),
    'The contact that is merged into another one. It may be identified by `otherContactExternalID` or `otherContactEmailaddress` instead.',
    'Qm4zX9wTf2Rk7yWcJ1LsA',
  ),
  otherContactExternalID: field.describe(
    field.optional(field.externalID),
    'The external ID of the contact that is merged into another one.',
    'customer-2077',
  ),
  otherContactEmailaddress: field.describe(
    field.optional(field.email),
    'The e-mail address of the contact that is merged into another one.',
    'ann@work.example',
  ),
};

export const mergeContactInput = z
  .object({
    ...field.contactKeys,
    contactUUID: field.contactKeys.contactUUID.describe(
      'The contact to merge into. It may be identified by `contactExternalID` or `contactEmailaddress` instead.',
    ),
    ...otherContactKeys,
  })
  .refine(...field.identifiesContact())
  .refine(...field.identifiesContact('otherContact'));
export const mergeContactOutput = response({
  contactUUID: contactUUID.describe('The contactUUID of the merged contact.'),
  mergedTime: isoTime('When the contacts were merged.'),
});

export const unmergeContactInput = z.object(otherContactKeys).refine(...field.identifiesContact('otherContact'));
export const unmergeContactOutput = response({ contactUUID });
