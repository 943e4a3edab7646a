/** Imports: files of events or contacts that are stored once, and can be removed together. */
import * as z from 'zod';
import { batchContact, contactStatuses, hasKey, keyProblem } from './contact.ts';
import * as field from './fields.ts';
import { limits } from './limits.ts';
import { count, isoTime, problem, response, responseText, text } from './response.ts';

const importKinds = ['events', 'contacts'] as const;
export type ImportKind = (typeof importKinds)[number];
const importStates = ['running', 'complete', 'undoing', 'undone'] as const;
export type ImportState = (typeof importStates)[number];

const importName = field.describe(
  field.nameInLine.refine((name) => name !== '', field.required).meta({ minLength: 1 }),
  'The file’s name.',
  'events-2026-11.jsonl',
);
const importKind = field.describe(field.oneOf(importKinds), 'What the file contains.', 'events');

const fingerprintForm = 'must be 64 lowercase hexadecimal digits';
const fingerprint = field.describe(
  z.string(field.errorMessage(fingerprintForm)).regex(/^[\da-f]{64}$/, fingerprintForm),
  "The SHA-256 of the file's content: for each kind, the same content is imported only once.",
  '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
);

const position = field.describe(
  field.integer(0, Number.MAX_SAFE_INTEGER),
  'How many messages have already been sent.',
  0,
);

const importEntry = z.object({
  importID: responseText(field.importID),
  kind: field.describe(z.enum(importKinds), 'What the file contains.', 'events'),
  importName: responseText(importName),
  state: field.describe(
    z.enum(importStates),
    'Whether the import is `running`, `complete`, `undoing` or `undone`. An import that was interrupted is `running`.',
    'complete',
  ),
  position: count('How many of the file’s records have been sent so far: the position of the next record.', 1_200),
  imported: count('How many records were stored.', 1_190),
  repeated: count(
    'How many messages were already stored, according to their messageId; for contacts, how many already had the given values.',
    8,
  ),
  refused: count('How many records were rejected.', 2),
  kept: count(
    'After an undo: how many contacts that the import created were kept, because something else has changed or uses them.',
    0,
  ),
  createdTime: isoTime('When the import began.'),
  undoneTime: isoTime('When the undo began. Absent until then.', '2026-11-02T12:00:00.000Z').optional(),
});

export const createImportInput = z.object({ kind: importKind, importName, fingerprint });
export const createImportOutput = response(importEntry.shape);

const required = 'is required unless `dryRun` is true';
const { userUUID: _, ...importFields } = batchContact.shape;

export const importEventsInput = z
  .object({
    importID: field.optional(field.importID),
    position: field.optional(position),
    message: field.describe(
      field.list(z.unknown(), limits.messagesPerImport),
      `Up to ${limits.messagesPerImport} messages of Segment's HTTP API, oldest first.`,
      [{ type: 'track', event: 'Bought', userId: 'u-1', messageId: 'm-1042', timestamp: '2025-03-01T12:00:00Z' }],
    ),
    isLast: field.describe(
      field.optional(field.flag),
      'Whether these are the file’s last messages, which completes the import.',
      true,
    ),
    dryRun: field.describe(
      field.optional(field.flag),
      'Only checks the messages, and stores nothing. Then `importID` and `position` are not required.',
      true,
    ),
  })
  .refine(({ importID, dryRun }) => dryRun || importID !== undefined, { path: ['importID'], message: required })
  .refine(({ position, dryRun }) => dryRun || position !== undefined, { path: ['position'], message: required });

const refusal = z.object({
  index: count('The message’s index in the request.', 3),
  error: problem,
});

export const importEventsOutput = response({
  position: count('The import’s position: send the next messages from here.', 1_200),
  imported: count('The number of these messages that were stored or, with `dryRun`, would be.', 997),
  repeated: count('How many of these messages were already stored, according to their messageId.', 1),
  refused: count('How many of these messages were rejected.', 2),
  refusal: z.array(refusal).describe('The reasons for the rejections.'),
});

/** One contact of importContacts. */
export const importedContact = z
  .object(
    {
      ...importFields,
      contactProfileID: field.optional(importFields.contactProfileID),
      contactStatus: field.optional(field.oneOf(contactStatuses)).describe("The contact's status."),
    },
    field.errorMessage('must be an object', 'object'),
  )
  .refine(hasKey, keyProblem)
  .meta({ example: { contactEmailaddress: 'ann@shop.example', contactFirstname: 'Ann', contactTagID: 'vip' } });

export const importContactsInput = z
  .object({
    importID: field.optional(field.importID),
    position: field.optional(position).describe('How many contacts have already been sent.'),
    contact: field
      .list(z.unknown(), limits.contactsPerBatch)
      .describe(`Up to ${limits.contactsPerBatch} contacts, in file order.`),
    contactProfileID: field
      .optional(importFields.contactProfileID)
      .describe('The profile for new contacts that don’t specify one.'),
    isLast: field.describe(
      field.optional(field.flag),
      'Whether these are the file’s last contacts, which completes the import.',
      true,
    ),
    dryRun: field.describe(
      field.optional(field.flag),
      'Only returns how many contacts would be created, changed and rejected. Then `importID` and `position` are not required.',
      true,
    ),
  })
  .refine(({ importID, dryRun }) => dryRun || importID !== undefined, { path: ['importID'], message: required })
  .refine(({ position, dryRun }) => dryRun || position !== undefined, { path: ['position'], message: required });

export const importContactsOutput = response({
  position: count('The import’s position: send the next contacts from here.', 1_200),
  created: count('How many of these contacts were created or, with `dryRun`, would be.', 900),
  changed: count('How many of these contacts already existed and were changed.', 90),
  unchanged: count('How many of these contacts already existed with the given values.', 8),
  refused: count('How many of these contacts were rejected.', 2),
  refusal: z
    .array(z.object({ index: count('The contact’s index in the request.', 3), error: problem }))
    .describe('The reason for each rejection.'),
});

export const listImportsInput = z.object({
  kind: field.optional(importKind).describe('Only imports of this kind.'),
  limit: field.optional(field.pageLimit(limits.importsPerPage)),
  cursor: field.optional(field.cursor),
});
export const listImportsOutput = response({
  import: z.array(importEntry).describe('The imports, newest first.'),
  nextCursor: text('The cursor of the next page; "" on the last page.', ''),
});

export const undoImportInput = z.object({ importID: field.importID });
export const undoImportOutput = response(importEntry.shape);
