/**
 * Counts how many of the events that a test case has logged were stored once, lost, stored twice or late.
 * `delivery-table.ts` prints the counts.
 */
import type { Client } from '@firsthand/client';
import { expect, type TestContext } from 'vitest';

export interface Tally {
  /** The number of repetitions. */
  readonly times: number;
  readonly storedOnce: number;
  readonly lost: number;
  readonly twice: number;
  /** How many events come after an event that the same page logged later, in order of eventTime, then eventUUID. */
  readonly outOfOrder: number;
  /** Events that were stored only after a later visit, but should have been stored earlier. */
  readonly late: number;
  /** Another measurement, as text for the table. */
  readonly figure?: string;
}

declare module 'vitest' {
  interface TaskMeta {
    delivery?: Tally;
  }
}

/** Each event's attributes: its number `nth` in a `line` of events that must be stored in order. */
interface NumberedEvent {
  readonly line: number;
  readonly nth: number;
}

interface StoredEvent extends NumberedEvent {
  readonly userUUID: string;
}

const millisecondsPerDay = 86_400_000;

/** Returns the number of an account's events. */
export const countEvents = async (api: Client): Promise<number> => {
  const { count } = await api.countEvents({ from: Date.now() - millisecondsPerDay, interval: 'total' });
  return count.reduce((sum, { events }) => sum + events, 0);
};

/** Returns all of an account's events in order of eventTime, then eventUUID. */
export const readStored = async (api: Client): Promise<StoredEvent[]> => {
  const all = [];
  let cursor: string | undefined;
  do {
    const { event, nextCursor } = await api.getEvent({ limit: 1000, ...(cursor && { cursor }) });
    all.push(...event);
    cursor = nextCursor;
  } while (cursor);
  return all
    .sort((a, b) => Date.parse(a.eventTime) - Date.parse(b.eventTime) || (a.eventUUID < b.eventUUID ? -1 : 1))
    .map(({ userUUID, eventAttrArray }) => {
      const attrs = Object.fromEntries(eventAttrArray.map(({ attrID, attrValue }) => [attrID, attrValue]));
      return { userUUID, line: Number(attrs.line), nth: Number(attrs.nth) };
    });
};

/** Adds up the results of all lines of events. `counts[n]` is the number of events that line n has logged. */
export const countStored = (
  stored: readonly NumberedEvent[],
  counts: readonly number[],
): Pick<Tally, 'storedOnce' | 'lost' | 'twice' | 'outOfOrder'> => {
  const sum = { storedOnce: 0, lost: 0, twice: 0, outOfOrder: 0 };
  counts.forEach((count, line) => {
    const numbers = stored.filter((each) => each.line === line).map(({ nth }) => nth);
    for (let nth = 0; nth < count; nth++) {
      const copies = numbers.filter((each) => each === nth).length;
      if (copies === 0) sum.lost++;
      else if (copies === 1) sum.storedOnce++;
      else sum.twice++;
    }
    sum.outOfOrder += numbers.filter((nth, index) => index > 0 && nth < Math.max(...numbers.slice(0, index))).length;
  });
  return sum;
};

/** Records the tally for the table. Fails with `details` unless every event was stored once, in order and in time. */
export const expectAllOnce = ({ task }: TestContext, tally: Tally, events: number, details = ''): void => {
  task.meta.delivery = tally;
  const { figure, ...counts } = tally;
  expect(counts, details).toEqual({
    times: tally.times,
    storedOnce: events,
    lost: 0,
    twice: 0,
    outOfOrder: 0,
    late: 0,
  });
};
