/** A record of a file. */
export interface SizedRecord {
  /** The length as JSON, in characters. */
  readonly length: number;
  /** Whether the record creates or changes a contact. */
  readonly writesContact: boolean;
}

const maxRecords = 1_000;
/** With PostgreSQL, the account's other writes wait for each batch, and each contact takes some twenty statements. */
const maxContacts = 100;

/**
 * The maximum length of a batch and of a record, in characters of JSON. Each may be four bytes long, and requests are
 * limited to 1 MiB.
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
  let [length, contacts] = [0, 0];
  let recordsRead = 0;
  for await (const record of records) {
    recordsRead += 1;
    if (recordsRead <= position) continue;
    const isFull =
      batch.length === maxRecords ||
      contacts === maxContacts ||
      (batch.length > 0 && length + record.length > maxLength);
    if (isFull) {
      yield { batch, isLast: false };
      batch = [];
      [length, contacts] = [0, 0];
    }
    batch.push(record);
    length += record.length;
    if (record.writesContact) contacts += 1;
  }
  yield { batch, isLast: true };
}
