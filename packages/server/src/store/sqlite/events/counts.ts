/** Counts events from rollups, and distinct users from segment summaries and from events outside of segments. */
import { listCatalogue, readEntryMerges, resolveIDs } from '../../operations/catalogues.ts';
import { mergedDefinitions } from '../../rules/accounts/entry-merges.ts';
import { type Bucket, countsOf, createBuckets } from '../../rules/count-buckets.ts';
import { quarterHourMilliseconds } from '../../rules/rollups.ts';
import type { CountBucket, CountQuery, EventDefinition } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import {
  createEventLogReader,
  type EventBlock,
  eventTimeAt,
  factsAt,
  holderOf,
  isRobot,
  type Range,
  sourcesOfKinds,
} from '../event-log/event-log.ts';
import type { ChunkedRead } from '../transactions/chunked-reads.ts';
import { createOperationRunner } from '../transactions/operations.ts';
import { createDayReader, toRanges } from './days.ts';

interface QuarterHour {
  readonly quarter: number;
  readonly count: number;
  readonly firstTime: number;
  readonly lastTime: number;
}

/** Applies a SELECT to both rollup tables (rollups.ts). */
const unionAll = (select: (table: string) => string): string =>
  ['event_total', 'recent_total'].map(select).join(' UNION ALL ');

/** Reads the rollups of events (rollups.ts). */
const createRollupReader = (db: Connection) => {
  const nextEventID = db
    .prepare<{ account: number; eventID: number }, number | null>(`
      SELECT min(eventID) FROM (
        ${unionAll((table) => `SELECT min(eventID) AS eventID FROM ${table} WHERE account = @account AND eventID > @eventID`)}
      )`)
    .pluck();
  /** Counts one eventID in each span of quarter hours that has events. `spans` is JSON: [[from, to], …]. */
  const rollups = db.prepare<{ spans: string; account: number; eventID: number }, { bucket: number; count: number }>(`
    SELECT bucket, sum(count) AS count FROM (
      ${unionAll(
        (table) => `
          SELECT span.key AS bucket, total.count FROM json_each(@spans) AS span CROSS JOIN ${table} AS total
            ON total.account = @account AND total.eventID = @eventID
            AND total.quarter >= (span.value ->> 0) AND total.quarter < (span.value ->> 1)`,
      )}
    ) GROUP BY bucket`);
  const countOf = db
    .prepare<{ account: number; eventID: number }, number | null>(`
      SELECT sum(count) FROM (
        ${unionAll((table) => `SELECT count FROM ${table} WHERE account = @account AND eventID = @eventID`)}
      )`)
    .pluck();
  const selectQuarter = (direction: 'ASC' | 'DESC') =>
    db.prepare<{ account: number; eventID: number }, QuarterHour>(`
      SELECT quarter, sum(count) AS count, min(firstTime) AS firstTime, max(lastTime) AS lastTime FROM (
        ${unionAll(
          (table) => `
            SELECT * FROM (
              SELECT quarter, count, firstTime, lastTime FROM ${table}
              WHERE account = @account AND eventID = @eventID ORDER BY quarter ${direction} LIMIT 1
            )`,
        )}
      ) GROUP BY quarter ORDER BY quarter ${direction} LIMIT 1`);
  return {
    countOf,
    rollups,
    firstQuarter: selectQuarter('ASC'),
    lastQuarter: selectQuarter('DESC'),
    /** Yields the eventIDs that have events, with one index seek per eventID instead of a scan. */
    *eventIDsOf(account: number) {
      const after = (eventID: number) => nextEventID.get({ account, eventID }) as number | null;
      for (let eventID = after(0); eventID !== null; eventID = after(eventID)) yield eventID;
    },
  };
};

/** Returns a function that finds the bucket of a time, fast for times close to the previous one. */
const bucketAt = (edges: readonly number[], buckets: readonly Bucket[]) => {
  let current = 0;
  return (time: number): Bucket => {
    while (current > 0 && time < (edges[current] as number)) current -= 1;
    while (current < edges.length - 2 && time >= (edges[current + 1] as number)) current += 1;
    return buckets[current] as Bucket;
  };
};

export const createCounter = (db: Connection, log = createEventLogReader(db)) => {
  const runOperation = createOperationRunner(db);
  const daysOf = createDayReader(db);
  const { countOf, rollups, firstQuarter, lastQuarter, eventIDsOf } = createRollupReader(db);

  /** Returns the ranges of sequences that may have events with from ≤ eventTime < to. */
  const rangesBetween = (account: number, from: number, to: number): Range[] =>
    toRanges(daysOf({ account, from, to, after: 0, through: Infinity }));

  /** Visits the events of some or all eventIDs with from ≤ eventTime < to, until a visit returns false. */
  function* visitEvents(
    {
      account,
      eventIDs,
      from,
      to,
    }: { account: number; eventIDs: readonly number[] | undefined; from: number; to: number },
    visit: (time: number, block: EventBlock, index: number) => boolean,
  ): ChunkedRead<void> {
    const sources = sourcesOfKinds(account, eventIDs);
    for (const match of log.find(sources, rangesBetween(account, from, to), 'asc', { account, from, to })) {
      if (typeof match === 'number') {
        yield;
        continue;
      }
      for (const index of match.indexes) {
        const time = eventTimeAt(match.block, index);
        if (time >= from && time < to && !visit(time, match.block, index)) return;
      }
    }
  }

  /**
   * Returns the times of the first and last event of an eventID in a quarter hour. A stored time outside of the quarter
   * hour means that the event was deleted; the events are then read until the total count is reached.
   */
  function* timesIn(
    key: { account: number; eventID: number },
    total: QuarterHour,
  ): ChunkedRead<Pick<QuarterHour, 'firstTime' | 'lastTime'>> {
    const from = total.quarter * quarterHourMilliseconds;
    const to = from + quarterHourMilliseconds;
    if (total.firstTime >= from && total.lastTime < to) return total;
    let count = 0;
    let firstTime = Infinity;
    let lastTime = -Infinity;
    yield* visitEvents({ account: key.account, eventIDs: [key.eventID], from, to }, (time) => {
      count += 1;
      firstTime = Math.min(firstTime, time);
      lastTime = Math.max(lastTime, time);
      return count < total.count;
    });
    // All events may have been deleted between two steps.
    return count > 0 ? { firstTime, lastTime } : { firstTime: from, lastTime: to - 1 };
  }

  return {
    *countEvents(query: CountQuery): ChunkedRead<CountBucket[]> {
      const { account, edges, users, withoutRobots } = query;
      const buckets = createBuckets(edges);
      const { eventIDs } = runOperation(resolveIDs(query, runOperation(readEntryMerges(query.account))));
      const bucketOf = bucketAt(edges, buckets);
      const within = { account, eventIDs, from: edges[0] as number, to: edges.at(-1) as number };
      if (withoutRobots) {
        // Reads the events, because neither rollups nor summaries distinguish bots.
        yield* visitEvents(within, (time, block, index) => {
          if (isRobot(block, index)) return true;
          const bucket = bucketOf(time);
          bucket.events += 1;
          if (users) bucket.visitors.add(holderOf(factsAt(block, index)));
          return true;
        });
        return countsOf(buckets, users);
      }
      const quarters = edges.map((edge) => edge / quarterHourMilliseconds);
      const spans = JSON.stringify(quarters.slice(1).map((quarter, bucket) => [quarters[bucket], quarter]));
      for (const eventID of eventIDs ?? eventIDsOf(account)) {
        for (const { bucket, count } of rollups.all({ spans, account, eventID })) {
          (buckets[bucket] as Bucket).events += count;
        }
        yield;
      }
      if (users) {
        yield* log.visit(within, rangesBetween(account, within.from, within.to), (time) => {
          if (time < within.from || time >= within.to) return undefined;
          const { visitors } = bucketOf(time);
          return (visitor) => visitors.add(visitor);
        });
      }
      return countsOf(buckets, users);
    },

    *getEventDefinitions(account: number): ChunkedRead<EventDefinition[]> {
      const definitions: EventDefinition[] = [];
      const listed = runOperation(listCatalogue({ account, kind: 'event' }));
      for (const { id, name } of listed) {
        const key = { account, eventID: Number(id) };
        const count = countOf.get(key);
        if (count) {
          const first = firstQuarter.get(key) as QuarterHour;
          const last = lastQuarter.get(key) as QuarterHour;
          const { firstTime } = yield* timesIn(key, first);
          const { lastTime } = yield* timesIn(key, last);
          definitions.push({ eventID: key.eventID, eventName: name, count, firstTime, lastTime });
        }
        yield;
      }
      return mergedDefinitions(definitions, listed);
    },
  };
};
