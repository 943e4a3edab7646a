/**
 * Finds the first groups of a breakdown. A group has at most as many people, users or sessions as rows, and rows are
 * fast to count. So only the few groups with enough rows are counted individually, and all other groups are counted
 * together.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { BreakdownQuery } from '../../queries.ts';
import { hasSingleOwner } from '../owners.ts';
import type { Source } from '../source.ts';
import { clause, list, name, type SQL, sql } from '../sql.ts';
import { type Row, run } from '../statements.ts';
import { countEvents, countGroups, type GroupCounts, type Groups } from './counting.ts';
import { sameGroup, toOrder } from './groups.ts';

/** The first pass counts this many times the requested number of groups. */
const likelyFactor = 2;
/** Counting the likely first groups is worthwhile only up to this fraction of all groups. */
const maxLikelyShare = 0.25;

interface FirstGroups {
  /** The first groups with their keys. The groups are also in the temporary table `first`. */
  readonly rows: readonly Row[];
  readonly total: Row | undefined;
  /** The number of groups that are not in `rows`. */
  readonly otherGroups: number;
  /** The combined measures of all groups that are not in `rows`. */
  readonly others: Row | undefined;
}

/** Whether a session can have several people because events are logged with contacts or a user's owner has changed. */
const canSessionsHaveSeveralPeople = async (
  connection: DuckDBConnection,
  { bounds, person, through }: Source,
): Promise<boolean> =>
  bounds.contact > 0 ||
  (
    await run(
      connection,
      sql`SELECT 1 FROM ${person.owners} GROUP BY "user" HAVING NOT ${hasSingleOwner(through)} LIMIT 1`,
    )
  ).length > 0;

export const countFirstGroups = async (
  connection: DuckDBConnection,
  source: Source,
  query: BreakdownQuery,
  groups: Omit<Groups, 'size'>,
): Promise<FirstGroups> => {
  const { keys, hits, bySession = false, once } = groups;
  const { sort, limit } = query;
  const columns = list(keys.map(name));
  const order = clause`${name(sort)} DESC, ${toOrder(keys)}`;

  await run(
    connection,
    sql`CREATE TEMP TABLE sizes AS SELECT ${columns}, count(*) AS rows, ${countEvents(bySession)} AS events
      FROM ${hits({})} GROUP BY ${columns}`,
  );
  const [sums] = await run(connection, sql`SELECT count(*) AS groups, sum(events) AS events FROM sizes`);
  const size = { groups: Number(sums?.groups), events: Number(sums?.events ?? 0) };

  /** Creates the table `first` from a table of groups. */
  const rank = async (table: SQL): Promise<readonly Row[]> => {
    await run(
      connection,
      sql`CREATE OR REPLACE TEMP TABLE first AS SELECT * FROM ${table} ORDER BY ${order} LIMIT ${limit}`,
    );
    return run(connection, sql`SELECT * FROM first ORDER BY ${order}`);
  };
  const toFirstGroups = async (counts: GroupCounts, rows: readonly Row[]): Promise<FirstGroups> => {
    const otherGroups = size.groups - rows.length;
    const others = otherGroups === 0 ? undefined : await counts.without(name('first'));
    return { rows, total: await counts.total(), otherGroups, others };
  };

  // Counts all groups if the bound would be wrong because a session has several people, or if an event in several
  // groups would also count in `others`.
  const isExcluded =
    once !== undefined || (bySession && sort === 'people' && (await canSessionsHaveSeveralPeople(connection, source)));
  const maxLikely = isExcluded ? 0 : maxLikelyShare * size.groups;
  // An upper bound on a group's measures.
  const bound = name(sort === 'events' ? 'events' : 'rows');
  const groupsWith = async (least: SQL | number): Promise<number> => {
    const [row] = await run(connection, sql`SELECT count(*) AS groups FROM sizes WHERE ${bound} >= ${least}`);
    return Number(row?.groups);
  };
  // The bound of the group that would be last on the page if groups were sorted by their bounds.
  const last = sql`SELECT ${bound} FROM sizes ORDER BY ${bound} DESC LIMIT 1 OFFSET ${limit - 1}`;
  for (let likely = Math.max(likelyFactor * limit, maxLikely > 0 ? await groupsWith(last) : 0); likely <= maxLikely; ) {
    await run(
      connection,
      sql`CREATE OR REPLACE TEMP TABLE likely AS SELECT ${columns}, row_number() OVER (ORDER BY ${bound} DESC) AS place FROM sizes QUALIFY place <= ${likely}`,
    );
    const withPlace: typeof hits = (options) =>
      sql`SELECT h.* EXCLUDE (${columns}), place FROM ${hits(options)} h LEFT JOIN likely t ON ${sameGroup(keys)}`;
    const counts = await countGroups(connection, source, query, {
      ...groups,
      keys: ['place'],
      hits: withPlace,
      size: { groups: likely + 1, events: size.events },
    });
    const rows = await rank(sql`SELECT * FROM groups JOIN likely USING (place)`);
    const possible = await groupsWith(Number(rows.at(-1)?.[sort]));
    if (possible <= likely) return toFirstGroups(counts, rows);
    likely = possible;
  }
  const fullSize = once ? { groups: Number.POSITIVE_INFINITY, events: 0 } : size;
  const counts = await countGroups(connection, source, query, { ...groups, size: fullSize });
  return toFirstGroups(counts, await rank(name('groups')));
};
