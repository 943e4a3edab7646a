/** People: who is behind a number of a report, those with the newest event first. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Group, PeopleAnswer, PeopleQuestion } from '../../questions.ts';
import type { Source } from '../account.ts';
import { runSQL, runWith, type Values } from '../values.ts';
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

/** Returns how to write a query of the events that count: `person` and `time`. */
const prepareEvents = async (
  connection: DuckDBConnection,
  source: Source,
  question: PeopleQuestion,
): Promise<(values: Values) => string> => {
  const { of } = question;
  const all = (values: Values): string => {
    const scope = createScope(source, question, values);
    scope.add('time', time);
    return scope.rows({ where: scope.matched });
  };
  const some = (values: Values) => `SELECT * FROM (${all(values)}) WHERE person IN (SELECT person FROM chosen)`;
  switch (of.kind) {
    case 'all':
      return all;
    case 'group': {
      const { write } = await prepareGroups(connection, source, { ...question, ...of });
      return (values) => {
        const found = write(values, { person: true }, () => ({ time }));
        return `SELECT person, time FROM (${found}) WHERE ${isGroup(of, values)}`;
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

export const answerPeople = async (
  connection: DuckDBConnection,
  source: Source,
  question: PeopleQuestion,
): Promise<PeopleAnswer> => {
  const { beyond, limit } = question;
  const write = await prepareEvents(connection, source, question);
  const rows = await runWith(connection, (values) => {
    const later =
      beyond === null
        ? ''
        : `HAVING (max(time), person) < (${values.integer(beyond.lastTime)}, ${values.integer(beyond.person)})`;
    return `SELECT person, count(*) AS events, min(time) AS first, max(time) AS last FROM (${write(values)})
      GROUP BY person ${later} ORDER BY last DESC, person DESC LIMIT ${values.integer(limit + 1)}`;
  });
  const people = rows.slice(0, limit).map(({ person, events, first, last }) => ({
    person: Number(person),
    events: Number(events),
    firstTime: Number(first),
    lastTime: Number(last),
  }));
  const end = rows.length > limit ? people[limit - 1] : undefined;
  return { people, next: end ? { lastTime: end.lastTime, person: end.person } : null };
};
