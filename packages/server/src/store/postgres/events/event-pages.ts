/** Reads pages of events in sequence order. */

import type { DaySpan } from '../../rules/day-spans.ts';
import type { EventPage, EventQuery } from '../../store.ts';
import type { ContactFinder } from '../contacts/contact-finder.ts';
import type { Connection } from '../database/connection.ts';
import { type IsErased, readErased } from '../erasure/erased-events.ts';
import type { Snapshot } from '../transactions/transaction.ts';
import { daysOf, monthBounds } from './days.ts';
import { toSought } from './event-body.ts';
import { inGroups, sequenceGroup, within } from './event-order.ts';
import { type EventRow, type StoredRow, toEvents, toRow } from './event-presenter.ts';
import { type Probe, probesOf } from './event-probes.ts';
import { createEventSources, type Source } from './event-sources.ts';
import { isRobot } from './robots.ts';

export interface PageBounds {
  /** A page ends after reading this many events, however few of them fit the filters, so that no request takes too long. */
  readonly mostLooked: number;
  /** A page ends when its attributes reach this size, in UTF-16 code units; a single event may exceed it. */
  readonly mostCharacters: number;
}
const defaultBounds: PageBounds = { mostLooked: 200_000, mostCharacters: 4 * 1024 * 1024 };

/** Events that one query with filters reads. */
const lookedPerStep = 5_000;
/** The least that a query after the first asks for: many events in sequence may be erased or only seem to fit. */
const fewestPerStep = 1_000;

/** A range of sequences and days in one month: after < sequence <= through, and first <= day <= last. */
interface Range {
  readonly after: number;
  readonly through: number;
  readonly first: number;
  readonly last: number;
}

/** Groups the days that a query reads into a range for each month, which is a partition; ascending. */
const rangesOf = (days: readonly DaySpan[], bounds: { after: number; through: number }): Range[] => {
  const ranges: Range[] = [];
  let end = -Infinity;
  for (const { day, firstSequence, lastSequence } of days) {
    const after = Math.max(firstSequence - 1, bounds.after);
    const through = Math.min(lastSequence, bounds.through);
    const before = ranges.at(-1);
    if (before && day < end) ranges[ranges.length - 1] = { ...before, through, last: day };
    else {
      ranges.push({ after, through, first: day, last: day });
      end = monthBounds(day).to;
    }
  }
  return ranges;
};

/**
 * Returns SQL for the events of a source in a range, in order, with a limit; the SQL to sort its result again; and the values of
 * its parameters from $7 on.
 */
const looking = (source: Source, order: 'ASC' | 'DESC') => {
  const ofDays = 'account = $1 AND day >= $4 AND day <= $5';
  if (source.what === 'account') {
    return {
      sql: `SELECT *, ${sequenceGroup('account')} AS "group" FROM event
        WHERE ${ofDays} AND ${within('account', '$2::bigint', '$3::bigint')}
        ORDER BY ${inGroups('account', order)} LIMIT $6`,
      order: `"group" ${order}, sequence ${order}`,
      values: [],
    };
  }
  const probes = probesOf(source.stretches);
  const ends: number[] = [];
  for (const { bounds } of probes) ends.push((ends.at(-1) ?? 0) + bounds.length);
  return {
    // OFFSET 0 makes PostgreSQL slice the bounds once for each probe, not for each of its rows.
    sql: `SELECT e.* FROM (
        SELECT holder, after, through, "user", ($11::bigint[])[first:last] AS bounds
        FROM unnest($7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $12::integer[], $13::integer[])
          AS part (holder, after, through, "user", first, last) OFFSET 0
      ) AS stretch
      CROSS JOIN LATERAL (
        SELECT * FROM event WHERE holder = stretch.holder AND ${ofDays}
          AND ${within('holder', 'greatest($2::bigint, stretch.after)', 'least($3::bigint, stretch.through)')}
          AND (stretch.bounds = '{}' OR width_bucket(sequence, stretch.bounds) % 2 = 1)
          AND (stretch."user" IS NULL OR "user" = stretch."user")
        ORDER BY ${inGroups('holder', order)} LIMIT $6
      ) AS e ORDER BY e.sequence ${order} LIMIT $6`,
    order: `sequence ${order}`,
    values: [
      probes.map(({ holder }) => holder),
      probes.map(({ after }) => after),
      probes.map(({ through }) => through),
      probes.map(({ user }) => user),
      probes.flatMap(({ bounds }) => bounds),
      ends.map((end, nth) => end - (probes[nth] as Probe).bounds.length + 1),
      ends,
    ],
  };
};

/** Returns an SQL condition for the filters that the source does not cover, and the values of its parameters from `$nth` on. */
const fitting = ({ eventID, from, to, attrID, attrValue }: EventQuery, nth: number) => {
  const values: unknown[] = [];
  const next = (value: unknown) => `$${nth + values.push(value) - 1}`;
  const conditions = [
    eventID !== undefined && `"eventID" = ${next(eventID)}::integer`,
    from !== undefined && `"eventTime" >= ${next(from)}::bigint`,
    to !== undefined && `"eventTime" < ${next(to)}::bigint`,
    // Other events may contain these bytes too: `hasAttribute` decides later.
    attrID !== undefined &&
      `position(${next(toSought(attrValue === undefined ? [attrID] : [attrID, attrValue]))}::bytea in body) > 0`,
  ].filter((condition) => condition !== false);
  return { condition: conditions.join(' AND '), values };
};

const hasAttribute =
  ({ attrID, attrValue }: EventQuery) =>
  ({ attributes }: EventRow): boolean =>
    attrID === undefined ||
    attributes.some(
      (id, nth) => nth % 2 === 0 && id === attrID && (attrValue === undefined || attributes[nth + 1] === attrValue),
    );

interface Step {
  readonly rows: readonly EventRow[];
  readonly looked: number;
  /** The last sequence that was read; null when the range has no more events. */
  readonly reached: number | null;
}

const look = async (
  db: Connection,
  query: EventQuery,
  source: Source,
  { after, through, first, last }: Range,
  wanted: number,
): Promise<Step> => {
  const order = query.order === 'asc' ? 'ASC' : 'DESC';
  const { sql, order: sameOrder, values } = looking(source, order);
  const common = [query.account, after, through, first, last];
  const { condition, values: conditionValues } = fitting(query, 7 + values.length);
  if (condition === '') {
    const rows = (await db.all<StoredRow>(sql, [...common, wanted, ...values])).map(toRow);
    return { rows, looked: rows.length, reached: rows.length < wanted ? null : (rows.at(-1) as EventRow).sequence };
  }
  // The limit is a parameter, because each different SQL text is prepared as a statement of its own.
  const most = 7 + values.length + conditionValues.length;
  const [stored, { looked, reached }] = await Promise.all([
    db.all<StoredRow>(`SELECT * FROM (${sql}) AS looked WHERE ${condition} ORDER BY ${sameOrder} LIMIT $${most}`, [
      ...common,
      lookedPerStep,
      ...values,
      ...conditionValues,
      wanted,
    ]),
    db.one<{ looked: number; reached: number }>(
      `SELECT count(*) AS looked, ${order === 'ASC' ? 'max' : 'min'}(sequence) AS reached FROM (${sql}) AS looked`,
      [...common, lookedPerStep, ...values],
    ),
  ]);
  const rows = stored.map(toRow);
  const found = rows.filter(hasAttribute(query));
  if (rows.length === wanted) return { rows: found, looked, reached: (rows.at(-1) as EventRow).sequence };
  return { rows: found, looked, reached: looked < lookedPerStep ? null : reached };
};

/**
 * As `look`, without erased events and, on request, without robots' events. For a whole account, the erased events are looked up
 * after each step, because the step shows which holders its events have.
 */
const createLooking = (db: Connection, query: EventQuery, source: Source) => {
  let ofSource: IsErased | undefined;
  return async (range: Range, wanted: number): Promise<Step> => {
    const [step, known] = await Promise.all([
      look(db, query, source, range, wanted),
      ofSource ?? (source.what === 'stretches' ? readErased(db, source.stretches) : undefined),
    ]);
    ofSource = known;
    const isErased = known ?? (await readErased(db, step.rows));
    const isWanted = (row: EventRow) => !isErased(row) && !(query.withoutRobots && isRobot(row));
    return { ...step, rows: step.rows.filter(isWanted) };
  };
};

const charactersOf = ({ attributes }: EventRow): number => attributes.reduce((length, text) => length + text.length, 0);

export const createEventPager = (contacts: ContactFinder, { mostLooked, mostCharacters } = defaultBounds) => {
  const sourceOf = createEventSources(contacts);

  return async (db: Snapshot, query: EventQuery): Promise<EventPage> => {
    const { account, order, limit, from = 0, to = Number.MAX_SAFE_INTEGER, beyond } = query;
    const ascending = order === 'asc';
    // Beyond the settled sequence, events may still be uncommitted: a client that continues from there would miss them.
    const end = ascending ? await db.settled : Number.MAX_SAFE_INTEGER;
    const after = ascending ? (beyond ?? 0) : 0;
    const through = ascending ? end : Math.min(end, (beyond ?? end) - 1);
    const [source, allDays] = await Promise.all([
      sourceOf(db, query),
      daysOf(db, { account, from, to, after, through }),
    ]);
    const days = allDays.filter(({ day }) => {
      if (source.what !== 'stretches') return true;
      return source.days !== null && day >= source.days.first && day <= source.days.last;
    });
    const ranges = rangesOf(days, { after, through });
    if (!ascending) ranges.reverse();

    const lookIn = createLooking(db, query, source);
    const rows: EventRow[] = [];
    let looked = 0;
    let characters = 0;
    const pageTo = async (next: number | null): Promise<EventPage> => ({
      events: await toEvents(db, account, rows),
      next,
      through: ascending && next !== null ? next : await db.settled,
    });
    for (const [nth, range] of ranges.entries()) {
      let wanted = limit + 1 - rows.length;
      for (let rest = range; ; ) {
        const step = await lookIn(rest, wanted);
        for (const row of step.rows) {
          if (rows.length === limit || characters >= mostCharacters) return pageTo((rows.at(-1) as EventRow).sequence);
          rows.push(row);
          characters += charactersOf(row);
        }
        looked += step.looked;
        const { reached } = step;
        if (reached === null) break;
        wanted = Math.max(fewestPerStep, limit + 1 - rows.length);
        rest = ascending ? { ...rest, after: reached } : { ...rest, through: reached - 1 };
        if (looked >= mostLooked) return pageTo(reached);
      }
      const isLast = nth === ranges.length - 1;
      if (looked >= mostLooked && !isLast) return pageTo(ascending ? range.through : range.after + 1);
    }
    return pageTo(null);
  };
};
