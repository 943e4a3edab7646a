/**
 * Numbers an account's sessions by visitor: a user or, for an event without a user, the logged contact as a negative
 * number. The table `irregular_<account>` lists the visitors whose sessions each report must compute (visits.ts).
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { robotMark } from '@firsthand/contract/identifiers';
import type { EventFeedPage, FeedErasure } from '../../../store/report-feed.ts';
import type { Snapshot } from '../source.ts';
import { integers, name, type SQL, sql } from '../sql.ts';
import { appendIntegers, type Row, run } from '../statements.ts';
import { listUndone } from './erasures.ts';
import { createVisits, maxVisitors, type VisitHistory, type Visits } from './visits.ts';

/** SQL for an event's visitor (alias `e`). */
export const visitorOfEvent = sql`CASE WHEN e."user" > 0 THEN e."user" ELSE -e.contact END`;

/** The columns that `load` and `number` read. */
export const visitorColumns = ['sequence', 'user', 'contact', 'eventTime', 'robot', 'session'] as const;

/** Returns, for each event, 1 if it is from a bot, otherwise 0. */
const findRobots = ({ count, attributes }: EventFeedPage): Uint8Array => {
  const robots = new Uint8Array(count);
  const marks = attributes.find(({ attrID }) => attrID === robotMark.attrID);
  marks?.rows.forEach((row, index) => {
    if (marks.texts[marks.which[index] as number] === robotMark.attrValue) robots[row] = 1;
  });
  return robots;
};

/** Reports whether a contact's events, or the event with a given sequence number, are erased. */
interface ErasedEvents {
  isContactErased(contact: number): boolean;
  isUndoneAt(sequence: number): boolean;
}

export interface NumberedSessions {
  readonly sessions: Float64Array;
  readonly begins: Uint8Array;
}

const visitorsOf = (rows: readonly Row[]): number[] => rows.map((row) => Number(row.visitor));

/** A query for all events, and a condition that an event `e` is from an undone import. */
interface StoredEvents {
  readonly rows: SQL;
  readonly isUndone: SQL;
}

/** Finds the users with erased events. `rows` selects all events. */
const findErased = async (
  connection: DuckDBConnection,
  erased: readonly FeedErasure[],
  { rows, isUndone }: StoredEvents,
): Promise<number[]> => {
  const users = erased.flatMap((erasure) => ('user' in erasure ? [erasure.user] : []));
  const contacts = erased.flatMap((erasure) => ('contact' in erasure ? [erasure.contact] : []));
  const ofContacts = sql`SELECT DISTINCT "user" AS visitor FROM ${rows}
    WHERE "user" > 0 AND contact IN (SELECT unnest(${integers(contacts)}))`;
  // Excludes visitors with no remaining events.
  const ofUndone = sql`SELECT visitor FROM (SELECT ${visitorOfEvent} AS visitor, ${isUndone} AS gone FROM ${rows} e)
    GROUP BY visitor HAVING bool_or(gone) AND NOT bool_and(gone)`;
  return [
    ...users,
    ...(contacts.length > 0 ? visitorsOf(await run(connection, ofContacts)) : []),
    ...(listUndone(erased).length > 0 ? visitorsOf(await run(connection, ofUndone)) : []),
  ];
};

const readBounds = async (connection: DuckDBConnection, rows: SQL): Promise<Snapshot['bounds']> => {
  const [row] = await run(
    connection,
    sql`SELECT max("user") AS "user", max(contact) AS contact, max(session) AS session FROM ${rows}`,
  );
  return { user: Number(row?.user), contact: Number(row?.contact), session: Number(row?.session) };
};

/** Reads the last event of each recently active visitor. `rows` selects all events. */
const readHistory = async (
  connection: DuckDBConnection,
  rows: SQL,
): Promise<Pick<VisitHistory, 'visitors' | 'evictedUntil'>> => {
  const newest = await run(
    connection,
    sql`SELECT visitor, last, session FROM (
      SELECT ${visitorOfEvent} AS visitor, max("eventTime") AS last, arg_max(session, sequence) AS session
      FROM ${rows} e WHERE session IS NOT NULL GROUP BY visitor
    ) ORDER BY last DESC LIMIT ${maxVisitors + 1}`,
  );
  const visitors = newest.map(({ visitor, last, session }) => ({
    visitor: Number(visitor),
    last: Number(last),
    session: Number(session),
  }));
  const evicted = visitors[maxVisitors];
  return { visitors: visitors.slice(0, maxVisitors), evictedUntil: evicted ? evicted.last : Number.NEGATIVE_INFINITY };
};

export const createVisitors = (account: number, storedBroken: readonly number[]) => {
  const tableName = `irregular_${account}`;
  const table = name(tableName);
  /** Created when events are first appended. */
  let visits: Visits | undefined;
  /** Visitors that are irregular because some of their events were erased. */
  const broken = new Set(storedBroken);
  const bounds = { user: 0, contact: 0, session: 0 };
  let listedCount = 0;
  /** Whether there are too many irregular visitors to list. */
  const isDisabled = (): boolean => visits?.isDisabled === true;

  const insert = async (connection: DuckDBConnection, visitors: readonly number[]): Promise<void> => {
    appendIntegers(await connection.createAppender(tableName), [visitors]);
    listedCount += visitors.length;
  };
  /** Loads the state that appending needs from existing events, which `rows` selects. */
  const loadVisits = async (connection: DuckDBConnection, rows: SQL): Promise<Visits> => {
    const irregular = visitorsOf(await run(connection, sql`SELECT visitor FROM ${table}`));
    return createVisits({ ...(await readHistory(connection, rows)), lastSession: bounds.session }, irregular);
  };

  return {
    /** Returns the state that a report reads. Copies the bounds, because appending events changes them. */
    snapshot: (): Pick<Snapshot, 'bounds' | 'irregular'> => ({
      bounds: { ...bounds },
      irregular: { table, visitors: isDisabled() ? 'all' : listedCount },
    }),
    /** The visitors with erased events, to be saved in the manifest. */
    broken: (): number[] => [...broken],
    /** Initializes the visitors from existing events. `rows` selects their `visitorColumns`. */
    async load(connection: DuckDBConnection, rows: SQL): Promise<void> {
      await run(connection, sql`CREATE OR REPLACE TABLE ${table} (visitor BIGINT)`);
      Object.assign(bounds, await readBounds(connection, rows));
      const irregular = sql`SELECT DISTINCT ${visitorOfEvent} AS visitor FROM ${rows} e WHERE session IS NULL AND NOT robot`;
      const withoutSession = visitorsOf(await run(connection, irregular));
      await insert(connection, [...new Set([...withoutSession, ...broken])]);
    },
    /**
     * Numbers the sessions of the events to append, with 0 for no session. Also returns which events begin a session.
     * `rows` selects existing events.
     */
    async number(
      connection: DuckDBConnection,
      fed: EventFeedPage,
      rows: SQL,
      { isContactErased, isUndoneAt }: ErasedEvents,
    ): Promise<NumberedSessions> {
      visits ??= await loadVisits(connection, rows);
      const { count, user, contact, eventTime } = fed;
      const sessions = new Float64Array(count);
      const begins = new Uint8Array(count).fill(1);
      const robots = findRobots(fed);
      const added = new Set<number>();
      for (let row = 0; row < count; row += 1) {
        const [ofUser, ofContact] = [user[row] as number, contact[row] as number];
        bounds.user = Math.max(bounds.user, ofUser);
        bounds.contact = Math.max(bounds.contact, ofContact);
        const visitor = ofUser > 0 ? ofUser : -ofContact;
        if ((ofUser > 0 && ofContact > 0 && isContactErased(ofContact)) || isUndoneAt(fed.sequence[row] as number)) {
          if (!visits.irregular.has(visitor)) added.add(visitor);
          visits.irregular.add(visitor);
          broken.add(visitor);
        }
        if (visits.isDisabled || robots[row] === 1) continue;
        const wasIrregular = visits.irregular.has(visitor);
        const session = visits.sessionOf(visitor, eventTime[row] as number);
        sessions[row] = session;
        begins[row] = session === 0 || session > bounds.session ? 1 : 0;
        bounds.session = Math.max(bounds.session, session);
        if (session === 0 && !wasIrregular) added.add(visitor);
      }
      if (added.size > 0) await insert(connection, [...added]);
      return { sessions, begins };
    },
    /** Marks visitors with erased events, because the erasure changes their sessions. */
    async breakUp(connection: DuckDBConnection, erased: readonly FeedErasure[], stored: StoredEvents): Promise<void> {
      const fresh = (await findErased(connection, erased, stored)).filter((visitor) => !broken.has(visitor));
      for (const visitor of fresh) {
        broken.add(visitor);
        visits?.irregular.add(visitor);
      }
      // Inserts without a check, because duplicates in the table are harmless.
      if (fresh.length > 0) await insert(connection, fresh);
    },
    async drop(connection: DuckDBConnection): Promise<void> {
      await run(connection, sql`DROP TABLE IF EXISTS ${table}`);
    },
  };
};
