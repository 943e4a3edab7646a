/**
 * Computes a report's range, the earlier range to compare with, and their intervals. Times are in milliseconds since
 * 1970.
 */
import type { ComparisonPeriod } from '@firsthand/contract/reports/report';
import { Refusal } from '../../../shared/refusal.ts';
import { createOffsetLookup, day, edgesOf, endOfRange, type Interval, momentOf, type OffsetAt } from '../calendar.ts';

/** Contains each event with from ≤ eventTime < to. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

interface RequestedRange {
  /** A time, or a day (`2026-11-01`). */
  readonly from: number | string;
  readonly to?: number | string | undefined;
  readonly compare?: ComparisonPeriod | undefined;
}

/** Returns the number of months since January 1970 in the zone's local time. */
const monthOf = (time: number, offsetAt: OffsetAt): number => {
  const clock = new Date(time + offsetAt(time));
  return (clock.getUTCFullYear() - 1970) * 12 + clock.getUTCMonth();
};
const startOfMonth = (month: number, offsetAt: OffsetAt): number => momentOf(Date.UTC(1970, month), offsetAt);

/**
 * Returns the same date and time of day a week, a month or a year earlier. A date that the earlier month lacks, such as
 * February 29, becomes the month's last day at the start of a range, and the day after that at the end.
 */
const earlierTime = (
  time: number,
  compare: Exclude<ComparisonPeriod, 'previous'>,
  offsetAt: OffsetAt,
  isStart: boolean,
): number => {
  const wall = time + offsetAt(time);
  if (compare === 'week') return momentOf(wall - 7 * day, offsetAt);
  const clock = new Date(wall);
  const [year, month] = [clock.getUTCFullYear(), clock.getUTCMonth() - (compare === 'month' ? 1 : 12)];
  const lastDate = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const midnight = Date.UTC(year, month, Math.min(clock.getUTCDate(), isStart ? lastDate : lastDate + 1));
  return momentOf(midnight + (wall - Math.floor(wall / day) * day), offsetAt);
};

/**
 * Returns the range of equal length just before this range: measured in months if the range consists of whole months,
 * otherwise in local time.
 */
const previousRange = ({ from, to }: Range, offsetAt: OffsetAt): Range => {
  const [first, end] = [monthOf(from, offsetAt), monthOf(to, offsetAt)];
  if (from === startOfMonth(first, offsetAt) && to === startOfMonth(end, offsetAt)) {
    return { from: startOfMonth(first - (end - first), offsetAt), to: from };
  }
  const wall = from + offsetAt(from);
  return { from: momentOf(wall - (to + offsetAt(to) - wall), offsetAt), to: from };
};

/**
 * Like earlierRange, for a range within a day. The earlier range keeps its length, even if clocks change in either
 * range.
 */
const earlierOfDay = ({ from, to }: Range, compare: ComparisonPeriod, isOpen: boolean, offsetAt: OffsetAt): Range => {
  const startTime = () => {
    if (compare !== 'previous') return earlierTime(from, compare, offsetAt, true);
    return isOpen ? momentOf(from + offsetAt(from) - day, offsetAt) : from - (to - from);
  };
  const earlier = startTime();
  return { from: earlier, to: earlier + to - from };
};

/**
 * Returns the earlier range to compare with. If `isOpen`, the range ends now, during its last day. The earlier range is
 * then shifted by whole days and ends at the same time of day, so that days are comparable.
 */
const earlierRange = (range: Range, compare: ComparisonPeriod, isOpen: boolean, offsetAt: OffsetAt): Range => {
  const { from, to } = range;
  if (to - from < day) return earlierOfDay(range, compare, isOpen, offsetAt);
  if (compare !== 'previous') {
    const startsMonth = (time: number) => time === startOfMonth(monthOf(time, offsetAt), offsetAt);
    if (compare !== 'week' && startsMonth(to) && !startsMonth(from)) {
      // Shifts the last day, not the end: shifting the 1st of a month would include extra days if the earlier month is
      // longer.
      const addDay = (time: number, days: number) => momentOf(time + offsetAt(time) + days * day, offsetAt);
      const lastDay = earlierTime(addDay(to, -1), compare, offsetAt, true);
      return { from: earlierTime(from, compare, offsetAt, true), to: addDay(lastDay, 1) };
    }
    const end = earlierTime(to, compare, offsetAt, false);
    // If the earlier month is shorter, such as February, the earlier range stops at the end of that month.
    const lastEnd = compare === 'month' ? startOfMonth(monthOf(to, offsetAt), offsetAt) : end;
    return { from: earlierTime(from, compare, offsetAt, true), to: Math.min(end, lastEnd) };
  }
  if (!isOpen) return previousRange(range, offsetAt);
  const [first, end] = [from + offsetAt(from), to + offsetAt(to)];
  const days = Math.ceil((end - first) / day);
  return { from: momentOf(first - days * day, offsetAt), to: momentOf(end - days * day, offsetAt) };
};

/** Returns the requested range and, with `compare`, the earlier one. Throws Refusal('invalid_field'). */
export const rangesOf = (
  { from, to, compare }: RequestedRange,
  timeZone: string,
  now: number,
): { range: Range; earlier: Range | undefined } => {
  const offsetAt = createOffsetLookup(timeZone);
  const toTime = (time: number | string) => (typeof time === 'string' ? momentOf(Date.parse(time), offsetAt) : time);
  const start = toTime(from);
  const range = { from: start, to: endOfRange(start, to === undefined ? undefined : toTime(to), now) };
  const earlier = compare && earlierRange(range, compare, to === undefined, offsetAt);
  if (earlier === undefined || earlier.from >= 0) return { range, earlier };
  const message = 'The range to compare with would start before 1970; choose a later `from`, or omit `compare`.';
  throw new Refusal('invalid_field', { field: 'compare', message });
};

/** Returns the edges of the calendar intervals in a range, clipped to it. Throws like edgesOf. */
export const edgesWithin = (
  { from, to }: Range,
  interval: Interval,
  timeZone: string,
  maxIntervals: number,
): number[] => [from, ...edgesOf(from, to, interval, timeZone, maxIntervals).slice(1, -1), to];

/** No known zone changes its offset and back within a week. */
const week = 7 * day;
/** Scanning this many years week by week takes 30 ms. */
const maxYears = 100;

/** Returns the zone's UTC offset at the start of the range and after each change in it. */
export const offsetsIn = ({ from, to }: Range, timeZone: string): [from: number, milliseconds: number][] => {
  if (to - from > maxYears * 366 * day) {
    const message = `\`by=weekday\` and \`by=hour\` take a range of at most ${maxYears} years; choose a later \`from\` or an earlier \`to\`.`;
    throw new Refusal('invalid_field', { field: 'by', message });
  }
  const offsetAt = createOffsetLookup(timeZone);
  const offsets: [number, number][] = [[from, offsetAt(from)]];
  let [time, offset] = [from, offsetAt(from)];
  while (time < to) {
    let next = Math.min(time + week, to);
    if (offsetAt(next) !== offset) {
      // Binary search for the first millisecond with the new offset.
      for (let same = time; next - same > 1; ) {
        const middle = Math.floor((same + next) / 2);
        if (offsetAt(middle) === offset) same = middle;
        else next = middle;
      }
      offset = offsetAt(next);
      if (next < to) offsets.push([next, offset]);
    }
    time = next;
  }
  return offsets;
};
