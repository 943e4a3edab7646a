/** The limits of a page of events, and the days that it covers. */
import type { EventQuery } from '../store.ts';

export interface PageBounds {
  /** A page ends after this many examined events, even if few match, so that no request takes too long. */
  readonly maxExamined: number;
  /** A page ends when its attributes reach this size, in UTF-16 code units. A single event may exceed it. */
  readonly maxCharacters: number;
}
export const pageBounds: PageBounds = { maxExamined: 200_000, maxCharacters: 4 * 1024 * 1024 };

/** Returns the sequences that a query may read: after < sequence ≤ through. `end` is the last readable sequence. */
export const sequencesOf = ({ order, beyond }: EventQuery, end: number): { after: number; through: number } =>
  order === 'asc'
    ? { after: beyond ?? 0, through: end }
    : { after: 0, through: Math.min(end, (beyond ?? Infinity) - 1) };

/** A day on which an account has events. */
export interface DaySpan {
  /** The day on which the events were received (received-day.ts). */
  readonly day: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
}

export interface DayRange {
  readonly account: number;
  /** Excludes days that have no events with from ≤ eventTime < to and after < sequence ≤ through. */
  readonly from: number;
  readonly to: number;
  readonly after: number;
  readonly through: number;
}
