/** Lists the people behind a number in a report. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { type Group, noSum, type PeopleQuery, type PeopleResult, type PeopleSort } from '../../queries.ts';
import type { Source } from '../source.ts';
import { and, clause, name, nothing, type SQL, sql } from '../sql.ts';
import { type Row, run } from '../statements.ts';
import { prepareReachedSteps, unitOf } from './funnel-steps.ts';
import { prepareGroups } from './groups.ts';
import { writeListedPeople } from './listed-people.ts';
import { toValue, valueAggregates } from './measures.ts';
import { prepareCohorts } from './retention.ts';
import { createScope } from './scope.ts';

const time = sql`"eventTime"`;

/** Whether a row belongs to the group. */
const isGroup = ({ dimensions, values }: Group): SQL =>
  and(
    dimensions.map((dimension, index) => {
      const [key, value] = [name(`d${index}`), values[index] ?? null];
      if (value === null) return sql`${key} IS NULL`;
      return sql`${key}::VARCHAR = ${'own' in dimension ? value.toLowerCase() : value}`;
    }),
  );

/**
 * Builds a query that returns the counted events: `person`, `user`, `time`, and `number` if the report has a `value`.
 * `from` can exclude events of people who are not listed.
 */
type WriteEvents = (from: Source) => SQL;

const prepareEvents = async (
  connection: DuckDBConnection,
  source: Source,
  query: PeopleQuery,
): Promise<WriteEvents> => {
  const { of, value } = query;
  const all: WriteEvents = (from) => {
    const scope = createScope(from, query);
    scope.add('time', time);
    if (value !== undefined) scope.add('number', scope.number(value));
    scope.add('user', sql`e."user"`);
    return scope.rows({ where: scope.matched });
  };
  const some: WriteEvents = (from) => sql`SELECT * FROM ${all(from)} WHERE person IN (SELECT person FROM chosen)`;
  switch (of.kind) {
    case 'all':
      return all;
    case 'group': {
      const { write } = await prepareGroups(connection, source, { ...query, ...of });
      const events = write({ person: true }, (scope) => ({
        time,
        ...(value !== undefined && { number: scope.number(value) }),
      }));
      return () => sql`SELECT * FROM ${events} WHERE ${isGroup(of)}`;
    }
    case 'step': {
      const { group } = of;
      await prepareReachedSteps(connection, source, { ...query, ...of }, group);
      const members = group
        ? clause`SEMI JOIN (SELECT * FROM members WHERE ${isGroup(group)}) m USING (${unitOf(of)})`
        : nothing;
      const reached = name(`reached${of.step}`);
      const where = of.dropped ? sql`${reached} AND NOT ${name(`reached${of.step + 1}`)}` : reached;
      await run(
        connection,
        sql`CREATE TEMP TABLE chosen AS SELECT DISTINCT person FROM reached ${members} WHERE ${where}`,
      );
      return some;
    }
    case 'cohort': {
      const { group } = of;
      await prepareCohorts(connection, source, { ...query, ...of }, group);
      const returnJoin =
        of.later === null
          ? nothing
          : clause`JOIN periods USING (person) WHERE period = cohort + ${of.later} AND periods.back > cohorts.first`;
      const inGroup = group
        ? clause`SEMI JOIN (SELECT person FROM members WHERE ${isGroup(group)}) m USING (person)`
        : nothing;
      const members = sql`SELECT person FROM (SELECT * FROM cohorts ${inGroup} WHERE cohort = ${of.cohort}) cohorts ${returnJoin}`;
      await run(connection, sql`CREATE TEMP TABLE chosen AS ${members}`);
      return some;
    }
  }
};

const usersOf = sql`count(DISTINCT "user") FILTER ("user" > 0)`;
const basicFigures = clause`person, count(*) AS events, ${usersOf} AS users, min(time) AS first, max(time) AS last`;
/** The sort keys. Sums are rounded, because their last digits depend on the order of addition. */
const keys = {
  lastTime: sql`max(time)`,
  events: sql`count(*)`,
  sum: sql`coalesce(round(sum(number), 6), ${noSum})`,
} satisfies Record<PeopleSort, SQL>;

/** The fractions of the range, counted back from its end, that are read in turn until enough people are found. */
const firstParts = [1 / 64, 1 / 8];

export const computePeople = async (
  connection: DuckDBConnection,
  source: Source,
  query: PeopleQuery,
): Promise<PeopleResult> => {
  const { from, to, usersAtLeast, value, sort = 'lastTime', beyond, limit } = query;
  const [key, figures] = [keys[sort], value === undefined ? basicFigures : clause`${basicFigures}, ${valueAggregates}`];
  const write = await prepareEvents(connection, source, query);
  /**
   * Finds the people on the page by reading only the events since a given time. If it finds more than `limit` people,
   * reading the whole range would return the same people.
   */
  const readNewest = (since: number) => {
    const conditions = [
      ...(usersAtLeast > 0 ? [sql`${usersOf} >= ${usersAtLeast}`] : []),
      ...(beyond === null ? [] : [sql`(${key}, person) < (${beyond.key}, ${beyond.person})`]),
    ];
    return run(
      connection,
      sql`SELECT ${figures}, ${key} AS key FROM ${write(source)} WHERE time >= ${since}
        GROUP BY person HAVING ${and(conditions)} ORDER BY key DESC, person DESC LIMIT ${limit + 1}`,
    );
  };
  /** Returns these people's figures over all their events. */
  const readListed = async (people: Row[]) => {
    const numbers = people.map(({ person }) => Number(person));
    const events = write(await writeListedPeople(connection, source, numbers));
    return run(
      connection,
      sql`SELECT ${figures}, ${key} AS key FROM ${events}
        WHERE person IN (SELECT person FROM listed) GROUP BY person ORDER BY key DESC, person DESC`,
    );
  };
  const find = async (): Promise<Row[]> => {
    const end = beyond === null ? to : Math.min(to, beyond.key + 1);
    // Reading part of the range is enough only if people are sorted by their newest event.
    for (const part of usersAtLeast > 0 || sort !== 'lastTime' ? [] : firstParts) {
      const people = await readNewest(Math.ceil(end - part * (to - from)));
      if (people.length > limit) return readListed(people);
    }
    return readNewest(from);
  };
  const rows = await find();
  const people = rows.slice(0, limit).map((row) => ({
    person: Number(row.person),
    events: Number(row.events),
    users: Number(row.users),
    ...(value !== undefined && { value: toValue(row) }),
    firstTime: Number(row.first),
    lastTime: Number(row.last),
  }));
  const end = rows.length > limit ? rows[limit - 1] : undefined;
  return { people, next: end ? { key: Number(end.key), person: Number(end.person) } : null };
};
