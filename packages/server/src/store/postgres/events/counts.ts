/** Counts events from rollups. Counts of distinct users, and counts that exclude bots, read the events themselves. */
import { listCatalogue, readEntryMerges, resolveIDs } from '../../operations/catalogues.ts';
import type { ResolvedQuery } from '../../rules/accounts/catalogue-rules.ts';
import { mergedDefinitions } from '../../rules/accounts/entry-merges.ts';
import { type Bucket, countsOf, createBuckets } from '../../rules/count-buckets.ts';
import { quarterHourMilliseconds } from '../../rules/rollups.ts';
import type { CountBucket, CountQuery, EventDefinition } from '../../store.ts';
import type { AccountConnection } from '../database/connection.ts';
import { daysOf } from '../days/days.ts';
import { runOperation } from '../transactions/operations.ts';
import { isRobot, readBody, robotSearchBytes } from './event-body.ts';
import { inGroups, within } from './event-order.ts';

/** SQL condition that selects an account's events in a span. Its parameters are $1 to $7. */
const ofAccountInSpan = `account = $3 AND day >= $4 AND day <= $5 AND ${within('account', '$1::bigint', '$2::bigint')}
  AND "eventTime" >= $6 AND "eventTime" < $7`;
type Span = [
  after: number,
  through: number,
  account: number,
  firstDay: number,
  lastDay: number,
  from: number,
  to: number,
];

/** Returns the span of the events with from <= eventTime < to; undefined if there are no such events. */
const spanOf = async (db: AccountConnection, account: number, from: number, to: number): Promise<Span | undefined> => {
  const days = await daysOf(db, { account, from, to, after: 0, through: Number.MAX_SAFE_INTEGER });
  const [first, last] = [days.at(0), days.at(-1)];
  return first && last && [first.firstSequence - 1, last.lastSequence, account, first.day, last.day, from, to];
};

/** The number of events that one query reads. */
const rowsPerStep = 20_000;

interface CountedRow {
  readonly sequence: number;
  readonly bucket: number;
  readonly visitor: number;
  /** Null if it was not fetched, because it cannot contain the bot mark. */
  readonly body: Buffer | null;
  readonly eventTime: number;
}

/** Counts events without the bot mark. Reads each event, because the rollups include bots. */
const countWithoutRobots = async (
  db: AccountConnection,
  { account, eventIDs, edges, users }: ResolvedQuery<CountQuery>,
) => {
  const buckets = createBuckets(edges);
  const span = await spanOf(db, account, edges[0] as number, edges.at(-1) as number);
  if (!span) return countsOf(buckets, users);
  const [before, ...rest] = span;
  for (let after: number | undefined = before; after !== undefined; ) {
    const rows: CountedRow[] = await db.all<CountedRow>(
      `SELECT sequence, "eventTime", width_bucket("eventTime", $8::bigint[]) - 1 AS bucket,
         coalesce("user", holder) AS visitor, CASE WHEN position($9::bytea in body) > 0 THEN body END AS body
       FROM event WHERE ${ofAccountInSpan} ${eventIDs === undefined ? '' : 'AND "eventID" = ANY ($10::integer[])'}
       ORDER BY ${inGroups('account')} LIMIT ${rowsPerStep}`,
      [after, ...rest, edges, robotSearchBytes, ...(eventIDs === undefined ? [] : [eventIDs])],
    );
    for (const { bucket: nth, visitor, body, eventTime } of rows) {
      if (body !== null && isRobot(readBody(body, eventTime))) continue;
      const bucket = buckets[nth] as Bucket;
      bucket.events += 1;
      bucket.visitors.add(visitor);
    }
    after = rows.length < rowsPerStep ? undefined : rows.at(-1)?.sequence;
  }
  return countsOf(buckets, users);
};

export const countEvents = async (db: AccountConnection, named: CountQuery): Promise<CountBucket[]> => {
  const merges = await runOperation(db, readEntryMerges(named.account));
  const query = await runOperation(db, resolveIDs(named, merges));
  if (query.withoutRobots) return countWithoutRobots(db, query);
  const { account, eventIDs, edges, users } = query;
  const filter = eventIDs === undefined ? [] : [eventIDs];
  const quarters = edges.map((edge) => edge / quarterHourMilliseconds);
  const counted = await db.all<{ bucket: number; events: number }>(
    `SELECT span.nth - 1 AS bucket, sum(total.count)::bigint AS events
     FROM unnest($2::bigint[], $3::bigint[]) WITH ORDINALITY AS span (first, next, nth)
     JOIN event_total total ON total.account = $1 AND total.quarter >= span.first AND total.quarter < span.next
       ${eventIDs === undefined ? '' : 'AND total."eventID" = ANY ($4::integer[])'}
     GROUP BY span.nth`,
    [account, quarters.slice(0, -1), quarters.slice(1), ...filter],
  );
  const span = users && (await spanOf(db, account, edges[0] as number, edges.at(-1) as number));
  const visitors = span
    ? await db.all<{ bucket: number; users: number }>(
        `SELECT width_bucket("eventTime", $8::bigint[]) - 1 AS bucket, count(DISTINCT coalesce("user", holder)) AS users
         FROM event WHERE ${ofAccountInSpan} ${eventIDs === undefined ? '' : 'AND "eventID" = ANY ($9::integer[])'} GROUP BY bucket`,
        [...span, edges, ...filter],
      )
    : [];
  const counts = edges.slice(1).map((): CountBucket => ({ events: 0, ...(users && { users: 0 }) }));
  for (const { bucket, ...count } of [...counted, ...visitors]) Object.assign(counts[bucket] as CountBucket, count);
  return counts;
};

interface QuarterHour {
  readonly quarter: number;
  readonly firstTime: number;
  readonly lastTime: number;
}

/** Returns the times of the first and last events of an eventID in a quarter hour. */
const timesIn = async (db: AccountConnection, account: number, eventID: number, total: QuarterHour) => {
  const from = total.quarter * quarterHourMilliseconds;
  const to = from + quarterHourMilliseconds;
  // If a stored time is outside of the quarter hour, events were deleted, perhaps the first or last event, so the
  // events themselves are read.
  if (total.firstTime >= from && total.lastTime < to) return total;
  // `spanOf` does not return undefined, because the total counts events in this quarter hour.
  const span = (await spanOf(db, account, from, to)) as Span;
  return db.one<Pick<QuarterHour, 'firstTime' | 'lastTime'>>(
    `SELECT min("eventTime") AS "firstTime", max("eventTime") AS "lastTime" FROM event
     WHERE ${ofAccountInSpan} AND "eventID" = $8`,
    [...span, eventID],
  );
};

export const getEventDefinitions = async (db: AccountConnection, account: number): Promise<EventDefinition[]> => {
  const rows = await db.all<{
    eventID: number;
    eventName: string;
    count: number;
    first: QuarterHour;
    last: QuarterHour;
  }>(
    `WITH total AS (
       SELECT "eventID", quarter, sum(count)::bigint AS count,
         jsonb_build_object('quarter', quarter, 'firstTime', min("firstTime"), 'lastTime', max("lastTime")) AS times
       FROM event_total WHERE account = $1 GROUP BY "eventID", quarter HAVING sum(count) > 0
     )
     SELECT total."eventID", listed.name AS "eventName", sum(total.count)::bigint AS count,
       (array_agg(times ORDER BY quarter))[1] AS first, (array_agg(times ORDER BY quarter DESC))[1] AS last
     FROM total JOIN catalogue listed ON listed.account = $1 AND listed.kind = 'event' AND listed.id = total."eventID"::text
     GROUP BY total."eventID", listed.name ORDER BY total."eventID"`,
    [account],
  );
  const definitions = await Promise.all(
    rows.map(async ({ eventID, eventName, count, first, last }) => {
      const { firstTime } = await timesIn(db, account, eventID, first);
      const { lastTime } = await timesIn(db, account, eventID, last);
      return { eventID, eventName, count, firstTime, lastTime };
    }),
  );
  return mergedDefinitions(definitions, await runOperation(db, listCatalogue({ account, kind: 'event' })));
};
