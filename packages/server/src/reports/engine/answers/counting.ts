/**
 * Counts the distinct users, people and sessions in groups of events, in all groups, and in those that are not among some of them.
 *
 * Users, contacts and sessions are numbers without many gaps, so a set of them is a bitmap: the sets of several groups are united without
 * another look at the events, and a group takes some 100 KB for a million events where a hash table takes 16 bytes for each of its pairs.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Question } from '../../questions.ts';
import type { Source } from '../account.ts';
import { clause, list, name, nothing, type SQL, sql } from '../sql.ts';
import { type Row, run } from '../statements.ts';
import { sameGroup } from './groups.ts';
import { writeOwned } from './owned.ts';
import type { Sessions, Wanted } from './scope.ts';

/** The part of the memory that the bitmaps of all groups may take. Each thread makes its own, so those that are made at once may take less. */
const maxMemoryShare = 0.4;
const maxConcurrentShare = 0.2;
/** A bitmap for fewer events than this part of its bytes costs more than a hash table. */
const eventsPerByte = 0.02;

/** Writes a query of events with the columns `keys` and `user`, and what is wanted. */
export type WriteHits = (wanted: Wanted) => SQL;

/** What can be asked of the temporary table `groups`: of each group its keys, `events`, `users`, `people` and `sessions`. */
export interface Counted {
  /** The measures of all events. */
  total(): Promise<Row | undefined>;
  /** Those of all groups but the ones in a table. */
  without(table: SQL): Promise<Row | undefined>;
}

export interface Groups {
  readonly keys: readonly string[];
  readonly hits: WriteHits;
  readonly sessions: Sessions;
  /** Whether hits without people are rows of sessions, each in one group and with the number of its `events`. */
  readonly bySession?: boolean;
  /** Whether hits have the column `adds`: those for which it is FALSE add no user and no session to their group. */
  readonly withAdds?: boolean;
  /** If an event may be of several groups: writes each event once, without its groups. */
  readonly once?: WriteHits | undefined;
  /** How many groups there are at most, and how many events. */
  readonly size: Size;
}

interface Size {
  readonly groups: number;
  readonly events: number;
}

/** The number of events in hits. */
export const numberOfEvents = (bySession: boolean): SQL => (bySession ? sql`sum(events)::BIGINT` : sql`count(*)`);

/** The range is made longer to a multiple of 8: DuckDB sets the bits that are missing from a byte again and again, which doubles the time. */
const bitmap = (number: SQL, lowest: number, greatest: number, filter = nothing): SQL => {
  const bytes = Math.max(1, Math.ceil((greatest - lowest + 1) / 8));
  return sql`bitstring_agg(${number}, ${lowest}, ${lowest + 8 * bytes - 1}) ${filter}`;
};
const ones = (bits: SQL): SQL => sql`coalesce(bit_count(${bits}), 0)`;

const byHashes = clause`count(*) AS events, count(DISTINCT "user") FILTER (WHERE "user" > 0) AS users,
  count(DISTINCT person) AS people, count(DISTINCT session) AS sessions`;

const columnsOf = (keys: readonly string[]): SQL => list(keys.map(name));
/** Leaves out the rows of `h` whose group is in a table. */
const notIn = (keys: readonly string[], table: SQL): SQL => clause`h ANTI JOIN ${table} t ON ${sameGroup(keys)}`;

const countByHashes = async (connection: DuckDBConnection, { keys, hits, once }: Groups): Promise<Counted> => {
  const columns = columnsOf(keys);
  const found = hits({ person: true, session: true, sequence: once !== undefined });
  // An event is in a group once, though it may be in several.
  await run(
    connection,
    sql`CREATE OR REPLACE TEMP TABLE counted AS SELECT ${columns}, GROUPING(${columns}) AS total, ${byHashes}
      FROM ${found} GROUP BY ${once ? columns : clause`GROUPING SETS ((), (${columns}))`}`,
  );
  await run(connection, sql`CREATE OR REPLACE TEMP TABLE groups AS SELECT * FROM counted WHERE total = 0`);
  const all = once?.({ person: true, session: true, sequence: true });
  const count = async (rows: SQL): Promise<Row | undefined> =>
    (await run(connection, sql`SELECT ${byHashes} FROM ${rows}`))[0];
  return {
    total: async () => (all ? count(all) : (await run(connection, sql`SELECT * FROM counted WHERE total > 0`))[0]),
    without(table) {
      if (!all) return count(clause`${found} ${notIn(keys, table)}`);
      const inTable = sql`SELECT sequence FROM ${found} h SEMI JOIN ${table} t ON ${sameGroup(keys)}`;
      return count(clause`${all} ANTI JOIN ${inTable} USING (sequence)`);
    },
  };
};

/** The greatest numbers of users and of people, and how many sessions have numbers. */
interface Numbers {
  readonly users: number;
  readonly people: number;
  readonly sessions: number;
}

const countByBitmaps = async (
  connection: DuckDBConnection,
  source: Source,
  question: Question,
  { keys, hits, sessions, bySession = false, withAdds = false, size: { groups, events } }: Groups,
  { users, people, sessions: numbersOfSessions }: Numbers,
): Promise<Counted> => {
  const columns = columnsOf(keys);
  // Looking at each bit of whole users costs less than reading their events again while there are fewer.
  const { isOwned, whole } = await writeOwned(connection, source, question, Math.min(events, source.through) / groups);
  const user = name('user');
  await run(
    connection,
    sql`CREATE OR REPLACE TEMP TABLE mask AS SELECT ~${bitmap(user, 0, users)} AS unowned
      FROM (SELECT "user" FROM owned UNION ALL SELECT "user" FROM whole)`,
  );
  const ifAdds = withAdds ? clause`FILTER (WHERE adds)` : nothing;
  const usersOf = (bits: SQL): SQL => sql`${ones(bits)} - coalesce(get_bit(${bits}, 0), 0)`;
  const unowned = (bits: SQL): SQL => ones(sql`${bits} & (SELECT unowned FROM mask)`);
  const sessionBits = (lowest: number, greatest: number): SQL =>
    clause`${bitmap(name('session'), lowest, greatest, ifAdds)} AS sessions`;
  const allSessions = bySession ? clause`count(*) AS sessions` : sessionBits(sessions.lowest, sessions.greatest);
  // Counted where they are made: both threads do that.
  const numbersOfUsers = clause`${usersOf(name('users'))} AS "numberOfUsers", ${unowned(name('users'))} AS "numberOfUnowned"`;
  const numberOfSessions = clause`${bySession ? name('sessions') : ones(name('sessions'))} AS "numberOfSessions"`;
  const atOnce = maxConcurrentShare * source.memoryBytes;
  const together = groups * (users + numbersOfSessions) <= 8 * atOnce;
  const counts = list(together ? [numbersOfUsers, numberOfSessions] : [numbersOfUsers]);
  const withSessions = together ? clause`, 0 AS part, ${allSessions}` : nothing;
  await run(
    connection,
    sql`CREATE OR REPLACE TEMP TABLE user_bits AS SELECT *, ${counts} FROM (
      SELECT ${columns}, ${numberOfEvents(bySession)} AS events, ${bitmap(user, 0, users, ifAdds)} AS users${withSessions}
      FROM ${hits({ session: together, adds: withAdds })} GROUP BY ${columns})`,
  );
  const sessionTable = name(together ? 'user_bits' : 'session_bits');
  if (!together) {
    await run(
      connection,
      sql`CREATE OR REPLACE TEMP TABLE session_bits AS
        SELECT ${columns}, 0 AS part, NULL::BIT AS sessions, 0 AS "numberOfSessions" FROM user_bits LIMIT 0`,
    );
    // In ranges of their numbers, which grow with time, so that an event's row is read for one range only.
    const parts = Math.ceil((groups * numbersOfSessions) / (8 * atOnce));
    const step = 8 * Math.ceil(numbersOfSessions / parts / 8);
    for (let lowest = sessions.lowest; lowest <= sessions.greatest; lowest += step) {
      const greatest = Math.min(lowest + step - 1, sessions.greatest);
      await run(
        connection,
        sql`INSERT INTO session_bits SELECT *, ${numberOfSessions} FROM (
          SELECT ${columns}, ${lowest} AS part, ${sessionBits(lowest, greatest)}
          FROM ${hits({ session: true, adds: withAdds })} WHERE session BETWEEN ${lowest} AND ${greatest} GROUP BY ${columns})`,
      );
    }
  }
  // Whole users belong to contacts.
  const personBits = bitmap(
    sql`CASE WHEN person > 0 THEN person + ${users} ELSE -person END`,
    isOwned ? 0 : users,
    people,
  );
  const parts = [sql`SELECT ${columns}, NULL::BIT AS people FROM user_bits LIMIT 0`];
  if (isOwned)
    parts.push(sql`SELECT ${columns}, ${personBits} FROM ${hits({ person: true, owned: true })} GROUP BY ${columns}`);
  if (whole > 0) {
    // There are fewer sessions than bits of whole users.
    const found = bySession
      ? clause`${hits({})} JOIN whole USING ("user")`
      : clause`user_bits h JOIN whole w ON get_bit(h.users, w."user"::INTEGER) = 1`;
    parts.push(sql`SELECT ${columns}, ${personBits} FROM ${found} GROUP BY ${columns}`);
  }
  await run(
    connection,
    sql`CREATE OR REPLACE TEMP TABLE owner_bits AS SELECT ${columns}, bit_or(people) AS people
      FROM (${list(parts, ' UNION ALL ')}) GROUP BY ${columns}`,
  );
  await run(
    connection,
    sql`CREATE OR REPLACE TEMP TABLE groups AS SELECT h.* EXCLUDE (unowned), unowned + coalesce(t.people, 0) AS people
      FROM (
        SELECT h.*, t.sessions FROM (SELECT ${columns}, events, "numberOfUsers" AS users, "numberOfUnowned" AS unowned FROM user_bits) h
        JOIN (SELECT ${columns}, sum("numberOfSessions") AS sessions FROM ${sessionTable} GROUP BY ${columns}) t ON ${sameGroup(keys)}
      ) h LEFT JOIN (SELECT ${columns}, bit_count(people) AS people FROM owner_bits) t ON ${sameGroup(keys)}`,
  );
  const unitedSessions = bySession ? sql`sum(sessions)` : sql`bit_count(bit_or(sessions))`;
  const [allUsers, allPeople] = [sql`bit_or(users)`, sql`bit_or(people)`];
  /** `rest` leaves out groups of a table `h`. */
  const united = async (rest: SQL): Promise<Row | undefined> => {
    const [row] = await run(
      connection,
      sql`SELECT sum(events) AS events, ${usersOf(allUsers)} AS users,
        ${unowned(allUsers)} + (SELECT ${ones(allPeople)} FROM owner_bits ${rest}) AS people,
        (SELECT sum(ones) FROM (SELECT ${unitedSessions} AS ones FROM ${sessionTable} ${rest} GROUP BY part)) AS sessions
      FROM user_bits ${rest}`,
    );
    return row;
  };
  return { total: () => united(nothing), without: (table) => united(notIn(keys, table)) };
};

/**
 * Creates the temporary table `groups`, whose columns `Counted` lists: by bitmaps, or by hash tables where bitmaps would take too much
 * memory for this number of events.
 */
export const countGroups = async (
  connection: DuckDBConnection,
  source: Source,
  question: Question,
  groups: Groups,
): Promise<Counted> => {
  const { sessions, size } = groups;
  const users = source.bounds.user;
  const numbers: Numbers = {
    users,
    people: users + (await source.greatestContact(connection)),
    sessions: groups.bySession ? 0 : sessions.greatest - sessions.lowest + 1,
  };
  const bytes = (size.groups * (numbers.users + numbers.people + numbers.sessions)) / 8;
  return bytes > Math.min(maxMemoryShare * source.memoryBytes, size.events / eventsPerByte)
    ? countByHashes(connection, groups)
    : countByBitmaps(connection, source, question, groups, numbers);
};
