/**
 * The first groups of a breakdown. Of some thousand groups few can be among the first: none has more people, users or sessions than rows, and
 * rows are counted fast. Only those few are counted one by one, and all others together.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { BreakdownQuestion } from '../../questions.ts';
import type { Source } from '../account.ts';
import { type Row, runSQL, runWith, type Values } from '../values.ts';
import { type Counted, countGroups, type Groups, numberOfEvents } from './counting.ts';
import { inOrderOf, sameGroup } from './groups.ts';

/** So many times as many groups as are wanted are counted at first. */
const likelyOfEach = 2;
/** Counting fewer groups of all than this part is worth the pass over the events that tells them apart. */
const worthPart = 0.25;

interface FirstGroups {
  /** The first groups, each with its keys. They are in the temporary table `first`, too. */
  readonly rows: readonly Row[];
  readonly total: Row | undefined;
  /** How many groups are not in `rows`, and what is in them. */
  readonly further: number;
  readonly others: Row | undefined;
}

export const countFirstGroups = async (
  connection: DuckDBConnection,
  source: Source,
  question: BreakdownQuestion,
  groups: Omit<Groups, 'size'>,
): Promise<FirstGroups> => {
  const { keys, hits, bySession = false, once } = groups;
  const { sort, limit } = question;
  const list = keys.join(', ');
  const inOrder = `${sort} DESC, ${inOrderOf(keys)}`;

  await runWith(
    connection,
    (values) => `CREATE TEMP TABLE sizes AS SELECT ${list}, count(*) AS rows, ${numberOfEvents(bySession)} AS events
      FROM (${hits(values, {})}) GROUP BY ${list}`,
  );
  const [summed] = await runSQL(connection, 'SELECT count(*) AS groups, sum(events) AS events FROM sizes');
  const size = { groups: Number(summed?.groups), events: Number(summed?.events ?? 0) };

  /** Makes the table `first` from one of groups, and reads all that is to be known. */
  const read = async (counted: Counted, table: string): Promise<FirstGroups> => {
    await runSQL(
      connection,
      `CREATE OR REPLACE TEMP TABLE first AS SELECT * FROM ${table} ORDER BY ${inOrder} LIMIT ${limit}`,
    );
    const rows = await runSQL(connection, `SELECT * FROM first ORDER BY ${inOrder}`);
    const further = size.groups - rows.length;
    const others = further === 0 ? undefined : await counted.without('first');
    return { rows, total: await counted.total(), further, others };
  };

  // An event of several groups would be one of the others, too, though it is in a first group.
  const most = once ? 0 : worthPart * size.groups;
  // None of a group's measures is greater.
  const bound = sort === 'events' ? 'events' : 'rows';
  for (let likely = likelyOfEach * limit; likely <= most; ) {
    await runSQL(
      connection,
      `CREATE OR REPLACE TEMP TABLE likely AS SELECT ${list}, row_number() OVER (ORDER BY ${bound} DESC) AS place FROM sizes QUALIFY place <= ${likely}`,
    );
    const withPlace: typeof hits = (values: Values, wanted) =>
      `SELECT h.* EXCLUDE (${list}), place FROM (${hits(values, wanted)}) h LEFT JOIN likely t ON ${sameGroup(keys)}`;
    const counted = await countGroups(connection, source, question, {
      ...groups,
      keys: ['place'],
      hits: withPlace,
      size: { groups: likely + 1, events: size.events },
    });
    const found = await read(counted, '(SELECT * FROM groups JOIN likely USING (place))');
    const least = Number(found.rows.at(-1)?.[sort]);
    const [possible] = await runSQL(connection, `SELECT count(*) AS groups FROM sizes WHERE ${bound} >= ${least}`);
    if (Number(possible?.groups) <= likely) return found;
    likely = Number(possible?.groups);
  }
  const ofAll = once ? { groups: Number.POSITIVE_INFINITY, events: 0 } : size;
  return read(await countGroups(connection, source, question, { ...groups, size: ofAll }), 'groups');
};
