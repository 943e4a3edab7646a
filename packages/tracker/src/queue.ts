/**
 * What has not been answered yet, across tabs and visits: a key in storage for each record, because one list under one
 * key loses writes when several tabs change it. A key is `firsthand:`, the record's eventUUID, the token: keys sort by time.
 */
import type { limits } from '@firsthand/contract/limits';
import { timeOf } from './eventUUID.ts';
import { note } from './note.ts';
import { ourKeys, stored, writeStored } from './storage.ts';

/** An event as it goes into logEvents, or a createContact body, both as JSON without token and user. */
export type StoredRecord = string;

const droppedKey = 'firsthand.dropped';

/** How many records this browser has dropped so far, for want of room or for their age; undefined for none. */
export const droppedCount = (): string | undefined => stored[droppedKey];

export const countDropped = (): void => {
  // Of text too, `-~` is one more. localStorage makes text of it; in memory it stays a number, which an attribute may be.
  writeStored(droppedKey, -~(stored[droppedKey] as unknown as number) as unknown as string);
};

/**
 * The keys of what waits for this token ('': any), oldest first. Before, makes what waits keep to its bounds: removes
 * what is older than 7 days (the service would no longer know a repeat), then the oldest of what is too much.
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
