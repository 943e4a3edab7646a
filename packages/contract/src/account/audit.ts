/** An account's audit log: which actions were performed, on what, by whom and when. */
import * as z from 'zod';
import * as field from '../fields.ts';
import { limits } from '../limits.ts';
import { count, flag, isoTime, response, responseText, text } from '../response.ts';

/** The recorded actions. `deleteAccount`, `copy` and `backup` never appear in an account's log. */
export const auditActions = [
  'createAccount',
  'updateAccount',
  'deleteAccount',
  'mergeEntry',
  'unmergeEntry',
  'createToken',
  'revokeToken',
  'inviteMember',
  'joinMember',
  'updateMember',
  'removeMember',
  'changePassword',
  'addPasskey',
  'removePasskey',
  'eraseContact',
  'exportContact',
  'mergeContact',
  'unmergeContact',
  'linkUser',
  'unlinkUser',
  'voidLink',
  'acceptClaim',
  'voidClaim',
  'createShareLink',
  'revokeShareLink',
  'createWebhook',
  'updateWebhook',
  'rotateWebhookSecret',
  'deleteWebhook',
  'createNotification',
  'updateNotification',
  'deleteNotification',
  'createImport',
  'undoImport',
  'replayRefused',
  'discardRefused',
  'copy',
  'backup',
] as const;
export type AuditAction = (typeof auditActions)[number];

/** The subject of an action. It contains no personal data except contactUUIDs. */
const auditSubject = z
  .object({
    accountUUID: text('The account that was deleted.', 'h4qK0LxRj2mWc9ZtYpA3b').optional(),
    tokenID: responseText(field.tokenID).optional(),
    tokenKind: text('The token’s kind.', 'viewer').optional(),
    memberID: responseText(field.memberID).optional(),
    memberRole: text('The member’s role.', 'editor').optional(),
    passkeyID: text('The passkey that was added or removed.', 'p4Tn2kQwYb5rEv7uJc1Lz').optional(),
    contactUUID: responseText(field.contactUUID).optional(),
    otherContactUUID: text('The contact that was merged or unmerged.', 'Qm4zX9wTf2Rk7yWcJ1LsA').optional(),
    catalogue: text('The catalogue whose entries were merged or unmerged.', 'tag').optional(),
    entryID: text('The entry that another one was merged into.', 'vip').optional(),
    otherEntryID: text('The entry that was merged or unmerged.', 'VIP').optional(),
    shareID: responseText(field.shareID).optional(),
    webhookID: responseText(field.webhookID).optional(),
    notificationID: responseText(field.notificationID).optional(),
    importID: responseText(field.importID).optional(),
    linkID: responseText(field.linkID).optional(),
    claimID: responseText(field.claimID).optional(),
    refusedID: text('The rejected request that was resent or discarded.', '17').optional(),
    links: count('The number of links that were voided or restored.', 12).optional(),
    restore: flag('Whether a voided link or claim was restored.').optional(),
    field: z
      .array(text('A field’s name.', 'accountTimezone'))
      .optional()
      .describe('The names of the fields in the request.'),
  })
  .describe('What the action was performed on.');
export type AuditSubject = z.output<typeof auditSubject>;

export const listAuditInput = z.object({
  accountUUID: field.describe(
    field.optional(field.accountUUID),
    'The account. Required with an operator token. With any other token, omit it or send the account of the token.',
  ),
  from: field.describe(field.optional(field.time), 'Only entries at or after this time.', '2026-11-01T00:00:00Z'),
  to: field.describe(field.optional(field.time), 'Only entries before this time.', '2026-12-01T00:00:00Z'),
  action: field.describe(field.optional(field.oneOf(auditActions)), 'Only entries with this action.', 'eraseContact'),
  limit: field.optional(field.pageLimit(limits.auditEntriesPerPage)),
  cursor: field.optional(field.cursor),
});
export const listAuditOutput = response({
  audit: z
    .array(
      z.object({
        auditID: text('The entry.', '58'),
        auditTime: isoTime('When the action happened.'),
        actor: text(
          'The tokenID of the token that performed the action, or `command` for the command line.',
          'x8Tn2kQwYb5rEv7uJc1Lz',
        ),
        memberID: text(
          'The member who performed the action in a console session. Absent otherwise.',
          'm9Tn2kQwYb5rEv7uJc1Lz',
        ).optional(),
        action: field.describe(z.enum(auditActions), 'The action.', 'eraseContact'),
        subject: auditSubject,
      }),
    )
    .describe('The entries, newest first.'),
  nextCursor: text('The cursor of the next page; "" on the last page.', ''),
});
