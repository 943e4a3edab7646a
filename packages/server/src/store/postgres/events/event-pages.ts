/** Reads pages of events in sequence order. */
import type { WithIDs } from '../../rules/accounts/catalogue-rules.ts';
import { noMerges } from '../../rules/accounts/entry-merges.ts';
import { type DaySpan, pageBounds, sequencesOf } from '../../rules/event-pages.ts';
import { charactersOf, type KeptEvent } from '../../rules/kept-event.ts';
import type { EventPage, EventQuery } from '../../store.ts';
import { readMerges, resolveIDs } from '../accounts/catalogues.ts';
import { createEventNames, readVersion } from '../accounts/event-names.ts';
import type { ContactFinder } from '../contacts/contact-finder.ts';
import type { AccountConnection } from '../database/connection.ts';
import { daysOf } from '../days/days.ts';
import { monthOf } from '../days/partitions.ts';
import type { Snapshot } from '../transactions/transaction.ts';
import { type IsErased, readErased } from './erased-events.ts';
import { hasAttribute, isRobot, toSought } from './event-body.ts';
import { inGroups, sequenceGroup, within } from './event-order.ts';
import { type StoredRow, toEvent, toStoredEvents } from './event-presenter.ts';
import { type Probe, probesOf } from './event-probes.ts';
import { createEventSources, type Source } from './event-sources.ts';

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
export const rangesOf = (days: readonly DaySpan[], bounds: { after: number; through: number }): Range[] => {
  const ranges: Range[] = [];
  let end = -Infinity;
  for (const { day, firstSequence, lastSequence } of days) {
    const after = Math.max(firstSequence - 1, bounds.after);
    const through = Math.min(lastSequence, bounds.through);
    const before = ranges.at(-1);
    if (before && day < end) ranges[ranges.length - 1] = { ...before, through, last: day };
    else {
      ranges.push({ after, through, first: day, last: day });
      end = monthOf(day).to;
    }
  }
  return ranges;
};

const ofAccountAndDays = 'account = $1 AND day >= $4 AND day <= $5';

/** Returns an SQL condition for the events of a probe, of whose parts each is given as SQL. */
const ofProbe = ({ holder, after, through, bounds, user }: Readonly<Record<keyof Probe, string>>): string => `
  holder = ${holder} AND ${within('holder', after, through)}
  AND (${bounds} = '{}' OR width_bucket(sequence, ${bounds}) % 2 = 1) AND (${user} IS NULL OR "user" = ${user})`;

/**
 * Returns SQL for the events of a source in a range, in order, with a limit; the SQL to sort its result again; and the values of
 * its parameters from $7 on.
 */
const looking = (probes: readonly Probe[] | undefined, order: 'ASC' | 'DESC') => {
  if (!probes) {
    return {
      sql: `SELECT *, ${sequenceGroup('account')} AS "group" FROM event
        WHERE ${ofAccountAndDays} AND ${within('account', '$2::bigint', '$3::bigint')}
        ORDER BY ${inGroups('account', order)} LIMIT $6`,
      sameOrder: `"group" ${order}, sequence ${order}`,
      values: [],
    };
  }
  const ofStretch = ofProbe({
    holder: 'stretch.holder',
    after: 'greatest($2::bigint, stretch.after)',
    through: 'least($3::bigint, stretch.through)',
    bounds: 'stretch.bounds',
    user: 'stretch."user"',
  });
  return {
    // OFFSET 0 makes PostgreSQL parse the bounds once for each probe, not for each of its rows.
    sql: `SELECT e.* FROM (
        SELECT holder, after, through, "user", bounds::bigint[] AS bounds
        FROM unnest($7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::text[])
          AS part (holder, after, through, "user", bounds) OFFSET 0
      ) AS stretch
      CROSS JOIN LATERAL (
        SELECT * FROM event WHERE ${ofAccountAndDays} AND ${ofStretch}
        ORDER BY ${inGroups('holder', order)} LIMIT $6
      ) AS e ORDER BY e.sequence ${order} LIMIT $6`,
    sameOrder: `sequence ${order}`,
    values: [
      probes.map(({ holder }) => holder),
      probes.map(({ after }) => after),
      probes.map(({ through }) => through),
      probes.map(({ user }) => user),
      probes.map(({ bounds }) => `{${bounds}}`),
    ],
  };
};

/**
 * Returns an SQL condition that an event contains one of these attributes. Others may contain these bytes too: `hasAttribute` decides
 * later. Its text is the same for all numbers of attributes, because each different one is prepared as a statement of its own.
 */
const containing = (sought: readonly Buffer[], next: (value: unknown) => string): string =>
  sought.length === 1
    ? `position(${next(sought[0])}::bytea in body) > 0`
    : `EXISTS (SELECT 1 FROM unnest(${next(sought)}::bytea[]) AS sought WHERE position(sought in body) > 0)`;

/** Returns an SQL condition for the filters that the source does not cover, and the values of its parameters from `$nth` on. */
const fitting = ({ eventIDs, from, to, attrIDs, attrValue }: WithIDs<EventQuery>, nth: number) => {
  const values: unknown[] = [];
  const next = (value: unknown) => `$${nth + values.push(value) - 1}`;
  const conditions = [
    eventIDs !== undefined && `"eventID" = ANY (${next(eventIDs)}::integer[])`,
    from !== undefined && `"eventTime" >= ${next(from)}::bigint`,
    to !== undefined && `"eventTime" < ${next(to)}::bigint`,
    attrIDs !== undefined &&
      containing(
        attrIDs.map((attrID) => toSought(attrID, attrValue)),
        next,
      ),
  ].filter((condition) => condition !== false);
  return { condition: conditions.join(' AND '), values };
};

interface Step {
  readonly looked: number;
  /** The last sequence that was read; null when the range has no more events. */
  readonly reached: number | null;
}

/**
 * Up to so many probes have a statement each if few events are wanted: for the newest 50 events of a contact with a user, one PostgreSQL took 0.2 ms less than
 * for one statement with LATERAL. Each of these statements returns as many events as are wanted.
 */
const fewEvents = 101;
const maxSeparateProbes = 4;

/** Reads the next events of probes without filters. */
const lookApart = async (
  db: AccountConnection,
  { account, order }: EventQuery,
  probes: readonly Probe[],
  range: Range,
  wanted: number,
): Promise<StoredRow[]> => {
  const ofParameters = ofProbe({
    holder: '$7',
    after: '$2::bigint',
    through: '$3::bigint',
    bounds: '$8::bigint[]',
    user: '$9::bigint',
  });
  const sql = `SELECT * FROM event WHERE ${ofAccountAndDays} AND ${ofParameters}
    ORDER BY ${inGroups('holder', order === 'asc' ? 'ASC' : 'DESC')} LIMIT $6`;
  const parts = probes
    .map((probe) => ({
      ...probe,
      after: Math.max(probe.after, range.after),
      through: Math.min(probe.through, range.through),
    }))
    .filter(({ after, through }) => after < through);
  const found = await Promise.all(
    parts.map(({ holder, after, through, user, bounds }) =>
      db.all<StoredRow>(sql, [account, after, through, range.first, range.last, wanted, holder, bounds, user]),
    ),
  );
  const direction = order === 'asc' ? 1 : -1;
  return found
    .flat()
    .sort((a, b) => direction * (a.sequence - b.sequence))
    .slice(0, wanted);
};

/** Reads up to `wanted` events that fit the filters, or only seem to. */
export const look = async (
  db: Snapshot,
  query: WithIDs<EventQuery>,
  source: Pick<Source, 'stretches'>,
  range: Range,
  wanted: number,
): Promise<Step & { readonly rows: readonly StoredRow[] }> => {
  const order = query.order === 'asc' ? 'ASC' : 'DESC';
  const probes = source.stretches && probesOf(source.stretches);
  const { after, through, first, last } = range;
  const { sql, sameOrder, values } = looking(probes, order);
  const valuesOf = (limit: number) => [query.account, after, through, first, last, limit, ...values];
  const fit = fitting(query, 7 + values.length);
  if (fit.condition === '') {
    const rows =
      wanted <= fewEvents && probes && probes.length <= maxSeparateProbes
        ? await lookApart(db, query, probes, range, wanted)
        : await db.all<StoredRow>(sql, valuesOf(wanted));
    return { rows, looked: rows.length, reached: rows.length < wanted ? null : (rows.at(-1) as StoredRow).sequence };
  }
  const [rows, { looked, reached }] = await Promise.all([
    // The limit is a parameter, because each different SQL text is prepared as a statement of its own.
    db.all<StoredRow>(
      `SELECT * FROM (${sql}) AS looked WHERE ${fit.condition}
       ORDER BY ${sameOrder} LIMIT $${7 + values.length + fit.values.length}`,
      [...valuesOf(lookedPerStep), ...fit.values, wanted],
    ),
    db.one<{ looked: number; reached: number }>(
      `SELECT count(*) AS looked, ${order === 'ASC' ? 'max' : 'min'}(sequence) AS reached FROM (${sql}) AS looked`,
      valuesOf(lookedPerStep),
    ),
  ]);
  if (rows.length === wanted) return { rows, looked, reached: (rows.at(-1) as StoredRow).sequence };
  return { rows, looked, reached: looked < lookedPerStep ? null : reached };
};

/**
 * As `look`, with only the events that fit and are not erased. For a whole account, the erased events are looked up after each
 * step, because the step shows which holders its events have.
 */
const createLooking = (db: Snapshot, query: WithIDs<EventQuery>, source: Source) => {
  const { attrIDs, attrValue, withoutRobots = false } = query;
  const isWanted = (event: KeptEvent) => {
    if (withoutRobots && isRobot(event)) return false;
    const attrID = attrIDs?.find((id) => hasAttribute(event, id));
    return attrIDs === undefined || (attrID !== undefined && hasAttribute(event, attrID, attrValue));
  };
  let ofSource: IsErased | undefined;
  return async (range: Range, wanted: number): Promise<Step & { readonly events: readonly KeptEvent[] }> => {
    const [{ rows, ...step }, known] = await Promise.all([
      look(db, query, source, range, wanted),
      ofSource ?? (source.stretches && readErased(db, source.stretches)),
    ]);
    ofSource = known;
    const isErased = known ?? (await readErased(db, rows));
    return {
      ...step,
      events: rows
        .filter((row) => !isErased(row))
        .map(toEvent)
        .filter(isWanted),
    };
  };
};

export const createEventPager = (contacts: ContactFinder, { maxExamined, maxCharacters } = pageBounds) => {
  const sourceOf = createEventSources(contacts);
  const names = createEventNames();

  return async (db: Snapshot, asked: EventQuery): Promise<EventPage> => {
    const { account, order, limit, from = 0, to = Number.MAX_SAFE_INTEGER } = asked;
    const ascending = order === 'asc';
    // Beyond the settled sequence, events may still be uncommitted: a client that continues from there would miss them.
    const sequences = sequencesOf(asked, ascending ? await db.settled : Number.MAX_SAFE_INTEGER);
    const readingMerges = readMerges(db, account);
    const [merges, query, version, source, allDays] = await Promise.all([
      readingMerges,
      readingMerges.then((merges) => resolveIDs(db, asked, merges)),
      readVersion(db),
      sourceOf(db, asked),
      daysOf(db, { account, from, to, ...sequences }),
    ]);
    const entries = {
      merges: asked.asSent ? noMerges : merges,
      namesOf: (eventIDs: readonly number[]) => names.read(db, version, eventIDs),
    };
    const days = allDays.filter(({ day }) => day >= source.days.first && day <= source.days.last);
    const ranges = rangesOf(days, sequences);
    if (!ascending) ranges.reverse();

    const lookIn = createLooking(db, query, source);
    const events: KeptEvent[] = [];
    let looked = 0;
    let characters = 0;
    const pageTo = async (next: number | null): Promise<EventPage> => ({
      events: await toStoredEvents(db, events, entries, source.known),
      next,
      through: ascending && next !== null ? next : await db.settled,
    });
    let wanted = limit + 1;
    for (let range = ranges.shift(); range; ) {
      const step = await lookIn(range, wanted);
      for (const event of step.events) {
        if (events.length === limit || characters >= maxCharacters) {
          return pageTo((events.at(-1) as KeptEvent).sequence);
        }
        events.push(event);
        characters += charactersOf(event);
      }
      looked += step.looked;
      wanted = limit + 1 - events.length;
      const reached: number = step.reached ?? (ascending ? range.through : range.after + 1);
      if (step.reached === null) range = ranges.shift();
      else {
        wanted = Math.max(fewestPerStep, wanted);
        range = ascending ? { ...range, after: reached } : { ...range, through: reached - 1 };
      }
      if (range && looked >= maxExamined) return pageTo(reached);
    }
    return pageTo(null);
  };
};
