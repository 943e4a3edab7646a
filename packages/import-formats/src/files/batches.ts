/** A record of a file, with its length as JSON in characters. */
export interface SizedRecord {
  readonly length: number;
}

interface BatchOptions {
  /** How many records were sent before. */
  readonly position: number;
  readonly maxRecords: number;
}

/**
 * The maximum length of a batch and of a record, in characters of JSON. Each may be four bytes long, and requests are
 * limited to 1 MiB.
 */
export const maxLength = 200_000;

/** Groups the records of a file, from `position` on, into one batch per request. The last batch may be empty. */
export async function* toBatches<Each extends SizedRecord>(
  records: AsyncIterable<Each>,
  { position, maxRecords }: BatchOptions,
): AsyncGenerator<{ readonly batch: readonly Each[]; readonly isLast: boolean }> {
  let batch: Each[] = [];
  let length = 0;
  let recordsRead = 0;
  for await (const record of records) {
    recordsRead += 1;
    if (recordsRead <= position) continue;
    if (batch.length === maxRecords || (batch.length > 0 && length + record.length > maxLength)) {
      yield { batch, isLast: false };
      batch = [];
      length = 0;
    }
    batch.push(record);
    length += record.length;
  }
  yield { batch, isLast: true };
}
