/**
 * Counts distinct users, people and sessions in groups of events, in all groups together, and outside some of the
 * groups.
 *
 * Users, contacts and sessions are numbers with few gaps, so sets of them are bitmaps, which can be combined without
 * reading the events again. A group takes about 100 KB per million events; a hash table takes 16 bytes per pair.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { ReportQuery } from '../../queries.ts';
import type { Source } from '../source.ts';
import { clause, list, name, nothing, type SQL, sql } from '../sql.ts';
import { type Row, run } from '../statements.ts';
import { writeContactUsers } from './contact-users.ts';
import { sameGroup } from './groups.ts';
import type { HitOptions, Sessions } from './scope.ts';

/**
 * The maximum fraction of memory for the bitmaps of all groups. Each thread builds its own bitmaps, so the threads
 * share this fraction.
 */
const maxMemoryShare = 0.4;
const maxConcurrentShare = 0.2;
/** With fewer events per byte of bitmap than this, a hash table is faster. */
const eventsPerByte = 0.02;

/** Builds a query that returns events, with the columns `keys`, `user` and the optional columns. */
export type WriteHits = (options: HitOptions) => SQL;

/**
 * The result of a count, in addition to the temporary table `groups` with the keys, `events`, `users`, `people` and
 * `sessions`.
 */
export interface GroupCounts {
  /** The measures of all events. */
  total(): Promise<Row | undefined>;
  /** The measures of all groups together, except those listed in the table. */
  without(table: SQL): Promise<Row | undefined>;
}

export interface Groups {
  readonly keys: readonly string[];
  readonly hits: WriteHits;
  readonly sessions: Sessions;
  /**
   * Whether hits that are read without people are whole sessions: one row for each session, with its number of
   * `events`, in a single group.
   */
  readonly bySession?: boolean;
  /** Whether hits have the column `adds`, which is FALSE for a hit that adds no user and no session to its group. */
  readonly withAdds?: boolean;
  /** Writes each event once, without its groups. Set if an event can be in several groups. */
  readonly once?: WriteHits | undefined;
  /** The maximum number of groups, and the number of events. */
  readonly size: Size;
}

interface Size {
  readonly groups: number;
  readonly events: number;
}

/** SQL that counts the events in hits. */
export const countEvents = (bySession: boolean): SQL => (bySession ? sql`sum(events)::BIGINT` : sql`count(*)`);

/**
 * Rounds the range up to a multiple of 8: DuckDB would otherwise repeatedly set the missing bits of an incomplete byte,
 * which doubles the time.
 */
const bitmap = (number: SQL, lowest: number, highest: number, filter = nothing): SQL => {
  const bytes = Math.max(1, Math.ceil((highest - lowest + 1) / 8));
  return sql`bitstring_agg(${number}, ${lowest}, ${lowest + 8 * bytes - 1}) ${filter}`;
};
const countOnes = (bits: SQL): SQL => sql`coalesce(bit_count(${bits}), 0)`;

const byHashes = clause`count(*) AS events, count(DISTINCT "user") FILTER (WHERE "user" > 0) AS users,
  count(DISTINCT person) AS people, count(DISTINCT session) AS sessions`;

const toColumns = (keys: readonly string[]): SQL => list(keys.map(name));
/** Excludes the rows of `h` whose group is in `table`. */
const notIn = (keys: readonly string[], table: SQL): SQL => clause`h ANTI JOIN ${table} t ON ${sameGroup(keys)}`;

const countByHashes = async (connection: DuckDBConnection, { keys, hits, once }: Groups): Promise<GroupCounts> => {
  const columns = toColumns(keys);
  const events = hits({ person: true, session: true, sequence: once !== undefined });
  // An event can be in several groups, but only once in each.
  await run(
    connection,
    sql`CREATE OR REPLACE TEMP TABLE counted AS SELECT ${columns}, GROUPING(${columns}) AS total, ${byHashes}
      FROM ${events} GROUP BY ${once ? columns : clause`GROUPING SETS ((), (${columns}))`}`,
  );
  await run(connection, sql`CREATE OR REPLACE TEMP TABLE groups AS SELECT * FROM counted WHERE total = 0`);
  const all = once?.({ person: true, session: true, sequence: true });
  const count = async (rows: SQL): Promise<Row | undefined> =>
    (await run(connection, sql`SELECT ${byHashes} FROM ${rows}`))[0];
  return {
    total: async () => (all ? count(all) : (await run(connection, sql`SELECT * FROM counted WHERE total > 0`))[0]),
    without(table) {
      if (!all) return count(clause`${events} ${notIn(keys, table)}`);
      const inTable = sql`SELECT sequence FROM ${events} h SEMI JOIN ${table} t ON ${sameGroup(keys)}`;
      return count(clause`${all} ANTI JOIN ${inTable} USING (sequence)`);
    },
  };
};

/** The highest numbers of users and people, and how many session numbers there are. */
interface Numbers {
  readonly users: number;
  readonly people: number;
  readonly sessions: number;
}

/** Creates the table `owner_bits` with the people in each group, except users in the mask `unowned`. */
const writeOwnerBits = async (
  connection: DuckDBConnection,
  { keys, hits, bySession }: Pick<Groups, 'keys' | 'hits' | 'bySession'>,
  { isOwned, whole }: Awaited<ReturnType<typeof writeContactUsers>>,
  personBits: SQL,
): Promise<void> => {
  const columns = toColumns(keys);
  const parts = [sql`SELECT ${columns}, NULL::BIT AS people FROM user_bits LIMIT 0`];
  if (isOwned)
    parts.push(sql`SELECT ${columns}, ${personBits} FROM ${hits({ person: true, owned: true })} GROUP BY ${columns}`);
  if (whole > 0) {
    // If rows are sessions, reads them: that is cheaper than testing, for each group, the bit of every user in `whole`.
    const wholeUsers = bySession
      ? clause`${hits({})} JOIN whole USING ("user")`
      : clause`user_bits h JOIN whole w ON get_bit(h.users, w."user"::INTEGER) = 1`;
    parts.push(sql`SELECT ${columns}, ${personBits} FROM ${wholeUsers} GROUP BY ${columns}`);
  }
  await run(
    connection,
    sql`CREATE OR REPLACE TEMP TABLE owner_bits AS SELECT ${columns}, bit_or(people) AS people
      FROM (${list(parts, ' UNION ALL ')}) GROUP BY ${columns}`,
  );
};

/** Returns the number of users in a bitmap. Bit 0 is for events without a user. */
const usersOf = (bits: SQL): SQL => sql`${countOnes(bits)} - coalesce(get_bit(${bits}, 0), 0)`;
const unowned = (bits: SQL): SQL => countOnes(sql`${bits} & (SELECT unowned FROM mask)`);

const countByBitmaps = async (
  connection: DuckDBConnection,
  source: Source,
  query: ReportQuery,
  { keys, hits, sessions, bySession = false, withAdds = false, size: { groups, events } }: Groups,
  { users, people, sessions: sessionNumbers }: Numbers,
): Promise<GroupCounts> => {
  const columns = toColumns(keys);
  // Tests the bits of the users in `whole` if there are few of them, because that costs less than reading their events
  // again.
  const { isOwned, whole } = await writeContactUsers(
    connection,
    source,
    query,
    Math.min(events, source.through) / groups,
  );
  const user = name('user');
  await run(
    connection,
    sql`CREATE OR REPLACE TEMP TABLE mask AS SELECT ~${bitmap(user, 0, users)} AS unowned
      FROM (SELECT "user" FROM owned UNION ALL SELECT "user" FROM whole)`,
  );
  const ifAdds = withAdds ? clause`FILTER (WHERE adds)` : nothing;
  const sessionBits = (lowest: number, highest: number): SQL =>
    clause`${bitmap(name('session'), lowest, highest, ifAdds)} AS sessions`;
  const allSessions = bySession ? clause`count(*) AS sessions` : sessionBits(sessions.lowest, sessions.highest);
  // Counted in the query that creates the bitmaps, because that query runs in all threads.
  const userCounts = clause`${usersOf(name('users'))} AS "numberOfUsers", ${unowned(name('users'))} AS "numberOfUnowned"`;
  const sessionCount = clause`${bySession ? name('sessions') : countOnes(name('sessions'))} AS "sessionCount"`;
  const concurrentBytes = maxConcurrentShare * source.memoryBytes;
  const together = groups * (users + sessionNumbers) <= 8 * concurrentBytes;
  const counts = list(together ? [userCounts, sessionCount] : [userCounts]);
  const withSessions = together ? clause`, 0 AS part, ${allSessions}` : nothing;
  await run(
    connection,
    sql`CREATE OR REPLACE TEMP TABLE user_bits AS SELECT *, ${counts} FROM (
      SELECT ${columns}, ${countEvents(bySession)} AS events, ${bitmap(user, 0, users, ifAdds)} AS users${withSessions}
      FROM ${hits({ session: together, adds: withAdds })} GROUP BY ${columns})`,
  );
  const sessionTable = name(together ? 'user_bits' : 'session_bits');
  if (!together) {
    await run(
      connection,
      sql`CREATE OR REPLACE TEMP TABLE session_bits AS
        SELECT ${columns}, 0 AS part, NULL::BIT AS sessions, 0 AS "sessionCount" FROM user_bits LIMIT 0`,
    );
    // Counts sessions in ranges of session numbers. Numbers increase over time, so each event is read for only one
    // range.
    const parts = Math.ceil((groups * sessionNumbers) / (8 * concurrentBytes));
    const step = 8 * Math.ceil(sessionNumbers / parts / 8);
    for (let lowest = sessions.lowest; lowest <= sessions.highest; lowest += step) {
      const highest = Math.min(lowest + step - 1, sessions.highest);
      await run(
        connection,
        sql`INSERT INTO session_bits SELECT *, ${sessionCount} FROM (
          SELECT ${columns}, ${lowest} AS part, ${sessionBits(lowest, highest)}
          FROM ${hits({ session: true, adds: withAdds })} WHERE session BETWEEN ${lowest} AND ${highest} GROUP BY ${columns})`,
      );
    }
  }
  // All events of a user in `whole` belong to one contact.
  const personBits = bitmap(
    sql`CASE WHEN person > 0 THEN person + ${users} ELSE -person END`,
    isOwned ? 0 : users,
    people,
  );
  await writeOwnerBits(connection, { keys, hits, bySession }, { isOwned, whole }, personBits);
  await run(
    connection,
    sql`CREATE OR REPLACE TEMP TABLE groups AS SELECT h.* EXCLUDE (unowned), unowned + coalesce(t.people, 0) AS people
      FROM (
        SELECT h.*, t.sessions FROM (SELECT ${columns}, events, "numberOfUsers" AS users, "numberOfUnowned" AS unowned FROM user_bits) h
        JOIN (SELECT ${columns}, sum("sessionCount") AS sessions FROM ${sessionTable} GROUP BY ${columns}) t ON ${sameGroup(keys)}
      ) h LEFT JOIN (SELECT ${columns}, bit_count(people) AS people FROM owner_bits) t ON ${sameGroup(keys)}`,
  );
  const unitedSessions = bySession ? sql`sum(sessions)` : sql`bit_count(bit_or(sessions))`;
  const [allUsers, allPeople] = [sql`bit_or(users)`, sql`bit_or(people)`];
  /** Counts over all groups by combining their bitmaps. `rest` is SQL that excludes groups (notIn). */
  const unite = async (rest: SQL): Promise<Row | undefined> => {
    const [row] = await run(
      connection,
      sql`SELECT sum(events) AS events, ${usersOf(allUsers)} AS users,
        ${unowned(allUsers)} + (SELECT ${countOnes(allPeople)} FROM owner_bits ${rest}) AS people,
        (SELECT sum(ones) FROM (SELECT ${unitedSessions} AS ones FROM ${sessionTable} ${rest} GROUP BY part)) AS sessions
      FROM user_bits ${rest}`,
    );
    return row;
  };
  return { total: () => unite(nothing), without: (table) => unite(notIn(keys, table)) };
};

/**
 * Creates the temporary table `groups` (see GroupCounts) with bitmaps, or with hash tables if bitmaps would take too
 * much memory for the number of events.
 */
export const countGroups = async (
  connection: DuckDBConnection,
  source: Source,
  query: ReportQuery,
  groups: Groups,
): Promise<GroupCounts> => {
  const { sessions, size } = groups;
  const users = source.bounds.user;
  const numbers: Numbers = {
    users,
    people: users + (await source.highestContact(connection)),
    sessions: groups.bySession ? 0 : sessions.highest - sessions.lowest + 1,
  };
  const bytes = (size.groups * (numbers.users + numbers.people + numbers.sessions)) / 8;
  return bytes > Math.min(maxMemoryShare * source.memoryBytes, size.events / eventsPerByte)
    ? countByHashes(connection, groups)
    : countByBitmaps(connection, source, query, groups, numbers);
};
