/** Reading events, a page at a time, in the order in which they were kept. */
import type { EventPage, EventQuery } from '../store.ts';
import type { Connection } from './connection.ts';
import { createDayReader, type DaySpan } from './days.ts';
import { createEventSources, type EventRow, type Source } from './event-sources.ts';
import { createEventTeller } from './event-teller.ts';
import type { Steps } from './steps.ts';

/** Rows that are looked at between two yields. */
const rowsPerStep = 2_000;

export interface PageBounds {
  /** A page ends when so many rows were looked at, however few of them fit: one request is no endless one. */
  readonly mostRows: number;
  /** A page ends when its attributes take so much; one event may always be more. */
  readonly mostBytes: number;
}
const defaultBounds: PageBounds = { mostRows: 200_000, mostBytes: 4 * 1024 * 1024 };

/** What is left to ask of a row once its source is chosen. */
const matcher = ({ eventID, from, to, attrID, attrValue }: EventQuery) => {
  const hasAttribute = (text: string): boolean => {
    const attributes = JSON.parse(text) as Record<string, string>;
    if (!Object.hasOwn(attributes, attrID as string)) return false;
    return attrValue === undefined || attributes[attrID as string] === attrValue;
  };
  return (row: EventRow): boolean =>
    (eventID === undefined || row.eventID === eventID) &&
    (from === undefined || row.eventTime >= from) &&
    (to === undefined || row.eventTime < to) &&
    (attrID === undefined || hasAttribute(row.attributes));
};

export const createEventPager = (db: Connection, { mostRows, mostBytes } = defaultBounds) => {
  const daysOf = createDayReader(db);
  const { sourcesOf, rows } = createEventSources(db);
  const createTeller = createEventTeller(db);
  const lastSequence = db.prepare<[], number>('SELECT sequence FROM position').pluck();

  /**
   * The next rows of a day, from all its sources in one order, and how far they are complete. Days follow each other in
   * sequence, so that a page is filled day by day, and a read touches no page of another day's index.
   */
  const readStep = (
    day: DaySpan,
    sources: readonly Source[],
    after: number,
    through: number,
    order: 'asc' | 'desc',
  ) => {
    const most = Math.max(16, Math.floor(rowsPerStep / sources.length));
    const range = { after, through, order, most, mostBytes: mostBytes / sources.length };
    const found: EventRow[] = [];
    let complete = order === 'asc' ? through : after;
    let full = false;
    for (const source of sources) {
      const batch = rows(source, day, range);
      for (const row of batch.rows) found.push(row);
      if (!batch.full) continue;
      const last = (batch.rows.at(-1) as EventRow).sequence;
      complete = order === 'asc' ? Math.min(complete, last) : Math.max(complete, last);
      full = true;
    }
    const within = found.filter(({ sequence }) => (order === 'asc' ? sequence <= complete : sequence >= complete));
    within.sort((a, b) => (order === 'asc' ? a.sequence - b.sequence : b.sequence - a.sequence));
    return { rows: within, looked: found.length, complete, full };
  };

  return function* getEvents(query: EventQuery): Steps<EventPage> {
    const { account, order, limit } = query;
    const ascending = order === 'asc';
    const end = lastSequence.get() as number;
    let after = ascending ? (query.beyond ?? 0) : 0;
    let through = ascending ? end : Math.min(end, (query.beyond ?? end + 1) - 1);
    const sources = sourcesOf(query);
    const matches = matcher(query);
    const { from = 0, to = Number.MAX_SAFE_INTEGER } = query;
    const days = sources.length === 0 ? [] : daysOf({ account, from, to, after, through });
    if (!ascending) days.reverse();
    const teller = createTeller(account);
    const events: EventPage['events'][number][] = [];
    let looked = 0;
    let sinceYield = 0;
    let bytes = 0;

    for (const day of days) {
      const present = sources.filter(({ firstDay, lastDay }) => firstDay <= day.day && day.day <= lastDay);
      sinceYield += present.length;
      for (let full = present.length > 0; full; ) {
        const step = readStep(day, present, after, through, order);
        full = step.full;
        looked += step.looked;
        sinceYield += step.looked;
        for (const row of step.rows) {
          if (!matches(row) || teller.isErased(row)) continue;
          if (events.length === limit || bytes >= mostBytes) {
            const last = (events.at(-1) as EventPage['events'][number]).sequence;
            return { events, next: last, through: last };
          }
          events.push(teller.tell(row));
          bytes += row.attributes.length;
        }
        if (full && ascending) after = step.complete;
        if (full && !ascending) through = step.complete - 1;
        if (looked >= mostRows) {
          const dayEnd = ascending ? day.lastSequence : day.firstSequence;
          const reached = full ? step.complete : dayEnd;
          return { events, next: reached, through: reached };
        }
        if (full || sinceYield >= rowsPerStep) {
          sinceYield = 0;
          yield;
        }
      }
    }
    return { events, next: null, through: end };
  };
};
