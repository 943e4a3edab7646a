/**
 * The visitors of an account: whose sessions an event continues. A visitor is a user or, for an event without one, the contact that it was
 * logged with, as a number below zero. The table `irregular_<account>` lists those whose sessions are found for each report (visits.ts).
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { robotMark } from '@firsthand/contract/identifiers';
import type { FedEvents } from '../../../store/report-feed.ts';
import { name, type SQL, sql } from '../sql.ts';
import { appendIntegers, type Row, run } from '../statements.ts';
import { createVisits, maxVisitors, type Visits } from './visits.ts';

/** Of an event `e`. */
export const visitorOfEvent = sql`CASE WHEN e."user" > 0 THEN e."user" ELSE -e.contact END`;

/** The columns that `load` and `number` read. */
export const visitorColumns = ['sequence', 'user', 'contact', 'eventTime', 'robot', 'session'] as const;

/** Which events are of robots. */
const robotsOf = ({ count, attributes }: FedEvents): Uint8Array => {
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
  /** Made when events are appended for the first time. */
  let visits: Visits | undefined;
  /** Visitors that are irregular although no event says so: a part of their history was erased. */
  const broken = new Set<number>();
  const bounds = { user: 0, contact: 0, session: 0 };
  let listed = 0;
  let isGivenUp = false;

  const insert = async (connection: DuckDBConnection, visitors: readonly number[]): Promise<void> => {
    appendIntegers(await connection.createAppender(tableName), [visitors]);
    listed += visitors.length;
  };
  const visitorsOf = (rows: readonly Row[]): number[] => rows.map((row) => Number(row.visitor));

  return {
    table,
    bounds,
    /** How many visitors are in the table; 'all' when there are too many to be told apart. */
    get irregular(): number | 'all' {
      return isGivenUp ? 'all' : listed;
    },
    /** What a manifest keeps. */
    get broken(): number[] {
      return [...broken];
    },
    /** Begins with the events that `rows` selects, with the columns `visitorColumns`; null: there are none. */
    async load(connection: DuckDBConnection, rows: SQL | null, brokenBefore: readonly number[]): Promise<void> {
      await run(connection, sql`CREATE OR REPLACE TABLE ${table} (visitor BIGINT)`);
      for (const visitor of brokenBefore) broken.add(visitor);
      let found: number[] = [];
      if (rows !== null) {
        const [most] = await run(
          connection,
          sql`SELECT max("user") AS "user", max(contact) AS contact, coalesce(max(session), 0) AS session FROM ${rows}`,
        );
        for (const bound of ['user', 'contact', 'session'] as const) bounds[bound] = Number(most?.[bound]);
        const irregular = sql`SELECT DISTINCT ${visitorOfEvent} AS visitor FROM ${rows} e WHERE session IS NULL AND NOT robot`;
        found = visitorsOf(await run(connection, irregular));
      }
      await insert(connection, [...new Set([...found, ...broken])]);
    },
    /** Learns what appending events needs of those before, which `rows` selects. */
    async learn(connection: DuckDBConnection, rows: SQL): Promise<void> {
      if (visits) return;
      const irregular = visitorsOf(await run(connection, sql`SELECT visitor FROM ${table}`));
      const known = await run(
        connection,
        sql`SELECT visitor, last, session FROM (
          SELECT ${visitorOfEvent} AS visitor, max("eventTime") AS last, arg_max(session, sequence) AS session
          FROM ${rows} e WHERE session IS NOT NULL GROUP BY visitor
        ) ORDER BY last DESC LIMIT ${maxVisitors + 1}`,
      );
      const remembered = known.map(({ visitor, last, session }) => ({
        visitor: Number(visitor),
        last: Number(last),
        session: Number(session),
      }));
      const forgotten = remembered[maxVisitors];
      visits = createVisits(
        {
          visitors: remembered.slice(0, maxVisitors),
          forgottenUntil: forgotten ? forgotten.last : Number.NEGATIVE_INFINITY,
          lastSession: bounds.session,
        },
        irregular,
      );
      isGivenUp = visits.isGivenUp;
    },
    /**
     * The session of each of these events, and whether it begins with it; 0: it has none. They are about to be appended. `isErased`: of an event
     * logged with this contact.
     */
    async number(
      connection: DuckDBConnection,
      { count, user, contact, eventTime, ...fed }: FedEvents,
      isErased: (contact: number) => boolean,
    ): Promise<NumberedSessions> {
      const numbering = visits as Visits;
      const sessions = new Float64Array(count);
      const begins = new Uint8Array(count).fill(1);
      const robots = robotsOf({ count, user, contact, eventTime, ...fed });
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
        if (isGivenUp || robots[row] === 1) continue;
        const wasIrregular = numbering.irregular.has(visitor);
        const session = numbering.sessionOf(visitor, eventTime[row] as number);
        sessions[row] = session;
        begins[row] = session === 0 || session > bounds.session ? 1 : 0;
        bounds.session = Math.max(bounds.session, session);
        if (session === 0 && !wasIrregular) added.add(visitor);
      }
      if (added.size > 0) await insert(connection, [...added]);
      isGivenUp ||= numbering.isGivenUp;
      return { sessions, begins };
    },
    /** Notes visitors of whose history a part is erased. */
    async breakUp(connection: DuckDBConnection, visitors: readonly number[]): Promise<void> {
      const fresh = visitors.filter((visitor) => !broken.has(visitor));
      for (const visitor of fresh) {
        broken.add(visitor);
        visits?.irregular.add(visitor);
      }
      // A row may be there twice.
      await insert(connection, fresh);
    },
    async drop(connection: DuckDBConnection): Promise<void> {
      await run(connection, sql`DROP TABLE IF EXISTS ${table}`);
    },
  };
};
