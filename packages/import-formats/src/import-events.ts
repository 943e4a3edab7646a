/** Sends a file's messages to importEvents, in batches. */
import { type BatchResponse, maxLength, sendBatches } from './files/batches.ts';
import type { Message, SkipReason } from './formats/format.ts';
import type { Reading } from './read-messages.ts';

export interface EventCounts {
  readonly imported: number;
  readonly repeated: number;
  readonly refused: number;
  /** How many rows are deliberately left out, by reason. */
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
}

export interface EventBatch {
  readonly position: number;
  readonly message: Message[];
  readonly isLast: boolean;
}

export interface EventImport {
  /** All of the file's readings, from its start. */
  readonly readings: AsyncIterable<Reading>;
  /** How many of the file's messages have already been sent. */
  readonly position: number;
  readonly send: (batch: EventBatch) => Promise<BatchResponse & Pick<EventCounts, 'imported' | 'repeated'>>;
  /** Called for rows that can't be read, and for refused messages. */
  readonly onRefused: (line: number, reason: string) => void;
  readonly onProgress?: (counts: EventCounts) => void;
}

/** Identifies the contact that a message may create or change, if there is one. */
const contactKeyOf = ({ line, message }: { readonly line: number; readonly message: Message }): string | undefined => {
  const { type, userId } = message;
  if (typeof userId === 'string' || typeof userId === 'number') return `user ${userId}`;
  return type === 'identify' || type === 'alias' ? `line ${line}` : undefined;
};

/**
 * Imports the messages from `position` on. Returns how many were stored, repeated, refused and left out. `unreadable`
 * is the number of refused rows that could not be sent. Rejects with an UnreadableFileError; messages that were sent
 * before the error stay stored.
 */
export const importEvents = async ({
  readings,
  position,
  send,
  onRefused,
  onProgress,
}: EventImport): Promise<EventCounts & { readonly unreadable: number }> => {
  let [imported, repeated, refused, unreadable] = [0, 0, 0, 0];
  const skipped: Partial<Record<SkipReason, number>> = {};
  const countsNow = (): EventCounts => ({ imported, repeated, refused, skipped: { ...skipped } });
  const refuse = (line: number, reason: string): void => {
    refused += 1;
    unreadable += 1;
    onRefused(line, reason);
  };

  const readSized = async function* () {
    for await (const reading of readings) {
      if ('skipped' in reading) skipped[reading.skipped] = (skipped[reading.skipped] ?? 0) + 1;
      else if ('problem' in reading) refuse(reading.line, reading.problem);
      else {
        const { length } = JSON.stringify(reading.message);
        if (length > maxLength) refuse(reading.line, `the message is longer than ${maxLength} characters`);
        else yield { line: reading.line, message: reading.message, length, contactKey: contactKeyOf(reading) };
      }
    }
  };

  const sent = sendBatches(readSized(), position, (batch, place) =>
    send({ ...place, message: batch.map(({ message }) => message) }),
  );
  for await (const { batch, response } of sent) {
    imported += response.imported;
    repeated += response.repeated;
    refused += response.refused;
    for (const { index, error } of response.refusal) onRefused(batch[index]?.line ?? 0, error.message);
    onProgress?.(countsNow());
  }
  return { ...countsNow(), unreadable };
};
