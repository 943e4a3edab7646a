/** The range of a report, the earlier one that it is compared with, and their parts. Times are in milliseconds since 1970. */
import type { ComparisonPeriod } from '@firsthand/contract/reports/report';
import { Refusal } from '../../../shared/refusal.ts';
import { createOffsetAt, day, edgesOf, endOfRange, type Interval, momentOf, type OffsetAt } from '../calendar.ts';

/** from ≤ eventTime < to */
export interface Range {
  readonly from: number;
  readonly to: number;
}

interface AskedRange {
  /** A time, or the text of a day (`2026-11-01`). */
  readonly from: number | string;
  readonly to?: number | string | undefined;
  readonly compare?: ComparisonPeriod | undefined;
}

/** The number of months since 1970 on the zone's clocks. */
const monthOf = (time: number, offsetAt: OffsetAt): number => {
  const clock = new Date(time + offsetAt(time));
  return (clock.getUTCFullYear() - 1970) * 12 + clock.getUTCMonth();
};
const beginningOfMonth = (month: number, offsetAt: OffsetAt): number => momentOf(Date.UTC(1970, month), offsetAt);

/**
 * The same date and time of day a week, a month or a year earlier. A date that the month lacks, such as 29 February, becomes its last day
 * at the beginning of a range, and the first day after it at the end.
 */
const earlierTime = (
  time: number,
  compare: Exclude<ComparisonPeriod, 'previous'>,
  offsetAt: OffsetAt,
  isBeginning: boolean,
): number => {
  const wall = time + offsetAt(time);
  if (compare === 'week') return momentOf(wall - 7 * day, offsetAt);
  const clock = new Date(wall);
  const [year, month] = [clock.getUTCFullYear(), clock.getUTCMonth() - (compare === 'month' ? 1 : 12)];
  const lastDate = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const midnight = Date.UTC(year, month, Math.min(clock.getUTCDate(), isBeginning ? lastDate : lastDate + 1));
  return momentOf(midnight + (wall - Math.floor(wall / day) * day), offsetAt);
};

/** The range just before, with as many months if both ends begin one; else with as many days on the clock. */
const previousRange = ({ from, to }: Range, offsetAt: OffsetAt): Range => {
  const [first, end] = [monthOf(from, offsetAt), monthOf(to, offsetAt)];
  if (from === beginningOfMonth(first, offsetAt) && to === beginningOfMonth(end, offsetAt)) {
    return { from: beginningOfMonth(first - (end - first), offsetAt), to: from };
  }
  const wall = from + offsetAt(from);
  return { from: momentOf(wall - (to + offsetAt(to) - wall), offsetAt), to: from };
};

/** As earlierRange of a range within a day, which keeps its length when clocks are changed in one of the two. */
const earlierOfDay = ({ from, to }: Range, compare: ComparisonPeriod, isOpen: boolean, offsetAt: OffsetAt): Range => {
  const begin = () => {
    if (compare !== 'previous') return earlierTime(from, compare, offsetAt, true);
    return isOpen ? momentOf(from + offsetAt(from) - day, offsetAt) : from - (to - from);
  };
  const earlier = begin();
  return { from: earlier, to: earlier + to - from };
};

/**
 * `isOpen`: the range ends now, in the middle of its last day. Then the previous one is as many whole days earlier, and ends at the same
 * time of day: its parts are comparable, day by day.
 */
const earlierRange = (range: Range, compare: ComparisonPeriod, isOpen: boolean, offsetAt: OffsetAt): Range => {
  const { from, to } = range;
  if (to - from < day) return earlierOfDay(range, compare, isOpen, offsetAt);
  if (compare !== 'previous') {
    const beginsMonth = (time: number) => time === beginningOfMonth(monthOf(time, offsetAt), offsetAt);
    if (compare !== 'week' && beginsMonth(to) && !beginsMonth(from)) {
      // Its last day is what has an earlier date: the 1st, at which it ends, would take days of a longer month along.
      const addDay = (time: number, days: number) => momentOf(time + offsetAt(time) + days * day, offsetAt);
      const lastDay = earlierTime(addDay(to, -1), compare, offsetAt, true);
      return { from: earlierTime(from, compare, offsetAt, true), to: addDay(lastDay, 1) };
    }
    const end = earlierTime(to, compare, offsetAt, false);
    // Of a month with fewer days, such as February, nothing after its end is compared.
    const lastEnd = compare === 'month' ? beginningOfMonth(monthOf(to, offsetAt), offsetAt) : end;
    return { from: earlierTime(from, compare, offsetAt, true), to: Math.min(end, lastEnd) };
  }
  if (!isOpen) return previousRange(range, offsetAt);
  const [first, end] = [from + offsetAt(from), to + offsetAt(to)];
  const days = Math.ceil((end - first) / day);
  return { from: momentOf(first - days * day, offsetAt), to: momentOf(end - days * day, offsetAt) };
};

/** The range that a request asks about and, with `compare`, the earlier one. Throws Refusal('invalid_field'). */
export const rangesOf = (
  { from, to, compare }: AskedRange,
  timeZone: string,
  now: number,
): { range: Range; earlier: Range | undefined } => {
  const offsetAt = createOffsetAt(timeZone);
  const toTime = (time: number | string) => (typeof time === 'string' ? momentOf(Date.parse(time), offsetAt) : time);
  const begin = toTime(from);
  const range = { from: begin, to: endOfRange(begin, to === undefined ? undefined : toTime(to), now) };
  const earlier = compare && earlierRange(range, compare, to === undefined, offsetAt);
  if (earlier === undefined || earlier.from >= 0) return { range, earlier };
  const message = 'The range to compare with would begin before 1970; choose a later `from`, or leave out `compare`.';
  throw new Refusal('invalid_field', { field: 'compare', message });
};

/** The ends of the calendar's intervals in a range; the first and the last are cut off at its ends. Throws as edgesOf. */
export const edgesWithin = ({ from, to }: Range, interval: Interval, timeZone: string, most: number): number[] => [
  from,
  ...edgesOf(from, to, interval, timeZone, most).slice(1, -1),
  to,
];

/** In no known zone are clocks changed twice, back and forth, within it. */
const week = 7 * day;
/** Looking at each week of a range takes 30 ms for so many years. */
const maxYears = 100;

/** From when on the zone's clocks are how far ahead of UTC: at the beginning of the range, and at each change in it. */
export const offsetsIn = ({ from, to }: Range, timeZone: string): [from: number, milliseconds: number][] => {
  if (to - from > maxYears * 366 * day) {
    const message = `\`by=weekday\` and \`by=hour\` take a range of at most ${maxYears} years; choose a later \`from\` or an earlier \`to\`.`;
    throw new Refusal('invalid_field', { field: 'by', message });
  }
  const offsetAt = createOffsetAt(timeZone);
  const offsets: [number, number][] = [[from, offsetAt(from)]];
  let [time, offset] = [from, offsetAt(from)];
  while (time < to) {
    let next = Math.min(time + week, to);
    if (offsetAt(next) !== offset) {
      // The first millisecond with another offset.
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
