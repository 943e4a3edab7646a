/** Reads files from other analytics tools. Runs in browsers and on Node. */

export {
  type ColumnMapping,
  type ContactTarget,
  contactTargets,
  isContactTarget,
  mapColumns,
} from './contacts/columns.ts';
export {
  type ContactCounts,
  checkContacts,
  importContacts,
  type RefusedRow,
} from './contacts/import-contacts.ts';
export { type ContactFile, type ContactReading, readContacts } from './contacts/read-contacts.ts';
export { createRefusedTable } from './contacts/refused-table.ts';
export { hashStream } from './files/hash-stream.ts';
export { readRecords, type Source } from './files/read-records.ts';
export { UnreadableFileError } from './files/record.ts';
export type { Message, Outcome, SkipReason } from './formats/format.ts';
export { type FormatName, findFormat, formatNames, formats } from './formats.ts';
export { type EventCounts, importEvents } from './import-events.ts';
export { detectFormat, type Reading, readMessages } from './read-messages.ts';
