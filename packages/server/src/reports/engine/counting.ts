/**
 * Counts the distinct users, people and sessions in groups of events, in all, and in those that are not among the first groups.
 *
 * Users, contacts and sessions are numbers without many gaps, so a set of them is a bitmap: the sets of several groups are united without
 * another look at the events, and a group takes some 100 KB for a million events where a hash table takes 16 bytes for each of its pairs.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Source } from './account.ts';
import type { Sessions } from './scope.ts';
import { type Row, runSQL, runWith, type Values } from './values.ts';

/** The part of the memory that the bitmaps of all groups may take. Each thread makes its own, so those that are made at once may take less. */
const mostOfMemory = 0.4;
const mostAtOnce = 0.2;
/** A bitmap for fewer events than this part of its bytes costs more than a hash table. */
const eventsPerByte = 0.02;

/** Of each event: the columns `keys`, `visitor`, and `person` and `session` where they are asked for. */
export type WriteHits = (values: Values, wanted: { readonly person?: true; readonly session?: true }) => string;

interface Counted {
  readonly total: Row | undefined;
  /** The first groups, or all, each with its keys. */
  readonly rows: readonly Row[];
  /** How many groups are not in `rows`, and what is in them. */
  readonly further: number;
  readonly others: Row | undefined;
}

interface Groups {
  readonly keys: readonly string[];
  readonly hits: WriteHits;
  readonly sessions: Sessions;
  /** How many groups there are at most, if that is known. */
  readonly most?: number;
  /** Without it all groups are returned, in any order. */
  readonly first?: { readonly order: string; readonly limit: number };
}

const bitmap = (number: string, lowest: number, greatest: number): string =>
  `bitstring_agg(${number}, ${lowest}, ${Math.max(lowest, greatest)})`;
const ones = (bits: string): string => `coalesce(bit_count(${bits}), 0)`;

const byHashes = `count(*) AS events, count(DISTINCT visitor) FILTER (WHERE visitor > 0) AS users,
  count(DISTINCT person) AS people, count(DISTINCT session) AS sessions`;

export const countGroups = async (
  connection: DuckDBConnection,
  source: Source,
  { keys, hits, sessions, most, first }: Groups,
): Promise<Counted> => {
  const list = keys.join(', ');
  const sameGroup = keys.map((key) => `h.${key} IS NOT DISTINCT FROM t.${key}`).join(' AND ');
  const notFirst = `h ANTI JOIN first t ON ${sameGroup}`;

  /** Reads the temporary table `groups`: of each its keys and counts. */
  const readGroups = async (): Promise<{ rows: readonly Row[]; further: number }> => {
    const limit = first ? `ORDER BY ${first.order} LIMIT ${first.limit}` : '';
    await runSQL(connection, `CREATE TEMP TABLE first AS SELECT * FROM groups ${limit}`);
    const rows = await runSQL(connection, `SELECT * FROM first ${limit}`);
    const [counted] = await runSQL(connection, 'SELECT count(*) AS groups FROM groups');
    return { rows, further: Number(counted?.groups) - rows.length };
  };

  const users = source.bounds.user;
  const people = users + Math.max(source.bounds.contact, await source.greatestOwner(connection));
  const numbersOfSessions = sessions.greatest - sessions.lowest + 1;
  const bytesOfGroup = (users + people + numbersOfSessions) / 8;
  const fitsFor = (groups: number, events: number): boolean =>
    groups * bytesOfGroup <= Math.min(mostOfMemory * source.memoryBytes, events / eventsPerByte);
  const groupsOf = async () => {
    const [size] = await runWith(
      connection,
      (values) =>
        `SELECT count(*) AS groups, sum(events) AS events FROM (SELECT ${list}, count(*) AS events FROM (${hits(values, {})}) GROUP BY ${list})`,
    );
    return [Number(size?.groups), Number(size?.events ?? 0)] as const;
  };
  const [groups, events] = most === undefined ? await groupsOf() : ([most, Number.POSITIVE_INFINITY] as const);
  if (!fitsFor(groups, events)) {
    await runWith(
      connection,
      (values) => `CREATE TEMP TABLE counted AS SELECT ${list}, GROUPING(${list}) AS total, ${byHashes}
        FROM (${hits(values, { person: true, session: true })}) GROUP BY GROUPING SETS ((), (${list}))`,
    );
    await runSQL(connection, 'CREATE TEMP TABLE groups AS SELECT * FROM counted WHERE total = 0');
    const [total] = await runSQL(connection, 'SELECT * FROM counted WHERE total > 0');
    const { rows, further } = await readGroups();
    const [others] =
      further === 0
        ? []
        : await runWith(
            connection,
            (values) => `SELECT ${byHashes} FROM (${hits(values, { person: true, session: true })}) ${notFirst}`,
          );
    return { total, rows, further, others };
  }

  // Sessions in ranges of their numbers, which grow with time, so that an event's row is read for one range only; people with the first one.
  const parts = Math.max(1, Math.ceil((groups * bytesOfGroup) / (mostAtOnce * source.memoryBytes)));
  const step = Math.ceil(numbersOfSessions / parts);
  const sessionBits = (part: number): string => {
    const lowest = sessions.lowest + part * step;
    return bitmap('session', lowest, lowest + step - 1);
  };
  const peopleBits = `count(*) AS events, ${bitmap('visitor', 1, users)} FILTER (WHERE visitor > 0) AS users,
    ${bitmap(`CASE WHEN person > 0 THEN person + ${users} ELSE -person END`, 1, people)} AS people`;
  await runWith(connection, (values) => {
    const withSessions = parts === 1 ? `, 0 AS part, ${sessionBits(0)} AS sessions` : '';
    const found = hits(values, parts === 1 ? { person: true, session: true } : { person: true });
    return `CREATE TEMP TABLE people_bits AS SELECT ${list}, ${peopleBits}${withSessions} FROM (${found}) GROUP BY ${list}`;
  });
  if (parts > 1) {
    await runSQL(
      connection,
      `CREATE TEMP TABLE session_bits AS SELECT ${list}, 0 AS part, NULL::BIT AS sessions FROM people_bits LIMIT 0`,
    );
    for (let part = 0; part < parts; part += 1) {
      const lowest = sessions.lowest + part * step;
      await runWith(
        connection,
        (
          values,
        ) => `INSERT INTO session_bits SELECT ${list}, ${part}, ${sessionBits(part)} FROM (${hits(values, { session: true })})
          WHERE session BETWEEN ${lowest} AND ${lowest + step - 1} GROUP BY ${list}`,
      );
    }
  }
  const sessionTable = parts === 1 ? 'people_bits' : 'session_bits';
  await runSQL(
    connection,
    `CREATE TEMP TABLE groups AS SELECT h.*, t.sessions
      FROM (SELECT ${list}, events, ${ones('users')} AS users, ${ones('people')} AS people FROM people_bits) h
      JOIN (SELECT ${list}, sum(bit_count(sessions)) AS sessions FROM ${sessionTable} GROUP BY ${list}) t ON ${sameGroup}`,
  );
  /** `rest` leaves out groups of a table `h`. */
  const united = async (rest: string): Promise<Row | undefined> => {
    const [row] = await runSQL(
      connection,
      `SELECT sum(events) AS events, ${ones('bit_or(users)')} AS users, ${ones('bit_or(people)')} AS people,
        (SELECT sum(ones) FROM (SELECT bit_count(bit_or(sessions)) AS ones FROM ${sessionTable} ${rest} GROUP BY part)) AS sessions
      FROM people_bits ${rest}`,
    );
    return row;
  };
  const { rows, further } = await readGroups();
  return { total: await united(''), rows, further, others: further === 0 ? undefined : await united(notFirst) };
};
