/** Computes when hours, days, weeks and months begin in a time zone. Times are in milliseconds since 1970. */
import { Refusal } from '../../shared/refusal.ts';

export type Interval = 'hour' | 'day' | 'week' | 'month' | 'total';

const quarter = 15 * 60_000;
const hour = 4 * quarter;
export const day = 24 * hour;

const offsetText = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

/** Returns a function that returns by how many milliseconds the zone's clocks are ahead of UTC at a time. */
export const createOffsetAt = (timeZone: string) => {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  return (time: number): number => {
    const [, sign, hours = 0, minutes = 0, seconds = 0] = offsetText.exec(format.format(time)) as RegExpExecArray;
    const milliseconds = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
    return sign === '-' ? -milliseconds : milliseconds;
  };
};

export type OffsetAt = ReturnType<typeof createOffsetAt>;

/**
 * The first moment at which the zone's clocks show `wall` (a clock's reading, as if it were UTC) or later. If clocks are set back
 * over it, that is the first of two moments; if they are set forward over it, it is the moment of that change.
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

/** The clock's reading at the beginning of the day, week or month of `wall`, or of the one `later` days, weeks or months on. */
const beginning = (wall: number, interval: 'day' | 'week' | 'month', later: number): number => {
  if (interval === 'day') return floor(wall, day) + later * day;
  // 1970-01-01 was a Thursday: the first Monday was 4 days later.
  if (interval === 'week') return floor(wall - 4 * day, 7 * day) + (4 + later * 7) * day;
  const date = new Date(wall);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later);
};

/** Yields when the interval that contains `from` begins, and then when each next one begins. */
function* beginnings(from: number, interval: Exclude<Interval, 'total'>, offsetAt: OffsetAt): Generator<number> {
  if (interval === 'hour') {
    // All hours have the same length, except where clocks are moved by less than an hour: there one interval is longer.
    let offset = offsetAt(from);
    let edge = floor(from + offset, hour) - offset;
    for (;;) {
      yield edge;
      offset = offsetAt(edge + hour);
      edge = Math.ceil((edge + hour + offset) / hour) * hour - offset;
    }
  }
  const first = from + offsetAt(from);
  for (let later = 0; ; later++) yield momentOf(beginning(first, interval, later), offsetAt);
}

/**
 * The edges of the intervals to count: whole intervals of the zone's calendar that cover `from` to `to`, rounded down to quarters
 * of an hour. Weeks begin on Monday. `total` is one interval, of whole quarters of an hour. Undefined if there would be more than
 * `most` intervals.
 */
export const countEdges = (
  from: number,
  to: number,
  interval: Interval,
  timeZone: string,
  most: number,
): number[] | undefined => {
  if (interval === 'total') return [floor(from, quarter), Math.ceil(to / quarter) * quarter];
  const edges: number[] = [];
  for (const beginning of beginnings(from, interval, createOffsetAt(timeZone))) {
    // Some zones were not on quarters of an hour, such as Liberia's until 1972.
    const edge = floor(beginning, quarter);
    // A zone may skip a day, as Samoa did in 2011.
    if (edge !== edges.at(-1)) edges.push(edge);
    if (edge >= to) return edges;
    if (edges.length > most) return undefined;
  }
  return undefined;
};

/** As countEdges. Throws Refusal('invalid_field') if there would be more than `most` intervals. */
export const edgesOf = (from: number, to: number, interval: Interval, timeZone: string, most: number): number[] => {
  const edges = countEdges(from, to, interval, timeZone, most);
  if (edges !== undefined) return edges;
  const message = `The range from \`from\` to \`to\` holds more than ${most.toLocaleString('en')} intervals; choose a longer interval or a shorter range.`;
  throw new Refusal('invalid_field', { field: 'interval', message });
};

/** The end of the range of a read: `to`, or `now` without it. Throws Refusal('invalid_field') if that is not after `from`. */
export const endOfRange = (from: number, to: number | undefined, now: number): number => {
  // An event that was stored in this very millisecond counts.
  const end = to ?? now + 1;
  if (end > from) return end;
  const message = `\`to\` must be later than \`from\`${to === undefined ? '; without it, `to` is now' : ''}`;
  throw new Refusal('invalid_field', { field: 'to', message });
};
