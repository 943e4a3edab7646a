/** Builds SQL for the measures of a set of events, and converts query results to measures. */
import type { Measures } from '../../queries.ts';
import { clause } from '../sql.ts';
import type { Row } from '../statements.ts';

/** Aggregates over rows with a column `number`. */
export const valueAggregates = clause`count(number) AS count, sum(number) AS sum, quantile_cont(number, 0.5) AS median, quantile_cont(number, 0.95) AS p95`;

/** `figures` is a row of `valueAggregates`, or undefined if there was no event. */
export const toValue = (figures: Row | undefined): NonNullable<Measures['value']> => {
  const count = Number(figures?.count ?? 0);
  if (figures === undefined || count === 0) return { count, sum: null, average: null, median: null, p95: null };
  const sum = Number(figures.sum);
  return { count, sum, average: sum / count, median: Number(figures.median), p95: Number(figures.p95) };
};

/** `figures` and `visits` are undefined if there was no event, and null if the report does not include them. */
export const toMeasures = (
  row: Row | undefined,
  figures: Row | undefined | null,
  visits: Row | undefined | null,
): Measures => ({
  events: Number(row?.events ?? 0),
  users: Number(row?.users ?? 0),
  people: Number(row?.people ?? 0),
  sessions: Number(row?.sessions ?? 0),
  ...(figures !== null && { value: toValue(figures) }),
  ...(visits !== null && {
    visits: {
      bounces: Number(visits?.bounces ?? 0),
      pages: Number(visits?.pages ?? 0),
      milliseconds: Number(visits?.milliseconds ?? 0),
    },
  }),
});
