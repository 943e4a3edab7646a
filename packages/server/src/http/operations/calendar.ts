/** Computes when hours, days, weeks and months start in a time zone. Times are in milliseconds since 1970. */
import { Refusal } from '../../shared/refusal.ts';

export type Interval = 'hour' | 'day' | 'week' | 'month' | 'total';

const quarter = 15 * 60_000;
const hour = 4 * quarter;
export const day = 24 * hour;

const offsetText = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

/** Returns a function that computes the zone's offset from UTC at a time, in milliseconds. */
export const createOffsetLookup = (timeZone: string) => {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  return (time: number): number => {
    const [, sign, hours = 0, minutes = 0, seconds = 0] = offsetText.exec(format.format(time)) as RegExpExecArray;
    const milliseconds = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
    return sign === '-' ? -milliseconds : milliseconds;
  };
};

export type OffsetAt = ReturnType<typeof createOffsetLookup>;

/**
 * Returns the first moment at which the zone's clocks show `wall` (a local time, encoded as if it were UTC) or later.
 * If clocks are set back over `wall`, that is the first of two such moments. If clocks are set forward over `wall`,
 * that is the moment of the change.
 */
export const momentOf = (wall: number, offsetAt: OffsetAt): number => {
  const before = offsetAt(wall - day);
  if (offsetAt(wall - before) === before) return wall - before;
  const after = offsetAt(wall + day);
  if (after <= before) return wall - after;
  let moment = wall - after;
  while (offsetAt(moment) === before) moment += quarter;
  return moment;
};

const floor = (time: number, step: number) => Math.floor(time / step) * step;

/**
 * Returns the local start of the day, week or month that is `later` days, weeks or months after the one that contains
 * `wall`.
 */
export const startOf = (wall: number, interval: 'day' | 'week' | 'month', later: number): number => {
  if (interval === 'day') return floor(wall, day) + later * day;
  // 1970-01-01 was a Thursday, four days before the first Monday.
  if (interval === 'week') return floor(wall - 4 * day, 7 * day) + (4 + later * 7) * day;
  const date = new Date(wall);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later);
};

/** Yields the start of the interval that contains `from`, then the start of each interval after it. */
function* startsFrom(from: number, interval: Exclude<Interval, 'total'>, offsetAt: OffsetAt): Generator<number> {
  if (interval === 'hour') {
    // Intervals are an hour long, except for one that is longer if the clocks change by less than an hour.
    let offset = offsetAt(from);
    let edge = floor(from + offset, hour) - offset;
    for (;;) {
      yield edge;
      offset = offsetAt(edge + hour);
      edge = Math.ceil((edge + hour + offset) / hour) * hour - offset;
    }
  }
  const first = from + offsetAt(from);
  for (let later = 0; ; later++) yield momentOf(startOf(first, interval, later), offsetAt);
}

/**
 * Returns the boundaries of the zone's calendar intervals that cover `from` to `to`; undefined if there are more than
 * `maxIntervals`. Each boundary is rounded down to a multiple of 15 minutes. Weeks start on Monday. `total` is a single
 * interval.
 */
export const computeEdges = (
  from: number,
  to: number,
  interval: Interval,
  timeZone: string,
  maxIntervals: number,
): number[] | undefined => {
  if (interval === 'total') return [floor(from, quarter), Math.ceil(to / quarter) * quarter];
  const edges: number[] = [];
  for (const start of startsFrom(from, interval, createOffsetLookup(timeZone))) {
    // Some zones had offsets that are not multiples of 15 minutes, such as Liberia's until 1972.
    const edge = floor(start, quarter);
    // A zone can skip a day, as Samoa did in 2011.
    if (edge !== edges.at(-1)) edges.push(edge);
    if (edge >= to) return edges;
    if (edges.length > maxIntervals) return undefined;
  }
  return undefined;
};

/** Like computeEdges, but throws Refusal('invalid_field') if there are more than `maxIntervals` intervals. */
export const edgesOf = (
  from: number,
  to: number,
  interval: Interval,
  timeZone: string,
  maxIntervals: number,
): number[] => {
  const edges = computeEdges(from, to, interval, timeZone, maxIntervals);
  if (edges !== undefined) return edges;
  const message = `The range from \`from\` to \`to\` has more than ${maxIntervals.toLocaleString('en')} intervals; choose a longer interval or a shorter range.`;
  throw new Refusal('invalid_field', { field: 'interval', message });
};

/**
 * Returns the end of a read's range: `to`, by default now. Throws Refusal('invalid_field') if that is not after `from`.
 */
export const endOfRange = (from: number, to: number | undefined, now: number): number => {
  // + 1 so that an event stored in this millisecond counts.
  const end = to ?? now + 1;
  if (end > from) return end;
  const message = `\`to\` must be later than \`from\`${to === undefined ? '; without it, `to` is now' : ''}`;
  throw new Refusal('invalid_field', { field: 'to', message });
};
