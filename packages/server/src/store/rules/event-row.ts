import type { EventValues } from '../store.ts';
import type { SentByServer } from './idempotency-keys.ts';

/** An event as SQLite stores it and as drivers copy it. `account`, `user` and `contact` are row numbers. */
export interface EventRow extends Omit<EventValues, 'timeReplaced'> {
  readonly sequence: number;
  readonly day: number;
  readonly account: number;
  readonly user: number | null;
  /** Set if the event was logged with a contactUUID. */
  readonly contact: number | null;
  readonly receivedTime: number;
  readonly timeReplaced: 0 | 1;
  /** Null if unknown, or if only the event's stored key reveals it. */
  readonly server: SentByServer;
}

/** Returns the length of an event's attributes in UTF-16 code units: nearly all of a large event's size. */
export const charactersOf = ({ attributes }: Pick<EventRow, 'attributes'>): number => {
  let characters = 0;
  for (const [attrID, value] of attributes) characters += attrID.length + value.length;
  return characters;
};
