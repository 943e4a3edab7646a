/**
 * Numbers sessions while events are appended, so that reports don't have to compute them. A number is valid for any
 * time range: there is no pause within a session, so the part of it in a range is also a single session.
 *
 * This requires that a visitor's events arrive in chronological order. Other visitors are irregular: each report
 * computes their sessions (sessions.ts).
 */
import { sessionPauseMilliseconds } from '../../queries.ts';

/** The maximum number of cached visitors, and of listed irregular visitors. */
export const maxVisitors = 500_000;

/** Earlier events: the time and session of each visitor's last event. */
export interface VisitHistory {
  readonly visitors: readonly { readonly visitor: number; readonly last: number; readonly session: number }[];
  /** Every other visitor's last event was no later than this time. */
  readonly evictedUntil: number;
  readonly lastSession: number;
}

/** 2^32 divided by the golden ratio, for multiplicative hashing (Knuth, The Art of Computer Programming, 6.4). */
const hashMultiplier = 0x9e3779b1;
const firstCapacity = 1 << 10;
const maxFill = 0.6;

/**
 * A hash table of visitors with 24 bytes per slot. The key 0 marks a free slot, because no visitor has the number 0.
 */
const createTable = (capacity: number) => {
  const visitors = new Float64Array(capacity);
  const lasts = new Float64Array(capacity);
  const sessions = new Float64Array(capacity);
  return {
    capacity,
    visitors,
    /** The time of each visitor's last event, and its session. */
    lasts,
    sessions,
    /** Returns the visitor's slot, or a free slot if the visitor has none. */
    slotOf(visitor: number): number {
      let slot = (Math.imul(visitor | 0, hashMultiplier) >>> 0) & (capacity - 1);
      while (visitors[slot] !== 0 && visitors[slot] !== visitor) slot = (slot + 1) & (capacity - 1);
      return slot;
    },
  };
};

export const createVisits = (
  { visitors: cachedVisitors, evictedUntil, lastSession: previousSession }: VisitHistory,
  knownIrregular: Iterable<number>,
  max = maxVisitors,
) => {
  const irregular = new Set(knownIrregular);
  let table = createTable(firstCapacity);
  let visitors = 0;
  let lastSession = previousSession;
  let horizon = evictedUntil;

  const put = (slot: number, visitor: number, last: number, session: number): void => {
    table.visitors[slot] = visitor;
    table.lasts[slot] = last;
    table.sessions[slot] = session;
    visitors += 1;
  };
  /**
   * Copies the visitors to a new table, except irregular visitors and visitors whose last event is not after `after`.
   */
  const copyTo = (capacity: number, after: number): void => {
    const before = table;
    table = createTable(capacity);
    visitors = 0;
    for (let slot = 0; slot < before.capacity; slot += 1) {
      const visitor = before.visitors[slot] as number;
      const last = before.lasts[slot] as number;
      if (visitor === 0 || last <= after || irregular.has(visitor)) continue;
      put(table.slotOf(visitor), visitor, last, before.sessions[slot] as number);
    }
  };
  const add = (visitor: number, last: number, session: number): void => {
    if (visitors >= max) {
      const times = table.lasts.filter((_, slot) => table.visitors[slot] !== 0).sort();
      const middle = times[times.length >> 1] as number;
      copyTo(table.capacity, middle);
      horizon = Math.max(horizon, middle);
    } else if (visitors >= maxFill * table.capacity) copyTo(2 * table.capacity, Number.NEGATIVE_INFINITY);
    put(table.slotOf(visitor), visitor, last, session);
  };
  for (const { visitor, last, session } of cachedVisitors) add(visitor, last, session);

  return {
    irregular,
    /** Whether sessions are no longer numbered because there are too many irregular visitors. */
    get isDisabled(): boolean {
      return irregular.size > max;
    },
    /** Returns the number of an event's session; 0 if the visitor is irregular. Must be called in sequence order. */
    sessionOf(visitor: number, time: number): number {
      if (irregular.has(visitor)) return 0;
      const slot = table.slotOf(visitor);
      const isKnown = table.visitors[slot] === visitor;
      const last = isKnown ? (table.lasts[slot] as number) : horizon;
      if (isKnown ? time < last : time - last < sessionPauseMilliseconds) {
        irregular.add(visitor);
        return 0;
      }
      if (!isKnown) {
        lastSession += 1;
        add(visitor, time, lastSession);
        return lastSession;
      }
      if (time - last >= sessionPauseMilliseconds) {
        lastSession += 1;
        table.sessions[slot] = lastSession;
      }
      table.lasts[slot] = time;
      return table.sessions[slot] as number;
    },
  };
};
export type Visits = ReturnType<typeof createVisits>;
