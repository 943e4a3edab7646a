/**
 * Rollups: the counts of events of each eventID and day. Each connection adds to rows of its own slot, so that none waits for
 * another's commit; reads add up the rows of all slots.
 */
import { quarterMilliseconds, quarterOf } from '../../rules/quarter.ts';
import { bigints, integers } from '../database/arrays.ts';
import type { Transaction } from '../transactions/transaction.ts';

/** The slot of deleted events: its counts are negative. */
const slotOfDeleted = 0;

export interface CountedEvent {
  readonly account: number;
  readonly day: number;
  readonly sequence: number;
  readonly eventID: number;
  readonly eventTime: number;
  /** The stored bytes of the event; absent for a deleted event. */
  readonly bytes?: number;
}

/** The sum of several events: their common columns, their count, and the range of their times and sequences. */
interface Sum {
  readonly account: number;
  readonly eventID: number;
  readonly quarter: number;
  readonly day: number;
  count: number;
  bytes: number;
  firstTime: number;
  lastTime: number;
  firstSequence: number;
  lastSequence: number;
}

const branch = <Key, Value>(tree: Map<Key, Map<Key, Value>>, key: Key): Map<Key, Value> => {
  const found = tree.get(key) ?? new Map<Key, Value>();
  tree.set(key, found);
  return found;
};

/** Adds up the events of an account that have the same two numbers, `first` and `second`. */
const sumsOf = (events: readonly CountedEvent[], first: (event: CountedEvent) => number, second = first): Sum[] => {
  const sums: Sum[] = [];
  const tree = new Map<number, Map<number, Map<number, Sum>>>();
  for (const event of events) {
    const { account, day, sequence, eventID, eventTime, bytes = 0 } = event;
    const ofFirst = branch(branch(tree, account), first(event));
    const key = second(event);
    const sum = ofFirst.get(key);
    if (sum) {
      sum.count += 1;
      sum.bytes += bytes;
      sum.firstTime = Math.min(sum.firstTime, eventTime);
      sum.lastTime = Math.max(sum.lastTime, eventTime);
      sum.firstSequence = Math.min(sum.firstSequence, sequence);
      sum.lastSequence = Math.max(sum.lastSequence, sequence);
    } else {
      const bounds = { firstTime: eventTime, lastTime: eventTime, firstSequence: sequence, lastSequence: sequence };
      const begun = { account, eventID, quarter: quarterOf(eventTime), day, count: 1, bytes, ...bounds };
      ofFirst.set(key, begun);
      sums.push(begun);
    }
  }
  return sums;
};

const sumsByEventID = (events: readonly CountedEvent[]) =>
  sumsOf(
    events,
    ({ eventTime }) => quarterOf(eventTime),
    ({ eventID }) => eventID,
  );
const sumsByDay = (events: readonly CountedEvent[]) => sumsOf(events, ({ day }) => day);

const addTotals = `
  INSERT INTO event_total (account, "eventID", quarter, slot, count, "firstTime", "lastTime")
  SELECT account, "eventID", quarter, $1, count, "firstTime", "lastTime"
  FROM unnest($2::integer[], $3::integer[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
    AS added (account, "eventID", quarter, count, "firstTime", "lastTime")
  ON CONFLICT (account, "eventID", quarter, slot) DO UPDATE SET count = event_total.count + excluded.count,
    "firstTime" = least(event_total."firstTime", excluded."firstTime"),
    "lastTime" = greatest(event_total."lastTime", excluded."lastTime")`;

const addDays = `
  INSERT INTO account_day (account, day, slot, count, bytes, "firstSequence", "lastSequence", "firstTime", "lastTime")
  SELECT account, day, $1, count, bytes, "firstSequence", "lastSequence", "firstTime", "lastTime"
  FROM unnest($2::integer[], $3::integer[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
    $9::bigint[])
    AS added (account, day, count, bytes, "firstSequence", "lastSequence", "firstTime", "lastTime")
  ON CONFLICT (account, day, slot) DO UPDATE SET count = account_day.count + excluded.count,
    bytes = account_day.bytes + excluded.bytes,
    "firstSequence" = least(account_day."firstSequence", excluded."firstSequence"),
    "lastSequence" = greatest(account_day."lastSequence", excluded."lastSequence"),
    "firstTime" = least(account_day."firstTime", excluded."firstTime"),
    "lastTime" = greatest(account_day."lastTime", excluded."lastTime")`;

/** Adds the events that this transaction stored to the rollups. */
export const addToRollups = (db: Transaction, events: readonly CountedEvent[]): Promise<unknown> => {
  const rollups = sumsByEventID(events);
  const days = sumsByDay(events);
  return Promise.all([
    db.run(addTotals, [
      db.slot,
      integers(rollups, ({ account }) => account),
      integers(rollups, ({ eventID }) => eventID),
      bigints(rollups, ({ quarter }) => quarter),
      bigints(rollups, ({ count }) => count),
      bigints(rollups, ({ firstTime }) => firstTime),
      bigints(rollups, ({ lastTime }) => lastTime),
    ]),
    db.run(addDays, [
      db.slot,
      integers(days, ({ account }) => account),
      integers(days, ({ day }) => day),
      bigints(days, ({ count }) => count),
      bigints(days, ({ bytes }) => bytes),
      bigints(days, ({ firstSequence }) => firstSequence),
      bigints(days, ({ lastSequence }) => lastSequence),
      bigints(days, ({ firstTime }) => firstTime),
      bigints(days, ({ lastTime }) => lastTime),
    ]),
  ]);
};

/**
 * Subtracts the events that this transaction deleted. The first and last times of the remaining events in a quarter are not
 * computed: times outside of the quarter are stored, so that reads look at the events. The times and bytes of a day stay: reads
 * assume that each deleted event had the average bytes of its day (usage.ts).
 */
export const takeFromRollups = (db: Transaction, events: readonly CountedEvent[]): Promise<unknown> => {
  const rollups = sumsByEventID(events);
  const days = sumsByDay(events);
  const nothing = bigints(days, () => null);
  return Promise.all([
    db.run(addTotals, [
      slotOfDeleted,
      integers(rollups, ({ account }) => account),
      integers(rollups, ({ eventID }) => eventID),
      bigints(rollups, ({ quarter }) => quarter),
      bigints(rollups, ({ count }) => -count),
      bigints(rollups, ({ quarter }) => quarter * quarterMilliseconds - 1),
      bigints(rollups, ({ quarter }) => (quarter + 1) * quarterMilliseconds),
    ]),
    db.run(addDays, [
      slotOfDeleted,
      integers(days, ({ account }) => account),
      integers(days, ({ day }) => day),
      bigints(days, ({ count }) => -count),
      bigints(days, () => 0),
      ...[nothing, nothing, nothing, nothing],
    ]),
  ]);
};
