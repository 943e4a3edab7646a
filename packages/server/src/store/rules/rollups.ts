/** Aggregates events by eventID and quarter hour, and by day, so that a commit updates each rollup row once. */

/** In every current time zone, hours and days start on a quarter hour. */
export const quarterHourMilliseconds = 900_000;

/** Returns the quarter hour of a time, counted from 1970. */
export const quarterHourOf = (time: number): number => Math.floor(time / quarterHourMilliseconds);

export interface CountedEvent {
  readonly account: number;
  readonly day: number;
  readonly sequence: number;
  readonly eventID: number;
  readonly eventTime: number;
  /** The event's stored bytes; absent for a deleted event. */
  readonly bytes?: number;
}

interface Sum {
  readonly account: number;
  count: number;
  firstTime: number;
  lastTime: number;
}
export type TotalSum = Sum & { readonly eventID: number; readonly quarter: number };
export type DaySum = Sum & {
  readonly day: number;
  bytes: number;
  readonly firstSequence: number;
  lastSequence: number;
};

const count = (sum: Sum, time: number) => {
  sum.count += 1;
  sum.firstTime = Math.min(sum.firstTime, time);
  sum.lastTime = Math.max(sum.lastTime, time);
};

/** Returns a key's inner map. Nested maps with number keys are three times as fast as one map with string keys. */
const branch = <Value>(tree: Map<number, Map<number, Value>>, key: number): Map<number, Value> => {
  const child = tree.get(key) ?? new Map<number, Value>();
  tree.set(key, child);
  return child;
};

const none = () => ({ totals: [] as TotalSum[], days: [] as DaySum[] });

export const createSums = () => {
  const totals = new Map<number, Map<number, Map<number, TotalSum>>>();
  const days = new Map<number, Map<number, DaySum>>();
  let sums = none();
  return {
    /** Adds an event. Call it in sequence order. */
    add({ account, day, sequence, eventID, eventTime, bytes = 0 }: CountedEvent) {
      const quarter = quarterHourOf(eventTime);
      const ofQuarter = branch(branch(totals, account), quarter);
      let total = ofQuarter.get(eventID);
      if (!total) {
        total = { account, eventID, quarter, count: 0, firstTime: eventTime, lastTime: eventTime };
        ofQuarter.set(eventID, total);
        sums.totals.push(total);
      }
      count(total, eventTime);
      const ofAccount = branch(days, account);
      let sum = ofAccount.get(day);
      if (!sum) {
        const bounds = { firstSequence: sequence, lastSequence: sequence, firstTime: eventTime, lastTime: eventTime };
        sum = { account, day, count: 0, bytes: 0, ...bounds };
        ofAccount.set(day, sum);
        sums.days.push(sum);
      }
      count(sum, eventTime);
      sum.bytes += bytes;
      sum.lastSequence = sequence;
    },
    /** Whether an event with this eventID was added since the last `take`. */
    has(account: number, eventID: number): boolean {
      for (const ofQuarter of totals.get(account)?.values() ?? []) if (ofQuarter.has(eventID)) return true;
      return false;
    },
    /** Returns the sums over the events added since the last call. */
    take() {
      const taken = sums;
      sums = none();
      totals.clear();
      days.clear();
      return taken;
    },
  };
};
