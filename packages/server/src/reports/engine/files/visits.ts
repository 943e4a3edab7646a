/**
 * Numbers the sessions of visitors while events are appended, so that no report has to find them again. A number is right for any range of
 * time: the events of a session that are in the range follow each other without a pause.
 *
 * That holds for a visitor whose events arrive in the order of their times. Others are irregular: their sessions are found for each report
 * (sessions.ts).
 */
import { sessionPauseMilliseconds } from '../../questions.ts';

/** So many visitors are remembered, and so many irregular ones listed. */
export const maxVisitors = 500_000;

/** What is known of earlier events: for a visitor its last event and the session of that. */
export interface Remembered {
  readonly visitors: readonly { readonly visitor: number; readonly last: number; readonly session: number }[];
  /** Visitors beyond these were forgotten, and had their last event at or before this time. */
  readonly forgottenUntil: number;
  readonly lastSession: number;
}

/** Bits of a hash that are spread well by multiplication: 2^32 divided by the golden ratio (Knuth, The Art of Computer Programming, 6.4). */
const spread = 0x9e3779b1;
const firstCapacity = 1 << 10;
const maxFill = 0.6;

/** A hash table of visitors in 24 bytes a slot. No visitor is 0, which is the key of a free slot. */
const createTable = (capacity: number) => {
  const visitors = new Float64Array(capacity);
  const lasts = new Float64Array(capacity);
  const sessions = new Float64Array(capacity);
  return {
    capacity,
    visitors,
    /** The time of the visitor's last event, and the session of that. */
    lasts,
    sessions,
    /** The visitor's slot, or the free one for it. */
    slotOf(visitor: number): number {
      let slot = (Math.imul(visitor | 0, spread) >>> 0) & (capacity - 1);
      while (visitors[slot] !== 0 && visitors[slot] !== visitor) slot = (slot + 1) & (capacity - 1);
      return slot;
    },
  };
};

export const createVisits = (
  { visitors: remembered, forgottenUntil, lastSession: numbered }: Remembered,
  irregularBefore: Iterable<number>,
  most = maxVisitors,
) => {
  const irregular = new Set(irregularBefore);
  let table = createTable(firstCapacity);
  let visitors = 0;
  let lastSession = numbered;
  let horizon = forgottenUntil;

  const put = (slot: number, visitor: number, last: number, session: number): void => {
    table.visitors[slot] = visitor;
    table.lasts[slot] = last;
    table.sessions[slot] = session;
    visitors += 1;
  };
  /** Copies the visitors to another table, without irregular ones and those without an event after `after`. */
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
    if (visitors >= most) {
      const times = table.lasts.filter((_, slot) => table.visitors[slot] !== 0).sort();
      const middle = times[times.length >> 1] as number;
      copyTo(table.capacity, middle);
      horizon = Math.max(horizon, middle);
    } else if (visitors >= maxFill * table.capacity) copyTo(2 * table.capacity, Number.NEGATIVE_INFINITY);
    put(table.slotOf(visitor), visitor, last, session);
  };
  for (const { visitor, last, session } of remembered) add(visitor, last, session);

  return {
    irregular,
    /** Whether there are so many irregular visitors that no session is numbered any more. */
    get isGivenUp(): boolean {
      return irregular.size > most;
    },
    /** The number of an event's session; 0 if the visitor is irregular. Events are given in the order of their sequences. */
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
