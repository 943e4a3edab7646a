/**
 * The queue of records without a verdict yet, shared by tabs and visits. Each record has a key in storage, because a single list
 * would lose writes when several tabs change it. A key is `firsthand:`, the record's eventUUID and the token, so keys sort by time.
 * Only a verdict or the queue's bounds remove a record, never its age: the clock may have been wrong.
 */
import { warn } from '../warn.ts';
import { copies, removeStored, writeStored } from './storage.ts';

/** An event for logEvents, or a body of createContact, as JSON without token and user. */
export type StoredRecord = string;

/** The keys of the records that are being sent, or have a verdict. */
export const taken: Record<string, unknown> = {};

const droppedKey = 'firsthand.dropped';

/** How much this browser has dropped or cut so far; undefined for nothing. */
export const droppedCount = (): string | undefined => copies[droppedKey];

/** Counts an event, or a part of one, that is lost. */
export const countDropped = (): void => {
  // `-~` adds one, to text too. The count is stored later, because a page that logs in a loop would wait for each write.
  copies[droppedKey] = -~(copies[droppedKey] as unknown as number) as unknown as string;
};

/** The keys of the queued records of this token ('': of any), oldest first. */
export const queuedKeys = (token: string): string[] => {
  const keys: string[] = [];
  for (const key of Object.keys(copies)) if (/^firsthand:/.test(key) && key.endsWith(token)) keys.push(key);
  return keys;
};

/** Drops the oldest records beyond the queue's bounds, except those being sent. */
export const dropSurplus = (): void => {
  const maxRecords = 500;
  const maxCharacters = 256 * 1024;
  let records = 0;
  let characters = 0;
  for (const key of queuedKeys('').reverse())
    if (!taken[key]) {
      records++;
      characters += (copies[key] as string).length;
      if (records > maxRecords || characters > maxCharacters) {
        removeStored(key);
        countDropped();
        warn('full');
      }
    }
  if (copies[droppedKey]) writeStored(droppedKey, copies[droppedKey]);
};
