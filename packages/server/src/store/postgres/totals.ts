/**
 * How many events there are of each kind and day. Each connection counts in rows of its own slot, so that none waits for
 * another to commit; whoever reads sums them up.
 */
import type { Transaction } from './transaction.ts';

export const quarterMilliseconds = 900_000;

/** That of what was deleted: its counts are below 0. */
const slotOfDeleted = 0;

export interface CountedEvent {
  readonly account: number;
  readonly day: number;
  readonly sequence: number;
  readonly eventID: number;
  readonly eventTime: number;
}

interface Sum {
  readonly account: number;
  /** Its eventID and quarter, or its day. */
  readonly of: readonly number[];
  count: number;
  firstTime: number;
  lastTime: number;
  firstSequence: number;
  lastSequence: number;
}

const sumsOf = (events: readonly CountedEvent[], keyOf: (event: CountedEvent) => number[]): Sum[] => {
  const sums = new Map<string, Sum>();
  for (const event of events) {
    const { account, sequence, eventTime } = event;
    const of = keyOf(event);
    const key = `${account} ${of.join(' ')}`;
    const sum = sums.get(key);
    if (sum) {
      sum.count += 1;
      sum.firstTime = Math.min(sum.firstTime, eventTime);
      sum.lastTime = Math.max(sum.lastTime, eventTime);
      sum.firstSequence = Math.min(sum.firstSequence, sequence);
      sum.lastSequence = Math.max(sum.lastSequence, sequence);
    } else {
      const bounds = { firstTime: eventTime, lastTime: eventTime, firstSequence: sequence, lastSequence: sequence };
      sums.set(key, { account, of, count: 1, ...bounds });
    }
  }
  return [...sums.values()];
};

const kindAndQuarter = ({ eventID, eventTime }: CountedEvent) => [eventID, Math.floor(eventTime / quarterMilliseconds)];

const addTotals = `
  INSERT INTO event_total (account, "eventID", quarter, slot, count, "firstTime", "lastTime")
  SELECT account, "eventID", quarter, $1, count, "firstTime", "lastTime"
  FROM unnest($2::integer[], $3::integer[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
    AS added (account, "eventID", quarter, count, "firstTime", "lastTime")
  ON CONFLICT (account, "eventID", quarter, slot) DO UPDATE SET count = event_total.count + excluded.count,
    "firstTime" = least(event_total."firstTime", excluded."firstTime"),
    "lastTime" = greatest(event_total."lastTime", excluded."lastTime")`;

const addDays = `
  INSERT INTO account_day (account, day, slot, count, "firstSequence", "lastSequence", "firstTime", "lastTime")
  SELECT account, day, $1, count, "firstSequence", "lastSequence", "firstTime", "lastTime"
  FROM unnest($2::integer[], $3::integer[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[])
    AS added (account, day, count, "firstSequence", "lastSequence", "firstTime", "lastTime")
  ON CONFLICT (account, day, slot) DO UPDATE SET count = account_day.count + excluded.count,
    "firstSequence" = least(account_day."firstSequence", excluded."firstSequence"),
    "lastSequence" = greatest(account_day."lastSequence", excluded."lastSequence"),
    "firstTime" = least(account_day."firstTime", excluded."firstTime"),
    "lastTime" = greatest(account_day."lastTime", excluded."lastTime")`;

/** Counts events that were kept in this transaction. */
export const addToTotals = (db: Transaction, events: readonly CountedEvent[]): Promise<unknown> => {
  const totals = sumsOf(events, kindAndQuarter);
  const days = sumsOf(events, ({ day }) => [day]);
  return Promise.all([
    db.run(addTotals, [
      db.slot,
      totals.map(({ account }) => account),
      totals.map(({ of }) => of[0]),
      totals.map(({ of }) => of[1]),
      totals.map(({ count }) => count),
      totals.map(({ firstTime }) => firstTime),
      totals.map(({ lastTime }) => lastTime),
    ]),
    db.run(addDays, [
      db.slot,
      days.map(({ account }) => account),
      days.map(({ of }) => of[0]),
      days.map(({ count }) => count),
      days.map(({ firstSequence }) => firstSequence),
      days.map(({ lastSequence }) => lastSequence),
      days.map(({ firstTime }) => firstTime),
      days.map(({ lastTime }) => lastTime),
    ]),
  ]);
};

/**
 * Takes events that were deleted in this transaction out of the counts. Which one is a quarter's first or last now isn't
 * looked for: the times that stand there then lie outside of the quarter. Those of a day stay.
 */
export const takeFromTotals = (db: Transaction, events: readonly CountedEvent[]): Promise<unknown> => {
  const totals = sumsOf(events, kindAndQuarter);
  const days = sumsOf(events, ({ day }) => [day]);
  const nothing = days.map(() => null);
  return Promise.all([
    db.run(addTotals, [
      slotOfDeleted,
      totals.map(({ account }) => account),
      totals.map(({ of }) => of[0]),
      totals.map(({ of }) => of[1]),
      totals.map(({ count }) => -count),
      totals.map(({ of }) => (of[1] as number) * quarterMilliseconds - 1),
      totals.map(({ of }) => ((of[1] as number) + 1) * quarterMilliseconds),
    ]),
    db.run(addDays, [
      slotOfDeleted,
      days.map(({ account }) => account),
      days.map(({ of }) => of[0]),
      days.map(({ count }) => -count),
      nothing,
      nothing,
      nothing,
      nothing,
    ]),
  ]);
};
