/** What became of the events that a case has logged. `delivery-table.ts` prints it. */
import type { Client } from '@firsthand/client';
import { expect, type TestContext } from 'vitest';

export interface Tally {
  /** How often the case was done. */
  readonly times: number;
  readonly storedOnce: number;
  readonly lost: number;
  readonly twice: number;
  /** Read in order of eventTime, then eventUUID: how many come after one that was logged later in the same page. */
  readonly outOfOrder: number;
  /** Stored only once the browser had come back, where it should have been before. */
  readonly late: number;
  /** What else was measured, as text for the table. */
  readonly figure?: string;
}

declare module 'vitest' {
  interface TaskMeta {
    delivery?: Tally;
  }
}

/** What a page logs: its number among those of the same line, which are read back in the order of their numbers. */
interface Numbered {
  readonly line: number;
  readonly nth: number;
}

interface Stored extends Numbered {
  readonly userUUID: string;
}

const millisecondsPerDay = 86_400_000;

/** How many events an account has. */
export const countEvents = async (api: Client): Promise<number> => {
  const { count } = await api.countEvents({ from: Date.now() - millisecondsPerDay, interval: 'total' });
  return count.reduce((sum, { events }) => sum + events, 0);
};

/** All of an account's events in the order of eventTime, then eventUUID. */
export const readStored = async (api: Client): Promise<Stored[]> => {
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

/** Counts what is stored of each line's numbers, from 0 to its `counts`. */
export const countStored = (
  stored: readonly Numbered[],
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

/** Notes the tally for the table, and fails with `details` unless all of so many events were stored once, in order and in time. */
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
