/** People: who is behind a number of a report, those with the newest event first. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Group, PeopleAnswer, PeopleQuestion } from '../../questions.ts';
import type { Source } from '../account.ts';
import { appendIntegers, type Row, runSQL, runWith, type Values } from '../values.ts';
import { prepareGroups } from './groups.ts';
import { prepareReached, unitOf } from './reached.ts';
import { prepareCohorts } from './retention.ts';
import { createScope } from './scope.ts';

const time = '"eventTime"';

/** Whether a row is of the group. */
const isGroup = ({ values: wanted }: Group, values: Values): string =>
  wanted
    .map((value, index) => (value === null ? `d${index} IS NULL` : `d${index}::VARCHAR = ${values.text(value)}`))
    .join(' AND ');

/** Writes a query of the events that count: `person`, `user` and `time`. `from` may leave out events of people who are not wanted. */
type WriteEvents = (values: Values, from: Source) => string;

const prepareEvents = async (
  connection: DuckDBConnection,
  source: Source,
  question: PeopleQuestion,
): Promise<WriteEvents> => {
  const { of } = question;
  const all: WriteEvents = (values, from) => {
    const scope = createScope(from, question, values);
    scope.add('time', time);
    scope.add('"user"', 'e."user"');
    return scope.rows({ where: scope.matched });
  };
  const some: WriteEvents = (values, from) =>
    `SELECT * FROM (${all(values, from)}) WHERE person IN (SELECT person FROM chosen)`;
  switch (of.kind) {
    case 'all':
      return all;
    case 'group': {
      const { write } = await prepareGroups(connection, source, { ...question, ...of });
      return (values) => {
        const found = write(values, { person: true }, () => ({ time }));
        return `SELECT person, "user", time FROM (${found}) WHERE ${isGroup(of, values)}`;
      };
    }
    case 'step': {
      const { group } = of;
      await prepareReached(connection, source, { ...question, ...of }, group);
      await runWith(connection, (values) => {
        const members = group
          ? `SEMI JOIN (SELECT * FROM members WHERE ${isGroup(group, values)}) m USING (${unitOf(of)})`
          : '';
        const without = of.dropped ? `AND NOT reached${of.step + 1}` : '';
        return `CREATE TEMP TABLE chosen AS SELECT DISTINCT person FROM reached ${members} WHERE reached${of.step} ${without}`;
      });
      return some;
    }
    case 'cohort': {
      await prepareCohorts(connection, source, { ...question, ...of });
      const cameBack = `WHERE period = cohort + ${of.later} AND periods.back > cohorts.first`;
      await runSQL(
        connection,
        `CREATE TEMP TABLE chosen AS SELECT person FROM cohorts ${of.later === null ? '' : `JOIN periods USING (person) ${cameBack}`}
          ${of.later === null ? 'WHERE' : 'AND'} cohort = ${of.cohort}`,
      );
      return some;
    }
  }
};

const usersOf = 'count(DISTINCT "user") FILTER ("user" > 0)';
const told = `person, count(*) AS events, ${usersOf} AS users, min(time) AS first, max(time) AS last`;

/** The part of the range whose events are read first, then more until there are enough people. */
const firstParts = [1 / 64, 1 / 8];

/** Leaves out events of which no person is in the table `listed`; some others remain. */
const eventsOfListed = (source: Source): Source => {
  const { person, bounds } = source;
  const users = `SELECT "user" FROM ${person.owners} WHERE person IN (SELECT person FROM listed)
    UNION ALL SELECT -person FROM listed WHERE person < 0`;
  const isListed = `${bounds.contact > 0 ? 'contact > 0 OR ' : ''}"user" IN (${users})`;
  return { ...source, select: (names) => `SELECT * FROM (${source.select(names)}) WHERE ${isListed}` };
};

export const answerPeople = async (
  connection: DuckDBConnection,
  source: Source,
  question: PeopleQuestion,
): Promise<PeopleAnswer> => {
  const { from, to, usersAtLeast, beyond, limit } = question;
  const write = await prepareEvents(connection, source, question);
  /** The first people of the page, as far as they have events at or after a time: that suffices when there are more than the limit. */
  const newest = (since: number) =>
    runWith(connection, (values) => {
      const meant = [
        ...(usersAtLeast > 0 ? [`${usersOf} >= ${values.integer(usersAtLeast)}`] : []),
        ...(beyond === null
          ? []
          : [`(max(time), person) < (${values.integer(beyond.lastTime)}, ${values.integer(beyond.person)})`]),
      ];
      return `SELECT ${told} FROM (${write(values, source)})
        WHERE time >= ${values.integer(since)}
        GROUP BY person ${meant.length > 0 ? `HAVING ${meant.join(' AND ')}` : ''} ORDER BY last DESC, person DESC LIMIT ${values.integer(limit + 1)}`;
    });
  /** All events of these people. */
  const ofListed = async (people: Row[]) => {
    await runSQL(connection, 'CREATE TEMP TABLE listed (person BIGINT)');
    const listed = people.map(({ person }) => Number(person));
    appendIntegers(await connection.createAppender('listed', 'main', 'temp'), [listed]);
    return runWith(
      connection,
      (values) => `SELECT ${told} FROM (${write(values, eventsOfListed(source))})
        WHERE person IN (SELECT person FROM listed) GROUP BY person ORDER BY last DESC, person DESC`,
    );
  };
  const find = async (): Promise<Row[]> => {
    const end = beyond === null ? to : Math.min(to, beyond.lastTime + 1);
    // How many users somebody has is known from the whole range only.
    for (const part of usersAtLeast > 0 ? [] : firstParts) {
      const found = await newest(Math.ceil(end - part * (to - from)));
      if (found.length > limit) return ofListed(found);
    }
    return newest(from);
  };
  const rows = await find();
  const people = rows.slice(0, limit).map(({ person, events, users, first, last }) => ({
    person: Number(person),
    events: Number(events),
    users: Number(users),
    firstTime: Number(first),
    lastTime: Number(last),
  }));
  const end = rows.length > limit ? people[limit - 1] : undefined;
  return { people, next: end ? { lastTime: end.lastTime, person: end.person } : null };
};
