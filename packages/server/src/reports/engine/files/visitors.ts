/**
 * The visitors of an account, to whom sessions belong: a user or, for an event without a user, the logged contact as a
 * negative number. The table `irregular_<account>` lists those whose sessions each report computes (visits.ts).
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { robotMark } from '@firsthand/contract/identifiers';
import type { EventFeedPage } from '../../../store/report-feed.ts';
import { name, type SQL, sql } from '../sql.ts';
import { appendIntegers, type Row, run } from '../statements.ts';
import { createVisits, maxVisitors, type Visits } from './visits.ts';

/** The visitor of an event `e`. */
export const visitorOfEvent = sql`CASE WHEN e."user" > 0 THEN e."user" ELSE -e.contact END`;

/** The columns that `load` and `number` read. */
export const visitorColumns = ['sequence', 'user', 'contact', 'eventTime', 'robot', 'session'] as const;

/** For each event, 1 if it is from a bot. */
const findRobots = ({ count, attributes }: EventFeedPage): Uint8Array => {
  const robots = new Uint8Array(count);
  const marks = attributes.find(({ attrID }) => attrID === robotMark.attrID);
  marks?.rows.forEach((row, index) => {
    if (marks.texts[marks.which[index] as number] === robotMark.attrValue) robots[row] = 1;
  });
  return robots;
};

export interface NumberedSessions {
  readonly sessions: Float64Array;
  readonly begins: Uint8Array;
}

export const createVisitors = (account: number) => {
  const tableName = `irregular_${account}`;
  const table = name(tableName);
  /** Created when events are first appended. */
  let visits: Visits | undefined;
  /** Visitors that are irregular because some of their events were erased. */
  const broken = new Set<number>();
  const bounds = { user: 0, contact: 0, session: 0 };
  let listedCount = 0;
  let isDisabled = false;

  const insert = async (connection: DuckDBConnection, visitors: readonly number[]): Promise<void> => {
    appendIntegers(await connection.createAppender(tableName), [visitors]);
    listedCount += visitors.length;
  };
  const visitorsOf = (rows: readonly Row[]): number[] => rows.map((row) => Number(row.visitor));

  return {
    table,
    bounds,
    /** The number of visitors in the table; 'all' if there are too many to list. */
    get irregular(): number | 'all' {
      return isDisabled ? 'all' : listedCount;
    },
    /** For the manifest. */
    get broken(): number[] {
      return [...broken];
    },
    /** Initializes from existing events. `rows` selects their `visitorColumns`; null if there are none. */
    async load(connection: DuckDBConnection, rows: SQL | null, storedBroken: readonly number[]): Promise<void> {
      await run(connection, sql`CREATE OR REPLACE TABLE ${table} (visitor BIGINT)`);
      for (const visitor of storedBroken) broken.add(visitor);
      let withoutSession: number[] = [];
      if (rows !== null) {
        const [greatest] = await run(
          connection,
          sql`SELECT max("user") AS "user", max(contact) AS contact, coalesce(max(session), 0) AS session FROM ${rows}`,
        );
        for (const bound of ['user', 'contact', 'session'] as const) bounds[bound] = Number(greatest?.[bound]);
        const irregular = sql`SELECT DISTINCT ${visitorOfEvent} AS visitor FROM ${rows} e WHERE session IS NULL AND NOT robot`;
        withoutSession = visitorsOf(await run(connection, irregular));
      }
      await insert(connection, [...new Set([...withoutSession, ...broken])]);
    },
    /** Loads the state that appending needs from existing events, which `rows` selects. */
    async loadVisits(connection: DuckDBConnection, rows: SQL): Promise<void> {
      if (visits) return;
      const irregular = visitorsOf(await run(connection, sql`SELECT visitor FROM ${table}`));
      const newest = await run(
        connection,
        sql`SELECT visitor, last, session FROM (
          SELECT ${visitorOfEvent} AS visitor, max("eventTime") AS last, arg_max(session, sequence) AS session
          FROM ${rows} e WHERE session IS NOT NULL GROUP BY visitor
        ) ORDER BY last DESC LIMIT ${maxVisitors + 1}`,
      );
      const cachedVisitors = newest.map(({ visitor, last, session }) => ({
        visitor: Number(visitor),
        last: Number(last),
        session: Number(session),
      }));
      const evicted = cachedVisitors[maxVisitors];
      visits = createVisits(
        {
          visitors: cachedVisitors.slice(0, maxVisitors),
          evictedUntil: evicted ? evicted.last : Number.NEGATIVE_INFINITY,
          lastSession: bounds.session,
        },
        irregular,
      );
      isDisabled = visits.isDisabled;
    },
    /**
     * Numbers the sessions of events to append (0: no session), and returns which events begin a session. `isErased`:
     * whether events logged with a contact are erased.
     */
    async number(
      connection: DuckDBConnection,
      { count, user, contact, eventTime, ...fed }: EventFeedPage,
      isErased: (contact: number) => boolean,
    ): Promise<NumberedSessions> {
      const numbering = visits as Visits;
      const sessions = new Float64Array(count);
      const begins = new Uint8Array(count).fill(1);
      const robots = findRobots({ count, user, contact, eventTime, ...fed });
      const added = new Set<number>();
      for (let row = 0; row < count; row += 1) {
        const [ofUser, ofContact] = [user[row] as number, contact[row] as number];
        bounds.user = Math.max(bounds.user, ofUser);
        bounds.contact = Math.max(bounds.contact, ofContact);
        const visitor = ofUser > 0 ? ofUser : -ofContact;
        if (ofUser > 0 && ofContact > 0 && isErased(ofContact)) {
          if (!numbering.irregular.has(visitor)) added.add(visitor);
          numbering.irregular.add(visitor);
          broken.add(visitor);
        }
        if (isDisabled || robots[row] === 1) continue;
        const wasIrregular = numbering.irregular.has(visitor);
        const session = numbering.sessionOf(visitor, eventTime[row] as number);
        sessions[row] = session;
        begins[row] = session === 0 || session > bounds.session ? 1 : 0;
        bounds.session = Math.max(bounds.session, session);
        if (session === 0 && !wasIrregular) added.add(visitor);
      }
      if (added.size > 0) await insert(connection, [...added]);
      isDisabled ||= numbering.isDisabled;
      return { sessions, begins };
    },
    /** Marks visitors with erased events. */
    async breakUp(connection: DuckDBConnection, visitors: readonly number[]): Promise<void> {
      const fresh = visitors.filter((visitor) => !broken.has(visitor));
      for (const visitor of fresh) {
        broken.add(visitor);
        visits?.irregular.add(visitor);
      }
      // The table may contain duplicates.
      await insert(connection, fresh);
    },
    async drop(connection: DuckDBConnection): Promise<void> {
      await run(connection, sql`DROP TABLE IF EXISTS ${table}`);
    },
  };
};
