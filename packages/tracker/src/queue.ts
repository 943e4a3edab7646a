/**
 * What has not been answered yet, across tabs and visits: a key in storage for each record, because one list under one
 * key loses writes when several tabs change it. A key is `firsthand:`, the record's eventUUID, the token: keys sort by time.
 */
import type { limits } from '@firsthand/contract/limits';
import { timeOf } from './eventUUID.ts';
import { note } from './note.ts';
import { stored, writeStored } from './storage.ts';

/** An event as it goes into logEvents, or a createContact body, both as JSON without token and user. */
export type StoredRecord = string;

const droppedKey = 'firsthand.dropped';

/** How many records this browser has dropped so far, for want of room or for their age; undefined for none. */
export const droppedCount = (): string | undefined => stored[droppedKey];

export const countDropped = (): void => {
  // Of text too, `-~` is one more.
  writeStored(droppedKey, `${-~(stored[droppedKey] as unknown as number)}`);
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
  return Object.keys(stored)
    .filter((key) => /^firsthand:/.test(key))
    .sort()
    .reverse()
    .filter((key, index) => {
      const record = stored[key] as string;
      characters += record.length;
      if (index < recordsAtMost && characters < charactersAtMost && timeOf(key.slice(10)) > Date.now() - days * 864e5)
        return key.endsWith(token);
      delete stored[key];
      note('dropped, no room:', record);
      countDropped();
      return false;
    })
    .reverse();
};

/** Keeps a record, before anything else happens to it. Answers its key. */
export const enqueue = (eventUUID: string, token: string, record: StoredRecord): string => {
  const key = `firsthand:${eventUUID}${token}`;
  writeStored(key, record);
  queuedKeys(token);
  return key;
};

/**
 * Writes into every queued record whose it is. Until then it is that of the user who sends it, so that two tabs opened at
 * once in a new browser can log before it is settled who they are.
 */
export const claimQueued = (userUUID: string): void => {
  for (const key of queuedKeys('')) {
    const record = stored[key] as string;
    // The text can't be inside a value: there, its quotes are escaped.
    if (!/"userUUID":/.test(record)) writeStored(key, `${record.slice(0, -1)},"userUUID":"${userUUID}"}`);
  }
};
