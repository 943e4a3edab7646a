/** Counts events: from the stored rollups, except for distinct users and counts without robots, which read the events. */

import { quarterMilliseconds } from '../../rules/quarter.ts';
import type { CountBucket, CountQuery, EventDefinition } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import { daysOf } from './days.ts';
import { readBody } from './event-body.ts';
import { inGroups, within } from './event-order.ts';
import { isRobot, soughtMark } from './robots.ts';

/** Returns the span of the days that may hold events with from <= eventTime < to; undefined when none does. */
const daysBetween = async (db: Connection, account: number, from: number, to: number) => {
  const days = await daysOf(db, { account, from, to, after: 0, through: Number.MAX_SAFE_INTEGER });
  const [first, last] = [days.at(0), days.at(-1)];
  if (!first || !last) return undefined;
  return { first: first.day, last: last.day, firstSequence: first.firstSequence, lastSequence: last.lastSequence };
};

type Days = NonNullable<Awaited<ReturnType<typeof daysBetween>>>;

/** SQL condition for an account's events on such days. $1 is the account, $2 to $5 are `boundsOf` the days. */
const ofDays = `account = $1 AND day >= $2 AND day <= $3 AND ${within('account', '$4::bigint', '$5::bigint')}`;
const boundsOf = ({ first, last, firstSequence, lastSequence }: Days): [number, number, number, number] => [
  first,
  last,
  firstSequence - 1,
  lastSequence,
];

/** Counts the distinct visitors between each pair of neighbouring edges. */
const countVisitors = async (db: Connection, { account, eventID, edges }: CountQuery): Promise<number[]> => {
  const [from, to] = [edges[0] as number, edges.at(-1) as number];
  const days = await daysBetween(db, account, from, to);
  const rows = days
    ? await db.all<{ bucket: number; users: number }>(
        `SELECT width_bucket("eventTime", $8::bigint[]) - 1 AS bucket, count(DISTINCT coalesce("user", holder)) AS users
         FROM event WHERE ${ofDays} AND "eventTime" >= $6 AND "eventTime" < $7
           ${eventID === undefined ? '' : 'AND "eventID" = $9'} GROUP BY bucket`,
        [account, ...boundsOf(days), from, to, edges, ...(eventID === undefined ? [] : [eventID])],
      )
    : [];
  const users = new Map(rows.map((row) => [row.bucket, row.users]));
  return edges.slice(1).map((_, bucket) => users.get(bucket) ?? 0);
};

/** Events that one query reads. */
const lookedPerStep = 20_000;

interface Looked {
  readonly sequence: number;
  readonly bucket: number;
  readonly visitor: number;
  /** Null when the body cannot hold the robot mark, so that PostgreSQL need not send it. */
  readonly body: Buffer | null;
  readonly eventTime: number;
}

/** Counts events without the robot mark. Reads each event, because the rollups include robots. */
const countWithoutRobots = async (db: Connection, query: CountQuery): Promise<CountBucket[]> => {
  const { account, eventID, edges } = query;
  const [from, to] = [edges[0] as number, edges.at(-1) as number];
  const events = edges.slice(1).map(() => 0);
  const seen = events.map(() => new Set<number>());
  const days = await daysBetween(db, account, from, to);
  for (let bounds = days && boundsOf(days); bounds !== undefined; ) {
    const rows: Looked[] = await db.all<Looked>(
      `SELECT sequence, "eventTime", width_bucket("eventTime", $8::bigint[]) - 1 AS bucket,
         coalesce("user", holder) AS visitor, CASE WHEN position($9::bytea in body) > 0 THEN body END AS body
       FROM event WHERE ${ofDays} AND "eventTime" >= $6 AND "eventTime" < $7
         ${eventID === undefined ? '' : 'AND "eventID" = $10'} ORDER BY ${inGroups('account')} LIMIT ${lookedPerStep}`,
      [account, ...bounds, from, to, edges, soughtMark, ...(eventID === undefined ? [] : [eventID])],
    );
    for (const { bucket, visitor, body, eventTime } of rows) {
      if (body !== null && isRobot(readBody(body, eventTime))) continue;
      events[bucket] = (events[bucket] as number) + 1;
      (seen[bucket] as Set<number>).add(visitor);
    }
    const [first, last, , through] = bounds;
    const isEnd = rows.length < lookedPerStep;
    bounds = isEnd ? undefined : [first, last, (rows.at(-1) as Looked).sequence, through];
  }
  return events.map((count, bucket) => ({
    events: count,
    ...(query.users && { users: (seen[bucket] as Set<number>).size }),
  }));
};

export const countEvents = async (db: Connection, query: CountQuery): Promise<CountBucket[]> => {
  if (query.withoutRobots) return countWithoutRobots(db, query);
  const { account, eventID, edges } = query;
  const quarters = edges.map((edge) => edge / quarterMilliseconds);
  const rows = await db.all<{ bucket: number; events: number }>(
    `SELECT span.nth - 1 AS bucket, sum(total.count)::bigint AS events
     FROM unnest($2::bigint[], $3::bigint[]) WITH ORDINALITY AS span (first, next, nth)
     JOIN event_total total ON total.account = $1 AND total.quarter >= span.first AND total.quarter < span.next
       ${eventID === undefined ? '' : 'AND total."eventID" = $4'}
     GROUP BY span.nth`,
    [account, quarters.slice(0, -1), quarters.slice(1), ...(eventID === undefined ? [] : [eventID])],
  );
  const counts = new Map(rows.map(({ bucket, events }) => [bucket, events]));
  const events = edges.slice(1).map((_, bucket) => counts.get(bucket) ?? 0);
  if (!query.users) return events.map((count) => ({ events: count }));
  const users = await countVisitors(db, query);
  return events.map((count, bucket) => ({ events: count, users: users[bucket] as number }));
};

interface Quarter {
  readonly quarter: number;
  readonly firstTime: number;
  readonly lastTime: number;
}

/** Returns when the first and last events of an eventID in a quarter of an hour happened. */
const timesIn = async (db: Connection, account: number, eventID: number, total: Quarter) => {
  const from = total.quarter * quarterMilliseconds;
  const to = from + quarterMilliseconds;
  // A time outside of the quarter means that events were deleted, perhaps the first or last: then the events are read.
  if (total.firstTime >= from && total.lastTime < to) return total;
  // Not undefined: the total counts events in this quarter.
  const days = (await daysBetween(db, account, from, to)) as Days;
  return db.one<Pick<Quarter, 'firstTime' | 'lastTime'>>(
    `SELECT min("eventTime") AS "firstTime", max("eventTime") AS "lastTime" FROM event
     WHERE ${ofDays} AND "eventTime" >= $6 AND "eventTime" < $7 AND "eventID" = $8`,
    [account, ...boundsOf(days), from, to, eventID],
  );
};

export const getEventDefinitions = async (db: Connection, account: number): Promise<EventDefinition[]> => {
  const rows = await db.all<{ eventID: number; eventName: string; count: number; first: Quarter; last: Quarter }>(
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
  return Promise.all(
    rows.map(async ({ eventID, eventName, count, first, last }) => {
      const { firstTime } = await timesIn(db, account, eventID, first);
      const { lastTime } = await timesIn(db, account, eventID, last);
      return { eventID, eventName, count, firstTime, lastTime };
    }),
  );
};
