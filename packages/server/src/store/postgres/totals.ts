/**
 * How many events there are of each kind and day. Each connection counts in rows of its own slot, so that none waits for
 * another to commit; whoever reads sums them up.
 */
import { bigints, integers } from './arrays.ts';
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
  /** What it takes; of one that was deleted it is not asked. */
  readonly bytes?: number;
}

/** What several events have in common, and between which times and sequences they lie. */
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

const quarterOf = (time: number): number => Math.floor(time / quarterMilliseconds);

/** Sums of events that have the same two numbers, beside their account. */
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

const sumsByKind = (events: readonly CountedEvent[]) =>
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

/** Counts events that were kept in this transaction. */
export const addToTotals = (db: Transaction, events: readonly CountedEvent[]): Promise<unknown> => {
  const totals = sumsByKind(events);
  const days = sumsByDay(events);
  return Promise.all([
    db.run(addTotals, [
      db.slot,
      integers(totals, ({ account }) => account),
      integers(totals, ({ eventID }) => eventID),
      bigints(totals, ({ quarter }) => quarter),
      bigints(totals, ({ count }) => count),
      bigints(totals, ({ firstTime }) => firstTime),
      bigints(totals, ({ lastTime }) => lastTime),
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
 * Takes events that were deleted in this transaction out of the counts. Which one is a quarter's first or last now isn't
 * looked for: the times that stand there then lie outside of the quarter. Those of a day stay,
 * and its bytes: each event that was deleted took the average of its day (usage.ts).
 */
export const takeFromTotals = (db: Transaction, events: readonly CountedEvent[]): Promise<unknown> => {
  const totals = sumsByKind(events);
  const days = sumsByDay(events);
  const nothing = bigints(days, () => null);
  return Promise.all([
    db.run(addTotals, [
      slotOfDeleted,
      integers(totals, ({ account }) => account),
      integers(totals, ({ eventID }) => eventID),
      bigints(totals, ({ quarter }) => quarter),
      bigints(totals, ({ count }) => -count),
      bigints(totals, ({ quarter }) => quarter * quarterMilliseconds - 1),
      bigints(totals, ({ quarter }) => (quarter + 1) * quarterMilliseconds),
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
