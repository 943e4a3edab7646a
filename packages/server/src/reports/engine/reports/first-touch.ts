/**
 * Reads attributes of a person's first event ever, which can be outside the range or have had another owner at the
 * time.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Comparison, ReportQuery } from '../../queries.ts';
import type { Source } from '../source.ts';
import { type SQL, sql } from '../sql.ts';
import { run } from '../statements.ts';
import { createScope, type Scope } from './scope.ts';

/**
 * Creates a scope with all of the account's events. Its range ends with these events, so that `place` stays a small
 * number.
 */
export const createScopeOfAll = async (
  connection: DuckDBConnection,
  source: Source,
  query: ReportQuery,
): Promise<Scope> => {
  const times = sql`SELECT min("eventTime") AS first, max("eventTime") AS last FROM ${source.select(['sequence', 'eventTime'])}`;
  const [row] = await run(connection, times);
  return createScope(source, {
    ...query,
    condition: null,
    from: Number(row?.first ?? 0),
    to: Number(row?.last ?? 0) + 1,
  });
};

/**
 * Builds a query that returns each person who has the attribute (`owner`), with its `value` in their first event that
 * has it.
 */
export const writeFirstValues = async (
  connection: DuckDBConnection,
  source: Source,
  query: ReportQuery,
  attrID: string,
): Promise<SQL> => {
  const scope = await createScopeOfAll(connection, source, query);
  const text = scope.text(attrID);
  scope.add('value', text);
  scope.add('place', scope.place);
  return sql`SELECT person AS owner, arg_min(value, place) AS value FROM ${scope.rows({ where: sql`${text} IS NOT NULL` })} GROUP BY person`;
};

/** Builds a query that returns the people (`person`) whose first event with the attribute meets the comparison. */
export const writeFirstMatches = async (
  connection: DuckDBConnection,
  source: Source,
  query: ReportQuery,
  comparison: Comparison,
): Promise<SQL> => {
  const scope = await createScopeOfAll(connection, source, query);
  const has = sql`${scope.text(comparison.attrID)} IS NOT NULL`;
  // A person who never had the attribute matches only a test for its absence.
  const isAbsence = 'exists' in comparison && !comparison.exists;
  scope.add('has', has);
  scope.add('met', scope.meets(comparison));
  scope.add('place', scope.place);
  return sql`SELECT person FROM ${scope.rows(isAbsence ? {} : { where: has })} GROUP BY person
    HAVING ${isAbsence ? sql`NOT bool_or(has)` : sql`arg_min(met, place)`}`;
};
