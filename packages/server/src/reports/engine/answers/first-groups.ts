/**
 * The first groups of a breakdown. Few of some thousand groups can be among the first: none has more people, users or sessions than rows, and
 * rows are counted fast. Only those few are counted one by one, and all others together.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { BreakdownQuestion } from '../../questions.ts';
import type { Source } from '../account.ts';
import { isWhole } from '../owners.ts';
import { clause, list, name, type SQL, sql } from '../sql.ts';
import { type Row, run } from '../statements.ts';
import { type Counted, countGroups, type Groups, numberOfEvents } from './counting.ts';
import { inOrderOf, sameGroup } from './groups.ts';

/** The first round counts this many times the groups that are wanted. */
const likelyOfEach = 2;
/** It is worth another pass over the events to count no more than this part of all groups. */
const worthPart = 0.25;

interface FirstGroups {
  /** The first groups, each with its keys. They are in the temporary table `first`, too. */
  readonly rows: readonly Row[];
  readonly total: Row | undefined;
  /** How many groups are not in `rows`, and what is in them. */
  readonly further: number;
  readonly others: Row | undefined;
}

/** Whether a session may be of several people: events are logged with contacts, or a user has not always been the same person's. */
const maySwitch = async (connection: DuckDBConnection, { bounds, person, through }: Source): Promise<boolean> =>
  bounds.contact > 0 ||
  (await run(connection, sql`SELECT 1 FROM ${person.owners} GROUP BY "user" HAVING NOT ${isWhole(through)} LIMIT 1`))
    .length > 0;

export const countFirstGroups = async (
  connection: DuckDBConnection,
  source: Source,
  question: BreakdownQuestion,
  groups: Omit<Groups, 'size'>,
): Promise<FirstGroups> => {
  const { keys, hits, bySession = false, once } = groups;
  const { sort, limit } = question;
  const columns = list(keys.map(name));
  const inOrder = clause`${name(sort)} DESC, ${inOrderOf(keys)}`;

  await run(
    connection,
    sql`CREATE TEMP TABLE sizes AS SELECT ${columns}, count(*) AS rows, ${numberOfEvents(bySession)} AS events
      FROM ${hits({})} GROUP BY ${columns}`,
  );
  const [summed] = await run(connection, sql`SELECT count(*) AS groups, sum(events) AS events FROM sizes`);
  const size = { groups: Number(summed?.groups), events: Number(summed?.events ?? 0) };

  /** Makes the table `first` from one of groups. */
  const rank = async (table: SQL): Promise<readonly Row[]> => {
    await run(
      connection,
      sql`CREATE OR REPLACE TEMP TABLE first AS SELECT * FROM ${table} ORDER BY ${inOrder} LIMIT ${limit}`,
    );
    return run(connection, sql`SELECT * FROM first ORDER BY ${inOrder}`);
  };
  const answer = async (counted: Counted, rows: readonly Row[]): Promise<FirstGroups> => {
    const further = size.groups - rows.length;
    const others = further === 0 ? undefined : await counted.without(name('first'));
    return { rows, total: await counted.total(), further, others };
  };

  // An event of several groups would be one of the others, too, though it is in a first group; and a session may be of several people.
  const isExcluded = once !== undefined || (bySession && sort === 'people' && (await maySwitch(connection, source)));
  const most = isExcluded ? 0 : worthPart * size.groups;
  // None of a group's measures is greater.
  const bound = name(sort === 'events' ? 'events' : 'rows');
  const groupsWith = async (least: SQL | number): Promise<number> => {
    const [found] = await run(connection, sql`SELECT count(*) AS groups FROM sizes WHERE ${bound} >= ${least}`);
    return Number(found?.groups);
  };
  // The last of the first groups has no more than that bound.
  const last = sql`SELECT ${bound} FROM sizes ORDER BY ${bound} DESC LIMIT 1 OFFSET ${limit - 1}`;
  for (let likely = Math.max(likelyOfEach * limit, most > 0 ? await groupsWith(last) : 0); likely <= most; ) {
    await run(
      connection,
      sql`CREATE OR REPLACE TEMP TABLE likely AS SELECT ${columns}, row_number() OVER (ORDER BY ${bound} DESC) AS place FROM sizes QUALIFY place <= ${likely}`,
    );
    const withPlace: typeof hits = (wanted) =>
      sql`SELECT h.* EXCLUDE (${columns}), place FROM ${hits(wanted)} h LEFT JOIN likely t ON ${sameGroup(keys)}`;
    const counted = await countGroups(connection, source, question, {
      ...groups,
      keys: ['place'],
      hits: withPlace,
      size: { groups: likely + 1, events: size.events },
    });
    const rows = await rank(sql`SELECT * FROM groups JOIN likely USING (place)`);
    const possible = await groupsWith(Number(rows.at(-1)?.[sort]));
    if (possible <= likely) return answer(counted, rows);
    likely = possible;
  }
  const ofAll = once ? { groups: Number.POSITIVE_INFINITY, events: 0 } : size;
  const counted = await countGroups(connection, source, question, { ...groups, size: ofAll });
  return answer(counted, await rank(name('groups')));
};
