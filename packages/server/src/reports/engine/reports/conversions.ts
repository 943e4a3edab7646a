/** Counts conversions: the people and sessions of a report that reached its goal. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Conversions, ReportQuery, Times, TotalsQuery } from '../../queries.ts';
import type { Source } from '../source.ts';
import { clause, list, name, nothing, type SQL, sql } from '../sql.ts';
import { type Row, run } from '../statements.ts';
import type { Intervals } from './intervals.ts';
import { toValue, valueAggregates } from './measures.ts';
import { createScope, type Sessions } from './scope.ts';

interface ConversionOptions {
  readonly goal: NonNullable<TotalsQuery['goal']>;
  readonly sessions: Sessions;
  /** A query of the counted events, with the columns `keys`, `person` and `session`. */
  readonly hits: SQL;
  readonly keys: readonly string[];
  readonly intervals?: Pick<Intervals, 'slotOf' | 'within'>;
}

const timeAggregates = clause`avg(milliseconds) AS average, quantile_cont(milliseconds, 0.5) AS median,
  quantile_cont(milliseconds, 0.95) AS p95`;

const toTimes = (people: Row | undefined): Times | null => {
  if (people?.average == null) return null;
  return { average: Number(people.average), median: Number(people.median), p95: Number(people.p95) };
};

/** A group's values of the columns by which conversions are grouped. */
type Group = Readonly<Record<string, unknown>>;
export type ConversionsOf = (group: Group) => Conversions;

/**
 * Creates temporary tables. Returns a function that counts the conversions of each group by some of the keys. With the
 * key `interval`, a person or session converts only in the intervals in which it has a goal event.
 */
export const prepareConversions = async (
  connection: DuckDBConnection,
  source: Source,
  query: ReportQuery,
  { goal: { condition, value }, sessions, hits, keys, intervals }: ConversionOptions,
) => {
  const scope = createScope(source, query);
  scope.add('time', sql`"eventTime"`);
  if (value !== null) scope.add('number', scope.number(value));
  if (intervals) scope.add('slot', intervals.slotOf(scope));
  const goals = scope.rows({ where: scope.meets(condition), sessions });
  await run(
    connection,
    sql`CREATE TEMP TABLE goal_events AS SELECT * FROM ${intervals ? intervals.within(goals) : goals}`,
  );
  await run(
    connection,
    sql`CREATE TEMP TABLE goal_hits AS SELECT DISTINCT ${list([...keys, 'person', 'session'].map(name))} FROM ${hits}
      WHERE person IN (SELECT person FROM goal_events) OR session IN (SELECT session FROM goal_events)`,
  );
  const everything = createScope(source, query);
  everything.add('time', sql`"eventTime"`);
  await run(
    connection,
    sql`CREATE TEMP TABLE goal_people AS SELECT person, any_value(reached) - min(time) AS milliseconds
      FROM ${everything.rows()} JOIN (SELECT person, min(time) AS reached FROM goal_events GROUP BY person) USING (person)
      GROUP BY person`,
  );

  return async (by: readonly string[]): Promise<ConversionsOf> => {
    const byInterval = by.includes('interval');
    const columns = by.length === 0 ? nothing : clause`${list(by.map(name))},`;
    const interval = byInterval ? clause`"interval",` : nothing;
    const groupBy = by.length === 0 ? nothing : clause`GROUP BY ${list(by.map(name))}`;
    const countUnits = (unit: 'person' | 'session', goals: SQL, aggregates: SQL): Promise<Row[]> =>
      run(
        connection,
        sql`SELECT ${columns} ${aggregates} FROM (SELECT DISTINCT ${columns} ${name(unit)} FROM goal_hits)
          JOIN ${goals} USING (${interval} ${name(unit)}) ${groupBy}`,
      );
    const distinct = (unit: 'person' | 'session'): SQL =>
      sql`SELECT DISTINCT ${interval} ${name(unit)} FROM goal_events`;
    const keyOf = (group: Group): string => by.map((key) => `${group[key]}`).join();
    const byKey = (rows: readonly Row[]) => new Map(rows.map((row) => [keyOf(row), row]));
    const ofSessions = byKey(await countUnits('session', distinct('session'), clause`count(*) AS count`));
    const ofPeople = byKey(
      byInterval
        ? await countUnits('person', distinct('person'), clause`count(*) AS count`)
        : await countUnits('person', name('goal_people'), clause`count(*) AS count, ${timeAggregates}`),
    );
    const ofValues = value === null ? null : byKey(await countUnits('session', name('goal_events'), valueAggregates));
    return (group) => {
      const key = keyOf(group);
      return {
        people: Number(ofPeople.get(key)?.count ?? 0),
        sessions: Number(ofSessions.get(key)?.count ?? 0),
        ...(ofValues && { value: toValue(ofValues.get(key)) }),
        ...(!byInterval && { times: toTimes(ofPeople.get(key)) }),
      };
    };
  };
};
