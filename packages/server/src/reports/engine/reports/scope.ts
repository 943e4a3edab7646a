/** Selects the events that a report counts, as SQL. */
import { type ReportQuery, sessionPauseMilliseconds } from '../../queries.ts';
import { visitorOfEvent } from '../files/visitors.ts';
import type { Source } from '../source.ts';
import { and, clause, name as column, list, nothing, type SQL, sql } from '../sql.ts';
import { createConditions } from './conditions.ts';
import { type Grid, spanOf } from './grid.ts';

const placesOfTime = Number.MAX_SAFE_INTEGER;
const maxBigint = 2 ** 63;

/** Where the session numbers of a report's events come from (sessions.ts). */
export interface Sessions {
  /**
   * A grid whose spans are no longer than the session pause, so that a visitor has one session per span. Null if all
   * session numbers are stored with the events.
   */
  readonly grid: Grid | null;
  /** The range of all session numbers. */
  readonly lowest: number;
  readonly highest: number;
}

/** Which events `hits` selects, and which columns it returns besides `user` (0 if there is no user). */
export interface HitOptions {
  readonly person?: boolean;
  readonly session?: boolean;
  readonly sequence?: boolean;
  /** Selects each event once, without its groups. */
  readonly once?: boolean;
  /** Selects events that match a BreakdownQuery's `among` instead of its condition. */
  readonly among?: boolean;
  /** Includes the column `adds` (see Scope.adds). */
  readonly adds?: boolean;
  /** Selects only events of users in the table `owned` (contact-users.ts). */
  readonly owned?: boolean;
}

/** Builds a statement over a report's events. Each call adds the columns it uses to those that are read. */
export const createScope = (source: Source, query: ReportQuery) => {
  const read = new Set(['sequence', 'user', 'contact', 'eventTime']);
  const addedColumns: SQL[] = [];

  const { text, number, kind, meets } = createConditions(source, query, read);
  const matched = (): SQL => (query.condition === null ? and([]) : meets(query.condition));

  /**
   * Builds a query that returns all events in the report's range that meet `where`, excluding those from bots unless
   * the report counts them. Its columns are `visitor` (visitors.ts), `person` if `withPerson`, `session` if there are
   * `sessions`, and the added columns.
   */
  const rows = ({
    withPerson = true,
    where = and([]),
    sessions = null,
  }: {
    readonly withPerson?: boolean;
    readonly where?: SQL;
    readonly sessions?: Sessions | null;
  } = {}): SQL => {
    if (!query.robots) read.add('robot');
    if (sessions) read.add('session');
    const selectList = [clause`${visitorOfEvent} AS visitor`, ...addedColumns];
    if (withPerson) selectList.push(clause`${source.person.person} AS person`);
    if (sessions)
      selectList.push(clause`${sessions.grid ? sql`coalesce(s.session, e.session)` : sql`e.session`} AS session`);
    const sessionJoin = sessions?.grid
      ? clause`LEFT JOIN sessions s ON s.visitor = ${visitorOfEvent} AND s.span = ${spanOf(sessions.grid, sql`e."eventTime"`)}`
      : nothing;
    const conditions = [
      sql`"eventTime" >= ${query.from}`,
      sql`"eventTime" < ${query.to}`,
      ...(query.robots ? [] : [sql`NOT robot`]),
      ...('until' in query && query.until !== null ? [sql`sequence <= ${query.until}`] : []),
      where,
    ];
    return sql`SELECT ${list(selectList)} FROM (SELECT * FROM ${source.select([...read])} e WHERE ${and(conditions)}) e
      ${withPerson ? source.person.joins : nothing} ${sessionJoin}`;
  };

  return {
    text,
    number,
    kind,
    meets,
    /** Whether the event meets the report's own condition. */
    get matched(): SQL {
      return matched();
    },
    /**
     * Returns an event's position by time, then by sequence, as one number, which is faster to compare than two. It is
     * a HUGEINT only if necessary.
     */
    get place(): SQL {
      const sequences = source.through + 1;
      if ((query.to - query.from) * sequences < maxBigint)
        return sql`("eventTime" - ${query.from}) * ${sequences} + sequence`;
      return sql`"eventTime"::HUGEINT * ${placesOfTime} + sequence`;
    },
    /** Returns the number of the span that contains the event's time. */
    spanOf: (grid: Grid): SQL => spanOf(grid, sql`"eventTime"`),
    /**
     * Whether an event might be its visitor's or session's first in the span. It can't be if its session's previous
     * event is in the span. Only for reports without a condition.
     */
    adds(grid: Grid, sessions: Sessions): SQL {
      read.add('begins');
      const start = Math.max(query.from, source.cutUntil);
      return sql`e.begins OR "eventTime" - ${start} < ${sessionPauseMilliseconds}
        OR ("eventTime" - ${grid.anchor}) % ${grid.milliseconds} < ${sessionPauseMilliseconds}
        ${sessions.grid ? clause`OR s.session IS NOT NULL` : nothing}`;
    },
    /** Adds a column to `rows`. */
    add: (name: string, value: SQL): void => {
      addedColumns.push(clause`${value} AS ${column(name)}`);
    },
    rows,
    /** Like `rows`, but only for events that meet the report's own condition. */
    hits({ person: withPerson = false, owned = false, sequence = false }: HitOptions, sessions: Sessions | null): SQL {
      addedColumns.push(clause`e."user"`, ...(sequence ? [clause`e.sequence`] : []));
      const where = owned ? sql`${matched()} AND "user" IN (SELECT "user" FROM owned)` : matched();
      return rows({ withPerson, where, sessions });
    },
  };
};
export type Scope = ReturnType<typeof createScope>;
