/** The events that a question is about, as SQL. */
import { type Condition, type Question, sessionPauseMilliseconds } from '../../questions.ts';
import type { Source } from '../account.ts';
import { visitorOfEvent } from '../files/visitors.ts';
import { and, clause, name as column, list, nothing, or, type SQL, sql } from '../sql.ts';
import { type Grid, spanOf } from './grid.ts';

const placesOfTime = Number.MAX_SAFE_INTEGER;
const maxBigint = 2 ** 63;

/** Where the events of a question have the numbers of their sessions from (sessions.ts). */
export interface Sessions {
  /** Spans of at most the pause, so that the events of a visitor in one belong to one session; null: all numbers are those of the events. */
  readonly grid: Grid | null;
  /** All numbers are in this range. */
  readonly lowest: number;
  readonly greatest: number;
}

/** What `hits` selects of each event beside `user` (0: none). */
export interface Wanted {
  readonly person?: boolean;
  readonly session?: boolean;
  readonly sequence?: boolean;
  /** Each event once, without its groups. */
  readonly once?: boolean;
  /** The events that meet `among` of a BreakdownQuestion, instead of its condition. */
  readonly among?: boolean;
  /** The column `adds`, as `Scope.adds` says. */
  readonly adds?: boolean;
  /** Only events of users in the table `owned` (owned.ts). */
  readonly owned?: boolean;
}

/** A statement over the events of a question. Each call adds the columns that it names to those that are read. */
export const createScope = (source: Source, question: Question) => {
  const read = new Set(['sequence', 'user', 'contact', 'eventTime']);
  const added: SQL[] = [];
  const { columns, person } = source;

  /** The IDs of an attribute: the value of the first that an event has is its value. */
  const idsOf = (attrID: string): readonly string[] =>
    question.united?.attributes.find((ids) => ids.includes(attrID)) ?? [attrID];
  const readIn = (from: 'text' | 'number', attrID: string): SQL => {
    const found = columns[from](attrID);
    read.add(found.column);
    return found.sql;
  };
  /** The value of an attribute: text, or NULL. */
  const text = (attrID: string): SQL => {
    const texts = idsOf(attrID).map((id) => readIn('text', id));
    return texts.length === 1 ? (texts[0] as SQL) : sql`coalesce(${list(texts)})`;
  };
  /** The value of an attribute as a DOUBLE; NULL unless it is a decimal number. */
  const number = (attrID: string): SQL => {
    const ids = idsOf(attrID);
    if (ids.length === 1) return readIn('number', attrID);
    const cases = ids.map((id) => clause`WHEN ${readIn('text', id)} IS NOT NULL THEN ${readIn('number', id)}`);
    return sql`CASE ${list(cases, ' ')} END`;
  };
  const eventID = (): SQL => {
    read.add('eventID');
    return column('eventID');
  };
  /** The eventID that stands for that of the event. */
  const kind = (): SQL => {
    const cases = (question.united?.events ?? []).map(
      ([kept, ...others]) => clause`WHEN "eventID" IN (${list(others)}) THEN ${kept as number}`,
    );
    return cases.length === 0 ? eventID() : sql`CASE ${list(cases, ' ')} ELSE ${eventID()} END`;
  };
  /** TRUE or FALSE, never NULL. */
  const meets = (condition: Condition): SQL => {
    if ('and' in condition) return and(condition.and.map(meets));
    if ('or' in condition) return or(condition.or.map(meets));
    if ('not' in condition) return sql`NOT ${meets(condition.not)}`;
    if ('contacts' in condition || 'did' in condition || 'personFirst' in condition) return source.isOf(condition);
    if ('eventIDs' in condition)
      return condition.eventIDs.length === 0 ? or([]) : sql`${eventID()} IN (${list(condition.eventIDs)})`;
    const { attrID } = condition;
    if ('exists' in condition) return sql`(${text(attrID)} IS NOT NULL) = ${condition.exists ? and([]) : or([])}`;
    if ('is' in condition)
      return condition.is.length === 0 ? or([]) : sql`coalesce(${text(attrID)} IN (${list(condition.is)}), false)`;
    if ('contains' in condition) return sql`coalesce(contains(${text(attrID)}, ${condition.contains}), false)`;
    if ('below' in condition) return sql`coalesce(${number(attrID)} < ${condition.below}, false)`;
    return sql`coalesce(${number(attrID)} > ${condition.above}, false)`;
  };
  const matched = (): SQL => (question.condition === null ? and([]) : meets(question.condition));

  /**
   * A query of all events in the question's range, without robots unless they count: `visitor` (whose sessions they are: the user, or
   * the contact that was logged, below zero), `person` if `withPerson`, `session` if there are `sessions`, and what was added. `where` may
   * leave out more.
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
    if (!question.robots) read.add('robot');
    if (sessions) read.add('session');
    const selected = [clause`${visitorOfEvent} AS visitor`, ...added];
    if (withPerson) selected.push(clause`${person.person} AS person`);
    if (sessions)
      selected.push(clause`${sessions.grid ? sql`coalesce(s.session, e.session)` : sql`e.session`} AS session`);
    const found = sessions?.grid
      ? clause`LEFT JOIN sessions s ON s.visitor = ${visitorOfEvent} AND s.span = ${spanOf(sessions.grid, sql`e."eventTime"`)}`
      : nothing;
    const wanted = [
      sql`"eventTime" >= ${question.from}`,
      sql`"eventTime" < ${question.to}`,
      ...(question.robots ? [] : [sql`NOT robot`]),
      ...('until' in question && question.until !== null ? [sql`sequence <= ${question.until}`] : []),
      where,
    ];
    return sql`SELECT ${list(selected)} FROM (SELECT * FROM ${source.select([...read])} e WHERE ${and(wanted)}) e
      ${withPerson ? person.joins : nothing} ${found}`;
  };

  return {
    text,
    number,
    kind,
    meets,
    /** Whether the question's own condition is met. */
    get matched(): SQL {
      return matched();
    },
    /** Its place in the order by time, then by sequence: one number, which is compared faster than two. A HUGEINT only if it must be. */
    get place(): SQL {
      const sequences = source.through + 1;
      if ((question.to - question.from) * sequences < maxBigint)
        return sql`("eventTime" - ${question.from}) * ${sequences} + sequence`;
      return sql`"eventTime"::HUGEINT * ${placesOfTime} + sequence`;
    },
    /** The number of the span of its time. */
    spanOf: (grid: Grid): SQL => spanOf(grid, sql`"eventTime"`),
    /**
     * Whether an event may add a visitor or a session to what the events before it in its span have; else the event before it in its session is
     * there too. For questions without a condition. All events of visitors in the table `sessions` add something.
     */
    adds(grid: Grid, sessions: Sessions): SQL {
      read.add('begins');
      const start = Math.max(question.from, source.cutUntil);
      return sql`e.begins OR "eventTime" - ${start} < ${sessionPauseMilliseconds}
        OR ("eventTime" - ${grid.anchor}) % ${grid.milliseconds} < ${sessionPauseMilliseconds}
        ${sessions.grid ? clause`OR s.session IS NOT NULL` : nothing}`;
    },
    /** Adds a column to `rows`. */
    add: (name: string, value: SQL): void => {
      added.push(clause`${value} AS ${column(name)}`);
    },
    rows,
    /** The same for the events that meet the question's own condition. */
    hits({ person: withPerson = false, owned = false, sequence = false }: Wanted, sessions: Sessions | null): SQL {
      added.push(clause`e."user"`, ...(sequence ? [clause`e.sequence`] : []));
      const where = owned ? sql`${matched()} AND "user" IN (SELECT "user" FROM owned)` : matched();
      return rows({ withPerson, where, sessions });
    },
  };
};
export type Scope = ReturnType<typeof createScope>;
