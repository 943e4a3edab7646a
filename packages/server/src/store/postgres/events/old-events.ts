/** Finds an account's oldest events, even if some received times are implausible. */
import type { EventRow } from '../../rules/event-row.ts';
import { chooseOld } from '../../rules/old-events.ts';
import type { AccountConnection } from '../database/connection.ts';
import { maxTimesBytes, readReceivedTime } from './event-body.ts';
import { inGroups, within } from './event-order.ts';

type OldEvent = Pick<EventRow, 'sequence' | 'day' | 'receivedTime'>;
type StoredOldEvent = Pick<EventRow, 'sequence' | 'day' | 'eventTime'> & { readonly times: Buffer };

/** Returns up to `limit` events after a sequence, in order. */
const eventsAfter = async (db: AccountConnection, sequence: number, limit: number): Promise<OldEvent[]> => {
  const events: OldEvent[] = [];
  for (let beyond = -1; events.length < limit; ) {
    const next = await db.get<{ day: number; first: number; last: number }>(
      `SELECT day, min("firstSequence") AS first, max("lastSequence") AS last FROM account_day
       WHERE account = $1 AND day > $3 GROUP BY day HAVING sum(count) > 0 AND max("lastSequence") > $2
       ORDER BY day LIMIT 1`,
      [db.account, sequence, beyond],
    );
    if (!next) return events;
    beyond = next.day;
    const rows = await db.all<StoredOldEvent>(
      `SELECT sequence, day, "eventTime", substr(body, 1, ${maxTimesBytes}) AS times FROM event
       WHERE account = $1 AND day = $2 AND ${within('account', '$3::bigint', '$4::bigint')}
       ORDER BY ${inGroups('account')} LIMIT $5`,
      [db.account, next.day, Math.max(next.first - 1, sequence), next.last, limit - events.length],
    );
    for (const { times, eventTime, ...event } of rows) {
      events.push({ ...event, receivedTime: readReceivedTime(times, eventTime) });
    }
  }
  return events;
};

const rowsPerStep = 1_000;

/** Returns the first received time after a sequence that is not in the future; Infinity if there is none. */
const nextPlausibleTime = async (db: AccountConnection, sequence: number, now: number): Promise<number> => {
  for (let after = sequence; ; ) {
    const events = await eventsAfter(db, after, rowsPerStep);
    const plausible = events.find(({ receivedTime }) => receivedTime <= now);
    if (plausible) return plausible.receivedTime;
    if (events.length < rowsPerStep) return Infinity;
    after = (events.at(-1) as OldEvent).sequence;
  }
};

/** Returns up to `limit` events that were received before `time`, oldest first (chooseOld). */
export const findOldEvents = async (
  db: AccountConnection,
  { time, limit, now }: { time: number; limit: number; now: number },
): Promise<OldEvent[]> => {
  const { old, ahead } = chooseOld(await eventsAfter(db, 0, limit), { time, now });
  const last = ahead.at(-1);
  return last && (await nextPlausibleTime(db, last.sequence, now)) < time ? [...old, ...ahead] : old;
};
