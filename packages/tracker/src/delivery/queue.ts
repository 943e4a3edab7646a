/**
 * The queue of records without a response yet, shared by tabs and visits. Each record has a key in storage, because a single list
 * would lose writes when several tabs change it. A key is `firsthand:`, the record's eventUUID and the token, so keys sort by time.
 */
import type { limits } from '@firsthand/contract/limits';
import { note } from '../note.ts';
import { timeOf } from '../records/event-uuid.ts';
import { ourKeys, stored, writeStored } from './storage.ts';

/** An event for logEvents, or a body of createContact, as JSON without token and user. */
export type StoredRecord = string;

const droppedKey = 'firsthand.dropped';

/** The number of records that this browser has dropped so far, for lack of room or for their age; undefined for none. */
export const droppedCount = (): string | undefined => stored[droppedKey];

export const countDropped = (): void => {
  // `-~` adds one, to text too. localStorage stores the number as text; in memory it stays a number, as attributes may be.
  writeStored(droppedKey, -~(stored[droppedKey] as unknown as number) as unknown as string);
};

/**
 * The keys of the queued records of this token ('': of any), oldest first. It first removes the records that are older than 7 days
 * (for which the service no longer recognizes a repeat), and then the oldest of those beyond the queue's bounds.
 */
export const queuedKeys = (token: string): string[] => {
  const days: (typeof limits)['repeatDays'] = 7;
  const recordsAtMost = 500;
  const charactersAtMost = 256 * 1024;
  let characters = 0;
  return Object.keys(ourKeys)
    .filter((key) => /^firsthand:/.test(key) && (stored[key] || !delete ourKeys[key]))
    .sort()
    .reverse()
    .filter((key, index) => {
      characters += (stored[key] as string).length;
      if (index < recordsAtMost && characters < charactersAtMost && timeOf(key.slice(10)) > Date.now() - days * 864e5)
        return key.endsWith(token);
      note('full', key);
      delete stored[key];
      countDropped();
      return false;
    })
    .reverse();
};
