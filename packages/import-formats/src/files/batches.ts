/** A record in a file. */
interface SizedRecord {
  /** The length as JSON, in characters. */
  readonly length: number;
  /** Identifies the contact that the record may create or change; undefined if there is none. */
  readonly contactKey: string | undefined;
}

const maxRecords = 1_000;
/** With PostgreSQL, the account's other writes wait for each batch, and each contact takes some twenty statements. */
const maxContacts = 100;

/**
 * The maximum length of a batch and of a record, in JSON characters. A character may be four bytes long, and requests
 * are limited to 1 MiB.
 */
export const maxLength = 200_000;

/** The part of a response that importEvents and importContacts have in common. */
export interface BatchResponse {
  readonly position: number;
  readonly refused: number;
  readonly refusal: readonly {
    readonly index: number;
    readonly error: { readonly message: string; readonly field?: string | undefined };
  }[];
}

/**
 * Groups a file's records into one batch per request. Skips the first `position` records, which have already been sent.
 * The last batch may be empty.
 */
async function* toBatches<Each extends SizedRecord>(
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

/** Sends a file's records in batches, from `position` on. Yields each batch with its response. */
export async function* sendBatches<Each extends SizedRecord, Response extends BatchResponse>(
  records: AsyncIterable<Each>,
  position: number,
  send: (batch: readonly Each[], place: { readonly position: number; readonly isLast: boolean }) => Promise<Response>,
): AsyncGenerator<{ readonly batch: readonly Each[]; readonly response: Response }> {
  let sent = position;
  for await (const { batch, isLast } of toBatches(records, position)) {
    const response = await send(batch, { position: sent, isLast });
    sent += batch.length;
    if (response.position !== sent)
      throw new Error('another program is importing this file. Start again when that import has finished');
    yield { batch, response };
  }
}
