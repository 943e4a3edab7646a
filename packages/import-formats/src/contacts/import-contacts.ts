/** Sends a file's contacts to importContacts, in batches. */
import { type BatchResponse, maxLength, sendBatches } from '../files/batches.ts';
import type { Source } from '../files/read-records.ts';
import type { Row } from '../files/record.ts';
import type { ColumnMapping, ContactTarget } from './columns.ts';
import { type ContactFile, type ContactReading, readContacts } from './read-contacts.ts';
import { columnOf, type ImportedContact } from './to-contact.ts';

export interface ContactCounts {
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly refused: number;
}

export interface ContactBatch {
  readonly position: number;
  readonly contact: ImportedContact[];
  readonly isLast: boolean;
}

/** A row that was not imported. */
export interface RefusedRow {
  readonly line: number;
  readonly column: string;
  readonly reason: string;
  readonly row: Row;
}

export interface ContactImport {
  /** Opens the file from its start. */
  readonly open: () => Source;
  readonly columns?: ReadonlyMap<string, ContactTarget | undefined>;
  /** How many of the file's contacts have already been sent. */
  readonly position: number;
  readonly send: (batch: ContactBatch) => Promise<BatchResponse & ContactCounts>;
  readonly onRefused: (row: RefusedRow, file: ContactFile) => void;
  readonly onProgress?: (counts: ContactCounts) => void;
}

/**
 * Reads the file to its end. Returns how many contacts it has, and the settings for reading them: an import's
 * fingerprint is the SHA-256 of `settings` and the file's content. Rejects with an UnreadableFileError.
 */
export const checkContacts = async (
  { open, columns }: Pick<ContactImport, 'open' | 'columns'>,
  contactProfileID: string | null = null,
): Promise<{ readonly contacts: number; readonly settings: string }> => {
  let contacts = 0;
  let mapping: ColumnMapping = new Map();
  for await (const reading of readContacts(open(), columns)) {
    mapping = reading.file.columns;
    if ('contact' in reading) contacts += 1;
  }
  return { contacts, settings: JSON.stringify([[...mapping], contactProfileID]) };
};

/**
 * Imports the contacts from `position` on. Returns how many were created, changed and refused. `unreadable` is the
 * number of refused rows that could not be sent.
 */
export const importContacts = async ({
  open,
  columns = new Map(),
  position,
  send,
  onRefused,
  onProgress,
}: ContactImport): Promise<ContactCounts & { readonly unreadable: number }> => {
  let counts = { created: 0, changed: 0, unchanged: 0, refused: 0 };
  let unreadable = 0;
  const refuse = (reading: ContactReading & { readonly file: ContactFile }, column: string, reason: string): void => {
    unreadable += 1;
    counts = { ...counts, refused: counts.refused + 1 };
    onRefused({ line: reading.line, column, reason, row: reading.row ?? {} }, reading.file);
  };
  const readSized = async function* () {
    for await (const reading of readContacts(open(), columns)) {
      if (!('contact' in reading)) {
        refuse(reading, reading.column ?? '', reading.problem);
        continue;
      }
      const { length } = JSON.stringify(reading.contact);
      // Omits the cells, which would make the message just as long.
      if (length > maxLength) refuse({ ...reading, row: {} }, '', `the row is longer than ${maxLength} characters`);
      else yield { ...reading, length, contactKey: `line ${reading.line}` };
    }
  };

  const sent = sendBatches(readSized(), position, (batch, place) =>
    send({ ...place, contact: batch.map(({ contact }) => contact) }),
  );
  for await (const { batch, response } of sent) {
    for (const { index, error } of response.refusal) {
      const { line, row = {}, contact, file } = batch[index] as (typeof batch)[number];
      const column = error.field === undefined ? undefined : columnOf(file.columns, contact, error.field);
      // The column replaces the field name.
      const reason = column === undefined ? error.message : error.message.replace(/^`[^`]+` /, '');
      onRefused({ line, column: column ?? '', reason, row }, file);
    }
    counts = {
      created: counts.created + response.created,
      changed: counts.changed + response.changed,
      unchanged: counts.unchanged + response.unchanged,
      refused: counts.refused + response.refused,
    };
    onProgress?.(counts);
  }
  return { ...counts, unreadable };
};
