/** Links, claims and merges: stating which contact a user is, and undoing that. */
import * as z from 'zod';
import { answer, count, isoTime } from './answer.ts';
import * as field from './fields.ts';
import { limits } from './limits.ts';

const id = field.filledText(limits.nameLength);

export const linkUserInput = z.object({ userUUID: field.userUUID, contactUUID: field.contactUUID });
export const linkUserOutput = answer({
  exists: z.boolean().describe('The user was linked to this contact already.'),
  linkID: z.string(),
});

export const unlinkUserInput = z.object({ userUUID: field.userUUID });
export const unlinkUserOutput = answer({
  exists: z.boolean().describe('Whether the user was unlinked before.'),
  linkID: z.string().describe('The linkID of the unlink, for voidLink; "" when there was nothing to unlink.'),
});

export const voidLinkInput = z
  .object({
    linkID: field.optional(id),
    tokenID: field.optional(id),
    from: field.optional(field.time),
    to: field.optional(field.time),
    restore: field.optional(field.flag),
  })
  .refine(({ linkID, tokenID }) => linkID !== undefined || tokenID !== undefined, {
    path: ['linkID'],
    message: 'is required unless `tokenID` is given',
  });
export const voidLinkOutput = answer({ links: count.describe('The number of links that changed.') });

export const acceptClaimInput = z.object({ claimID: id });
export const acceptClaimOutput = answer({ contactUUID: z.string() });

export const voidClaimInput = z.object({ claimID: id, restore: field.optional(field.flag) });
export const voidClaimOutput = answer({ contactUUID: z.string() });

export const mergeContactInput = z.object({ contactUUID: field.contactUUID, otherContactUUID: field.contactUUID });
export const mergeContactOutput = answer({
  contactUUID: z.string().describe('The contactUUID of the merged contact.'),
  mergedTime: isoTime,
});

export const unmergeContactInput = z.object({ otherContactUUID: field.contactUUID });
export const unmergeContactOutput = answer({ contactUUID: z.string() });
