/** The audit log of an account: who did what to whom, and when. */
import * as z from 'zod';
import { answer, count, isoTime } from './answer.ts';
import * as field from './fields.ts';
import { limits } from './limits.ts';

/** The recorded actions. `copy` and `backup` concern the whole database and are in no account's log. */
export const auditActions = [
  'createAccount',
  'updateAccount',
  'createToken',
  'revokeToken',
  'eraseContact',
  'exportContact',
  'mergeContact',
  'unmergeContact',
  'linkUser',
  'unlinkUser',
  'voidLink',
  'acceptClaim',
  'voidClaim',
  'replayRefused',
  'copy',
  'backup',
] as const;
export type AuditAction = (typeof auditActions)[number];

/** The subject of an action. It holds no personal data except contactUUIDs. */
const auditSubject = z.object({
  tokenID: z.string().optional(),
  tokenKind: z.string().optional(),
  contactUUID: z.string().optional(),
  otherContactUUID: z.string().optional(),
  linkID: z.string().optional(),
  claimID: z.string().optional(),
  refusedID: z.string().optional(),
  links: count.optional().describe('How many links were voided or restored.'),
  restore: z.boolean().optional(),
  field: z.array(z.string()).optional().describe('Names of the fields that were given.'),
});
export type AuditSubject = z.output<typeof auditSubject>;

export const listAuditInput = z.object({
  accountUUID: field.optional(field.filledText(limits.nameLength)),
  from: field.optional(field.time),
  to: field.optional(field.time),
  action: field.optional(field.oneOf(auditActions)),
  limit: field.optional(field.pageLimit(limits.auditEntriesPerPage)),
  cursor: field.optional(field.cursor),
});
export const listAuditOutput = answer({
  audit: z.array(
    z.object({
      auditID: z.string(),
      auditTime: isoTime,
      actor: z.string().describe('The tokenID of the token that did it, or `command` for the command line.'),
      action: z.enum(auditActions),
      subject: auditSubject,
    }),
  ),
  nextCursor: z.string().describe('"" on the last page.'),
});
