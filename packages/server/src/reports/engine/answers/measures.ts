/** Measures of sets of events, as SQL and as they are answered. */
import type { Measures } from '../../questions.ts';
import { clause } from '../sql.ts';
import type { Row } from '../statements.ts';

/** Of rows with `number`. */
export const summedUp = clause`count(number) AS count, sum(number) AS sum, quantile_cont(number, 0.5) AS median, quantile_cont(number, 0.95) AS p95`;

/** `valued` is a row of `summedUp`, undefined when there was no such event. */
export const toValue = (valued: Row | undefined): NonNullable<Measures['value']> => {
  const count = Number(valued?.count ?? 0);
  if (valued === undefined || count === 0) return { count, sum: null, average: null, median: null, p95: null };
  const sum = Number(valued.sum);
  return { count, sum, average: sum / count, median: Number(valued.median), p95: Number(valued.p95) };
};

/** `valued` and `visits` (of described-visits.ts) may be undefined when there was no such event; null: the question does not ask for them. */
export const toMeasures = (
  row: Row | undefined,
  valued: Row | undefined | null,
  visits: Row | undefined | null,
): Measures => ({
  events: Number(row?.events ?? 0),
  users: Number(row?.users ?? 0),
  people: Number(row?.people ?? 0),
  sessions: Number(row?.sessions ?? 0),
  ...(valued !== null && { value: toValue(valued) }),
  ...(visits !== null && {
    visits: {
      bounces: Number(visits?.bounces ?? 0),
      pages: Number(visits?.pages ?? 0),
      milliseconds: Number(visits?.milliseconds ?? 0),
    },
  }),
});
