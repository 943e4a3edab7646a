/** Counts events from the rollups, and distinct users from the summaries of segments and the events that no segment covers. */
import { quarterMilliseconds } from '../../rules/quarter.ts';
import type { CountBucket, CountQuery, EventDefinition } from '../../store.ts';
import { createCatalogueReader } from '../accounts/catalogues.ts';
import type { Connection } from '../database/connection.ts';
import { createEventLogReader, eventTimeAt, factsAt, holderOf, isRobot, type Range } from '../event-log/event-log.ts';
import type { ChunkedRead } from '../transactions/chunked-reads.ts';
import { createDayReader, toRanges } from './days.ts';

interface Quarter {
  readonly quarter: number;
  readonly count: number;
  readonly firstTime: number;
  readonly lastTime: number;
}

/** The same SELECT from both tables of rollups (rollups.ts). */
const each = (select: (table: string) => string): string =>
  ['event_total', 'recent_total'].map(select).join(' UNION ALL ');

export const createCounter = (db: Connection, log = createEventLogReader(db)) => {
  const catalogues = createCatalogueReader(db);
  const daysOf = createDayReader(db);
  const nextEventID = db
    .prepare<{ account: number; eventID: number }, number | null>(`
      SELECT min(eventID) FROM (
        ${each((table) => `SELECT min(eventID) AS eventID FROM ${table} WHERE account = @account AND eventID > @eventID`)}
      )`)
    .pluck();
  /** The count of one eventID in each span of quarters that has events. `spans` is JSON: [[from, to], …]. */
  const rollups = db.prepare<{ spans: string; account: number; eventID: number }, { bucket: number; count: number }>(`
    SELECT bucket, sum(count) AS count FROM (
      ${each(
        (table) => `
          SELECT span.key AS bucket, total.count FROM json_each(@spans) AS span CROSS JOIN ${table} AS total
            ON total.account = @account AND total.eventID = @eventID
            AND total.quarter >= (span.value ->> 0) AND total.quarter < (span.value ->> 1)`,
      )}
    ) GROUP BY bucket`);
  const countOf = db
    .prepare<{ account: number; eventID: number }, number | null>(`
      SELECT sum(count) FROM (
        ${each((table) => `SELECT count FROM ${table} WHERE account = @account AND eventID = @eventID`)}
      )`)
    .pluck();
  const outermost = (direction: 'ASC' | 'DESC') =>
    db.prepare<{ account: number; eventID: number }, Quarter>(`
      SELECT quarter, sum(count) AS count, min(firstTime) AS firstTime, max(lastTime) AS lastTime FROM (
        ${each(
          (table) => `
            SELECT * FROM (
              SELECT quarter, count, firstTime, lastTime FROM ${table}
              WHERE account = @account AND eventID = @eventID ORDER BY quarter ${direction} LIMIT 1
            )`,
        )}
      ) GROUP BY quarter ORDER BY quarter ${direction} LIMIT 1`);
  const firstQuarter = outermost('ASC');
  const lastQuarter = outermost('DESC');

  /** The ranges of sequences that may hold events with from <= eventTime < to. */
  const rangesBetween = (account: number, from: number, to: number): Range[] =>
    toRanges(daysOf({ account, from, to, after: 0, through: Infinity }));

  /**
   * Finds the events of an eventID, or of all eventIDs, in these ranges. Skips blocks without an event that has from <= eventTime < to.
   */
  const findIn = (ranges: readonly Range[], account: number, eventID: number | undefined, from: number, to: number) => {
    const what = eventID === undefined ? 'account' : 'eventID';
    const source = { what, number: account, eventID: eventID ?? 0, after: 0, through: Infinity } as const;
    return log.find([source], ranges, 'asc', { account, from, to });
  };

  /** The eventIDs that have events, by one index seek for each instead of a scan. */
  function* eventIDsOf(account: number) {
    const after = (eventID: number) => nextEventID.get({ account, eventID }) as number | null;
    for (let eventID = after(0); eventID !== null; eventID = after(eventID)) yield eventID;
  }

  const bucketOf = (edges: readonly number[]) => {
    let at = 0;
    return (time: number): number => {
      while (at > 0 && time < (edges[at] as number)) at -= 1;
      while (at < edges.length - 2 && time >= (edges[at + 1] as number)) at += 1;
      return at;
    };
  };

  /**
   * The times of the first and last event of an eventID in a quarter. A stored time outside of the quarter means that the first or last
   * event was deleted: then events are read until as many as the total counts have been seen.
   */
  function* timesIn(
    account: number,
    eventID: number,
    total: Quarter,
  ): ChunkedRead<Pick<Quarter, 'firstTime' | 'lastTime'>> {
    const from = total.quarter * quarterMilliseconds;
    const to = from + quarterMilliseconds;
    if (total.firstTime >= from && total.lastTime < to) return total;
    let seen = 0;
    let firstTime = Infinity;
    let lastTime = -Infinity;
    for (const found of findIn(rangesBetween(account, from, to), account, eventID, from, to)) {
      if (seen >= total.count) break;
      if (typeof found === 'number') {
        yield;
        continue;
      }
      for (const index of found.indexes) {
        const eventTime = eventTimeAt(found.block, index);
        if (eventTime < from || eventTime >= to) continue;
        seen += 1;
        firstTime = Math.min(firstTime, eventTime);
        lastTime = Math.max(lastTime, eventTime);
      }
    }
    // All of them may have been deleted between two steps.
    return seen > 0 ? { firstTime, lastTime } : { firstTime: from, lastTime: to - 1 };
  }

  /** Counts by reading the events: neither the rollups nor the summaries distinguish robots. */
  function* countWithoutRobots({ account, eventID, edges, users }: CountQuery): ChunkedRead<CountBucket[]> {
    const from = edges[0] as number;
    const to = edges.at(-1) as number;
    const inBucket = bucketOf(edges);
    const events = edges.slice(1).map(() => 0);
    const seen = events.map(() => new Set<number>());
    for (const found of findIn(rangesBetween(account, from, to), account, eventID, from, to)) {
      if (typeof found === 'number') {
        yield;
        continue;
      }
      for (const index of found.indexes) {
        const eventTime = eventTimeAt(found.block, index);
        if (eventTime < from || eventTime >= to || isRobot(found.block, index)) continue;
        const bucket = inBucket(eventTime);
        events[bucket] = (events[bucket] as number) + 1;
        if (users) (seen[bucket] as Set<number>).add(holderOf(factsAt(found.block, index)));
      }
    }
    return events.map((count, bucket) => ({
      events: count,
      ...(users && { users: (seen[bucket] as Set<number>).size }),
    }));
  }

  return {
    *countEvents(query: CountQuery): ChunkedRead<CountBucket[]> {
      if (query.withoutRobots) return yield* countWithoutRobots(query);
      const { account, eventID, edges, users } = query;
      const from = edges[0] as number;
      const to = edges.at(-1) as number;
      const events = edges.slice(1).map(() => 0);
      const inBucket = bucketOf(edges);
      const quarters = edges.map((edge) => edge / quarterMilliseconds);
      const spans = JSON.stringify(quarters.slice(1).map((quarter, bucket) => [quarters[bucket], quarter]));
      for (const counted of eventID === undefined ? eventIDsOf(account) : [eventID]) {
        for (const { bucket, count } of rollups.all({ spans, account, eventID: counted })) {
          events[bucket] = (events[bucket] as number) + count;
        }
        yield;
      }
      if (!users) return events.map((count) => ({ events: count }));

      const seen = events.map(() => new Set<number>());
      yield* log.visit({ account, eventID, from, to }, rangesBetween(account, from, to), (time) => {
        if (time < from || time >= to) return undefined;
        const ofBucket = seen[inBucket(time)] as Set<number>;
        return (visitor) => ofBucket.add(visitor);
      });
      return events.map((count, bucket) => ({ events: count, users: (seen[bucket] as Set<number>).size }));
    },

    *getEventDefinitions(account: number): ChunkedRead<EventDefinition[]> {
      const definitions: EventDefinition[] = [];
      for (const { id, name } of catalogues.list(account, 'event')) {
        const eventID = Number(id);
        const count = countOf.get({ account, eventID });
        if (count) {
          const [first, last] = [firstQuarter, lastQuarter].map(
            (quarter) => quarter.get({ account, eventID }) as Quarter,
          );
          const { firstTime } = yield* timesIn(account, eventID, first as Quarter);
          const { lastTime } = yield* timesIn(account, eventID, last as Quarter);
          definitions.push({ eventID, eventName: name, count, firstTime, lastTime });
        }
        yield;
      }
      return definitions;
    },
  };
};
