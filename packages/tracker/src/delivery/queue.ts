/**
 * The queue of records without a final response, shared by tabs and visits. Only a final response or the queue's limits
 * remove a record, never its age: the clock may have been wrong.
 *
 * A key is `firsthand:`, the eventUUID and the token, so keys sort by time. Each record has its own key, because tabs
 * would overwrite each other's changes to a single list.
 */
import { warn } from '../warn.ts';
import { copies, removeItem, writeItem } from './storage.ts';

/** An event for logEvents, or a request body for createContact, as JSON without the token and the user. */
export type StoredRecord = string;

/** Keys of records that are in flight or already have a final response. */
export const inFlight: Record<string, unknown> = {};

const droppedKey = 'firsthand.dropped';

/** Returns how many events and values this browser has dropped or cut so far; undefined if none. */
export const readDroppedCount = (): string | undefined => copies[droppedKey];

/** Counts a dropped event or a cut value. */
export const countDropped = (): void => {
  // `-~` adds one, even to a string. The count is stored later, because otherwise a page that logs in a loop would wait
  // for each write.
  copies[droppedKey] = -~(copies[droppedKey] as unknown as number) as unknown as string;
};

/** Lists the keys of this token's queued records ('': any token), oldest first. */
export const listQueuedKeys = (token: string): string[] => {
  const keys: string[] = [];
  for (const key of Object.keys(copies)) if (/^firsthand:/.test(key) && key.endsWith(token)) keys.push(key);
  return keys;
};

/** Drops the oldest records beyond the queue's bounds, except those in flight. */
export const dropSurplus = (): void => {
  const maxRecords = 500;
  const maxCharacters = 256 * 1024;
  let records = 0;
  let characters = 0;
  for (const key of listQueuedKeys('').reverse())
    if (!inFlight[key]) {
      records++;
      characters += (copies[key] as string).length;
      if (records > maxRecords || characters > maxCharacters) {
        removeItem(key);
        countDropped();
        warn('full');
      }
    }
  if (copies[droppedKey]) writeItem(droppedKey, copies[droppedKey]);
};
