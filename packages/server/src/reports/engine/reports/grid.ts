/**
 * Divides time into equal spans, so that values are computed per span instead of per event. No span contains a cut,
 * which is a time at which values can change.
 */
import { clause, integers, type SQL, sql } from '../sql.ts';

const greatestCommonDivisor = (a: number, b: number): number =>
  b === 0 ? Math.abs(a) : greatestCommonDivisor(b, a % b);

export interface Grid {
  readonly from: number;
  /** The start of span 0, at or before all times, in milliseconds. */
  readonly anchor: number;
  readonly milliseconds: number;
}

/** The maximum length of a span: four weeks, a multiple of both weeks and days. Months are divided into days. */
const maxSpanMilliseconds = 28 * 86_400_000;

/**
 * Creates a grid whose span 0 starts at or before `from`. Ignores cuts at or before `from`. A span is at most `longest`
 * milliseconds.
 */
export const createGrid = (from: number, cuts: readonly number[], longest = maxSpanMilliseconds): Grid => {
  const inner = cuts.filter((cut) => cut > from);
  const [first = from] = inner;
  const milliseconds = inner.reduce((length, cut) => greatestCommonDivisor(cut - first, length), longest);
  return { from, anchor: first - Math.ceil((first - from) / milliseconds) * milliseconds, milliseconds };
};

/** Whether the spans of a grid are exactly the intervals between the edges. */
export const isGridOf = ({ milliseconds }: Grid, edges: readonly number[]): boolean =>
  edges.every((edge, index) => index === 0 || edge - (edges[index - 1] as number) <= milliseconds);

/** Returns the number of the span that contains a time. */
export const spanOf = ({ anchor, milliseconds }: Grid, time: SQL): SQL => sql`(${time} - ${anchor}) // ${milliseconds}`;

/**
 * With more spans than this, only those with events are listed. There can be this many because edges need not be
 * calendar dates.
 */
const maxSpans = 100_000;

/**
 * Builds a query that returns the spans before `to` in a column `span`. `eventSpans` builds a query for only the spans
 * with events.
 */
export const spansBefore = ({ anchor, milliseconds }: Grid, to: number, eventSpans: () => SQL): SQL => {
  const spans = Math.ceil((to - anchor) / milliseconds);
  return spans <= maxSpans
    ? sql`SELECT unnest(range(${spans})) AS span`
    : sql`SELECT DISTINCT span FROM ${eventSpans()}`;
};

/**
 * Builds a query that returns, as `span` and `value`, each of `spans` with the value of the last of `starts` that is
 * not after it.
 */
export const valuesOfSpans = (
  { from, anchor, milliseconds }: Grid,
  starts: readonly (readonly [start: number, value: number])[],
  spans: SQL,
): SQL => {
  // The last start at or before `from` applies to the first span.
  const inGrid = starts.filter((_, index) => (starts[index + 1]?.[0] ?? Infinity) > from);
  const firsts = inGrid.map(([start], index) => (index === 0 ? 0 : (start - anchor) / milliseconds));
  return sql`SELECT s.span, v.value FROM ${spans} s
    ASOF JOIN (SELECT unnest(${integers(firsts)}) AS span, unnest(${integers(inGrid.map(([, value]) => value))}) AS value) v
    ON s.span >= v.span`;
};

const hour = 3_600_000;
const day = 24 * hour;

/**
 * Returns cuts that keep each span inside a single hour of local time. `offsets` has the form used in BreakdownQuery.
 */
export const findHourCuts = (from: number, to: number, offsets: readonly (readonly [number, number])[]): number[] =>
  offsets.flatMap(([start, offset], index) => {
    const end = offsets[index + 1]?.[0] ?? Infinity;
    if (start >= to || end <= from) return [];
    const local = from + offset;
    return [...(start > from ? [start] : []), from + hour - (((local % hour) + hour) % hour)];
  });

/** Returns the local hour and weekday of a row with `span` and `value`, the local time's offset. */
export const localTimeOf = ({ anchor, milliseconds }: Grid): SQL => {
  const local = sql`${anchor} + span * ${milliseconds} + value`;
  const inDay = sql`((${local} % ${day}) + ${day}) % ${day}`;
  const weekday = sql`(((${local} - ${inDay}) // ${day} + 3) % 7 + 7) % 7 + 1`;
  return clause`${inDay} // ${hour} AS hour, ${weekday} AS weekday`;
};
