/** A record of a file. */
export interface SizedRecord {
  /** The length as JSON, in characters. */
  readonly length: number;
  /** Identifies the contact that the record may create or change; undefined if there is none. */
  readonly contactKey: string | undefined;
}

const maxRecords = 1_000;
/** With PostgreSQL, the account's other writes wait for each batch, and each contact takes some twenty statements. */
const maxContacts = 100;

/**
 * The maximum length of a batch and of a record, in characters of JSON. A character may be four bytes long,
 * and requests are limited to 1 MiB.
 */
export const maxLength = 200_000;

/**
 * Groups the records of a file into one batch per request. Leaves out the first `position` records, which were sent
 * before. The last batch may be empty.
 */
export async function* toBatches<Each extends SizedRecord>(
  records: AsyncIterable<Each>,
  position: number,
): AsyncGenerator<{ readonly batch: readonly Each[]; readonly isLast: boolean }> {
  let batch: Each[] = [];
  let length = 0;
  const contacts = new Set<string>();
  let recordsRead = 0;
  for await (const record of records) {
    recordsRead += 1;
    if (recordsRead <= position) continue;
    const isFull =
      batch.length === maxRecords ||
      contacts.size === maxContacts ||
      (batch.length > 0 && length + record.length > maxLength);
    if (isFull) {
      yield { batch, isLast: false };
      batch = [];
      length = 0;
      contacts.clear();
    }
    batch.push(record);
    length += record.length;
    if (record.contactKey !== undefined) contacts.add(record.contactKey);
  }
  yield { batch, isLast: true };
}
