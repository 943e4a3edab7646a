/** The events that a question is about, as SQL. */
import { type Condition, type Question, sessionPauseMilliseconds } from '../../questions.ts';
import type { Source } from '../account.ts';
import { visitorOf } from '../files/visitors.ts';
import type { Values } from '../values.ts';
import { type Grid, spanOf } from './grid.ts';

const placesOfTime = 2 ** 53;
const mostBigint = 2 ** 63;

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
  /** The column `adds`, as `Scope.adds` says. */
  readonly adds?: boolean;
  /** Only events of users in the table `owned` (owned.ts). */
  readonly owned?: boolean;
}

/**
 * A statement over the events of a question. `values` are the statement's parameters; each call adds the columns that it names to
 * those that are read.
 */
export const createScope = (source: Source, question: Question, values: Values) => {
  const read = new Set(['sequence', 'user', 'contact', 'eventTime']);
  const added: string[] = [];
  const { columns, person } = source;

  /** The IDs of an attribute: the value of the first that an event has is its value. */
  const idsOf = (attrID: string): readonly string[] =>
    question.united?.attributes.find((ids) => ids.includes(attrID)) ?? [attrID];
  const readIn = (from: 'text' | 'number', attrID: string): string => {
    const { column, sql } = columns[from](attrID, values);
    read.add(column);
    return sql;
  };
  /** The value of an attribute: text, or NULL. */
  const text = (attrID: string): string => {
    const texts = idsOf(attrID).map((id) => readIn('text', id));
    return texts.length === 1 ? (texts[0] as string) : `coalesce(${texts.join(', ')})`;
  };
  /** The value of an attribute as a DOUBLE; NULL unless it is a decimal number. */
  const number = (attrID: string): string => {
    const ids = idsOf(attrID);
    if (ids.length === 1) return readIn('number', attrID);
    const cases = ids.map((id) => `WHEN ${readIn('text', id)} IS NOT NULL THEN ${readIn('number', id)}`);
    return `(CASE ${cases.join(' ')} END)`;
  };
  const eventID = (): string => {
    read.add('eventID');
    return '"eventID"';
  };
  /** The eventID that stands for that of the event. */
  const kind = (): string => {
    const cases = (question.united?.events ?? []).map(
      ([kept, ...others]) =>
        `WHEN "eventID" IN (${others.map((id) => values.integer(id)).join(', ')}) THEN ${values.integer(kept as number)}`,
    );
    return cases.length === 0 ? eventID() : `(CASE ${cases.join(' ')} ELSE ${eventID()} END)`;
  };
  const joined = (conditions: readonly Condition[], by: 'AND' | 'OR', none: string): string =>
    conditions.length === 0 ? none : `(${conditions.map(meets).join(` ${by} `)})`;
  /** TRUE or FALSE, never NULL. */
  const meets = (condition: Condition): string => {
    if ('and' in condition) return joined(condition.and, 'AND', 'true');
    if ('or' in condition) return joined(condition.or, 'OR', 'false');
    if ('not' in condition) return `(NOT ${meets(condition.not)})`;
    if ('eventIDs' in condition) {
      read.add('eventID');
      if (condition.eventIDs.length === 0) return 'false';
      return `("eventID" IN (${condition.eventIDs.map((eventID) => values.integer(eventID)).join(', ')}))`;
    }
    if ('contacts' in condition || 'did' in condition) return source.isOf(condition);
    const { attrID } = condition;
    if ('exists' in condition) return `(${text(attrID)} IS ${condition.exists ? 'NOT ' : ''}NULL)`;
    if ('is' in condition) {
      if (condition.is.length === 0) return 'false';
      return `coalesce(${text(attrID)} IN (${condition.is.map(values.text).join(', ')}), false)`;
    }
    if ('contains' in condition)
      return `coalesce(contains(${text(attrID)}, ${values.text(condition.contains)}), false)`;
    if ('below' in condition) return `coalesce(${number(attrID)} < ${values.number(condition.below)}, false)`;
    return `coalesce(${number(attrID)} > ${values.number(condition.above)}, false)`;
  };

  /**
   * A query of all events in the question's range, without robots unless they count: `visitor` (whose sessions they are: the user, or
   * the contact that was logged, below zero), `person` if `withPerson`, `session` if there are `sessions`, and what was added. `where` may
   * leave out more.
   */
  const rows = ({
    withPerson = true,
    where = 'true',
    sessions = null,
  }: {
    readonly withPerson?: boolean;
    readonly where?: string;
    readonly sessions?: Sessions | null;
  } = {}): string => {
    if (!question.robots) read.add('robot');
    if (sessions) read.add('session');
    const visitor = visitorOf('e');
    const selected = [`${visitor} AS visitor`, ...added];
    if (withPerson) selected.push(`${person.sql} AS person`);
    if (sessions) selected.push(`${sessions.grid ? 'coalesce(s.session, e.session)' : 'e.session'} AS session`);
    const found = sessions?.grid
      ? `LEFT JOIN sessions s ON s.visitor = ${visitor} AND s.span = ${spanOf(sessions.grid, 'e."eventTime"', values)}`
      : '';
    const inRange = [
      `"eventTime" >= ${values.integer(question.from)}`,
      `"eventTime" < ${values.integer(question.to)}`,
      ...(question.robots ? [] : ['NOT robot']),
      ...('until' in question && question.until !== null ? [`sequence <= ${values.integer(question.until)}`] : []),
    ];
    return `SELECT ${selected.join(', ')}
      FROM (SELECT * FROM (${source.select([...read])}) e WHERE ${inRange.join(' AND ')} AND ${where}) e
      ${withPerson ? person.joins : ''} ${found}`;
  };

  return {
    text,
    number,
    eventID,
    kind,
    meets,
    /** Whether the question's own condition is met. */
    get matched(): string {
      return question.condition === null ? 'true' : meets(question.condition);
    },
    /** Its place in the order by time, then by sequence: one number, which is compared faster than two. A HUGEINT only if it must be. */
    get place(): string {
      const sequences = source.through + 1;
      if ((question.to - question.from) * sequences < mostBigint)
        return `("eventTime" - ${values.integer(question.from)}) * ${sequences} + sequence`;
      return `"eventTime"::HUGEINT * ${placesOfTime} + sequence`;
    },
    /** The number of the span of its time. */
    spanOf: (grid: Grid): string => spanOf(grid, '"eventTime"', values),
    /**
     * Whether an event may add a visitor or a session to what the events before it in its span have; else the event before it in its session is
     * there too. For questions without a condition. All events of visitors in the table `sessions` add something.
     */
    adds(grid: Grid, sessions: Sessions): string {
      read.add('begins');
      const pause = values.integer(sessionPauseMilliseconds);
      const start = values.integer(Math.max(question.from, source.cutUntil));
      return `(e.begins OR "eventTime" - ${start} < ${pause}
        OR ("eventTime" - ${values.integer(grid.anchor)}) % ${values.integer(grid.milliseconds)} < ${pause}
        ${sessions.grid ? 'OR s.session IS NOT NULL' : ''})`;
    },
    /** Adds a column to `rows`. */
    add: (name: string, sql: string): void => {
      added.push(`${sql} AS ${name}`);
    },
    rows,
    /** The same for the events that meet the question's own condition. */
    hits({ person: withPerson = false, owned = false, sequence = false }: Wanted, sessions: Sessions | null): string {
      added.push('e."user" AS "user"', ...(sequence ? ['e.sequence AS sequence'] : []));
      const matched = question.condition === null ? 'true' : meets(question.condition);
      const where = owned ? `${matched} AND "user" IN (SELECT "user" FROM owned)` : matched;
      return rows({ withPerson, where, sessions });
    },
  };
};
export type Scope = ReturnType<typeof createScope>;
