/** Reading events, a page at a time, in the order in which they were kept. */
import type { EventPage, EventQuery } from '../store.ts';
import type { Connection } from './connection.ts';
import type { ContactFinder } from './contact-finder.ts';
import { type DaySpan, daysOf, monthBounds } from './days.ts';
import { type IsErased, readErased } from './erased-events.ts';
import { toSought } from './event-body.ts';
import { inGroups, sequenceGroup, within } from './event-order.ts';
import { type Probe, probesOf } from './event-probes.ts';
import { createEventSources, type Source } from './event-sources.ts';
import { type EventRow, type StoredRow, tellEvents, toRow } from './event-teller.ts';
import { isRobot } from './robots.ts';
import type { Snapshot } from './transaction.ts';

export interface PageBounds {
  /** A page ends when so many events were looked at, however few of them fit: one request is no endless one. */
  readonly mostLooked: number;
  /** A page ends when its attributes take so much; one event may always be more. */
  readonly mostBytes: number;
}
const defaultBounds: PageBounds = { mostLooked: 200_000, mostBytes: 4 * 1024 * 1024 };

/** Where not all of what is looked at fits, so many are looked at in one go. */
const lookedPerStep = 5_000;
/** In one go after the first: what only seems to fit, or is erased, may go on for long, however few are wanted. */
const fewestPerStep = 1_000;

/** A part of the order that lies in one month: after < sequence <= through, and first <= day <= last. */
interface Range {
  readonly after: number;
  readonly through: number;
  readonly first: number;
  readonly last: number;
}

/** The days that a query is about, month by month: each is a partition. Ascending. */
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
 * SQL for what a source holds in a range, in order, up to a number of rows; how to order by it again, and the values that it
 * takes from $7 on.
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
    // OFFSET 0: the bounds of a probe are cut out once, not for each of its rows.
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

/** What is left to ask of an event once its source is chosen: SQL, and the values that it takes from `$nth` on. */
const fitting = ({ eventID, from, to, attrID, attrValue }: EventQuery, nth: number) => {
  const values: unknown[] = [];
  const next = (value: unknown) => `$${nth + values.push(value) - 1}`;
  const conditions = [
    eventID !== undefined && `"eventID" = ${next(eventID)}::integer`,
    from !== undefined && `"eventTime" >= ${next(from)}::bigint`,
    to !== undefined && `"eventTime" < ${next(to)}::bigint`,
    // More than are sought may hold these bytes: which are the ID and which the value is told apart after.
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
  /** The last sequence that was looked at; null when nothing is left in the range. */
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
  // A text for each number of rows would be prepared for each.
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

/** As `look`, without what is erased, and without robots' where they are not wanted. Which holders an account's events have is known only once these are read. */
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

const lengthOf = ({ attributes }: EventRow): number => attributes.reduce((length, text) => length + text.length, 0);

export const createEventPager = (contacts: ContactFinder, { mostLooked, mostBytes } = defaultBounds) => {
  const sourceOf = createEventSources(contacts);

  return async (db: Snapshot, query: EventQuery): Promise<EventPage> => {
    const { account, order, limit, from = 0, to = Number.MAX_SAFE_INTEGER, beyond } = query;
    const ascending = order === 'asc';
    // What comes after it may not be all there yet: whoever goes on from here would miss what comes between.
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
    let bytes = 0;
    const pageTo = async (next: number | null): Promise<EventPage> => ({
      events: await tellEvents(db, account, rows),
      next,
      through: ascending && next !== null ? next : await db.settled,
    });
    for (const [nth, range] of ranges.entries()) {
      let wanted = limit + 1 - rows.length;
      for (let rest = range; ; ) {
        const step = await lookIn(rest, wanted);
        for (const row of step.rows) {
          if (rows.length === limit || bytes >= mostBytes) return pageTo((rows.at(-1) as EventRow).sequence);
          rows.push(row);
          bytes += lengthOf(row);
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
