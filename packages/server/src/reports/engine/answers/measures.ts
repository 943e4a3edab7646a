/** Measures of sets of events, as SQL and as they are answered. */
import type { Measures } from '../../questions.ts';
import { clause } from '../sql.ts';
import type { Row } from '../statements.ts';

/** Of rows with `number`. */
export const summedUp = clause`count(number) AS count, sum(number) AS sum, quantile_cont(number, 0.5) AS median, quantile_cont(number, 0.95) AS p95`;

/** `valued` is the row of `summedUp`, undefined when there was no such event; null: the question names no attribute. */
export const toMeasures = (row: Row | undefined, valued: Row | undefined | null): Measures => {
  const measures = {
    events: Number(row?.events ?? 0),
    users: Number(row?.users ?? 0),
    people: Number(row?.people ?? 0),
    sessions: Number(row?.sessions ?? 0),
  };
  if (valued === null) return measures;
  const count = Number(valued?.count ?? 0);
  if (valued === undefined || count === 0)
    return { ...measures, value: { count, sum: null, average: null, median: null, p95: null } };
  const sum = Number(valued.sum);
  return {
    ...measures,
    value: { count, sum, average: sum / count, median: Number(valued.median), p95: Number(valued.p95) },
  };
};
