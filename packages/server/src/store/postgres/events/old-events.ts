/** Finds the oldest events, ignoring received times that cannot be right. */
import type { KeptEvent } from '../../rules/kept-event.ts';
import { chooseOld } from '../../rules/old-events.ts';
import type { Connection } from '../database/connection.ts';
import { bytesOfTimes, readReceivedTime } from './event-body.ts';
import { inGroups, within } from './event-order.ts';

type OldEvent = Pick<KeptEvent, 'account' | 'sequence' | 'day' | 'receivedTime'>;
type StoredOldEvent = Pick<KeptEvent, 'account' | 'sequence' | 'day' | 'eventTime'> & { readonly times: Buffer };

/** Returns up to `most` events after a sequence, of all accounts, in order. */
const eventsAfter = async (db: Connection, sequence: number, most: number): Promise<OldEvent[]> => {
  const found: OldEvent[] = [];
  for (let beyond = -1; found.length < most; ) {
    const parts = await db.all<{ account: number; day: number; first: number; last: number }>(
      `WITH day AS (
         SELECT account, day, min("firstSequence") AS first, max("lastSequence") AS last FROM account_day
         GROUP BY account, day HAVING sum(count) > 0 AND max("lastSequence") > $1 AND day > $2
       )
       SELECT * FROM day WHERE day = (SELECT min(day) FROM day)`,
      [sequence, beyond],
    );
    if (parts.length === 0) return found;
    beyond = (parts[0] as { day: number }).day;
    const rows = await db.all<StoredOldEvent>(
      `SELECT e.* FROM unnest($1::integer[], $2::bigint[], $3::bigint[]) AS part (account, first, last)
       CROSS JOIN LATERAL (
         SELECT account, sequence, day, "eventTime", substr(body, 1, ${bytesOfTimes}) AS times FROM event
         WHERE account = part.account AND day = $4 AND ${within('account', 'greatest(part.first - 1, $5::bigint)', 'part.last')}
         ORDER BY ${inGroups('account')} LIMIT $6
       ) AS e ORDER BY sequence LIMIT $6`,
      [
        parts.map(({ account }) => account),
        parts.map(({ first }) => first),
        parts.map(({ last }) => last),
        beyond,
        sequence,
        most - found.length,
      ],
    );
    for (const { times, eventTime, ...event } of rows) {
      found.push({ ...event, receivedTime: readReceivedTime(times, eventTime) });
    }
  }
  return found;
};

const lookedPerStep = 1_000;

/** Returns the received time of the next event after a sequence that was not received after `now`; Infinity: there is none. */
const nextBelievable = async (db: Connection, sequence: number, now: number): Promise<number> => {
  for (let after = sequence; ; ) {
    const events = await eventsAfter(db, after, lookedPerStep);
    const believable = events.find(({ receivedTime }) => receivedTime <= now);
    if (believable) return believable.receivedTime;
    if (events.length < lookedPerStep) return Infinity;
    after = (events.at(-1) as OldEvent).sequence;
  }
};

/** Returns up to `most` events that were received before `time`, in order from the first: see chooseOld. */
export const findOldEvents = async (
  db: Connection,
  { time, most, now }: { time: number; most: number; now: number },
): Promise<OldEvent[]> => {
  const { old, ahead } = chooseOld(await eventsAfter(db, 0, most), { time, now });
  const last = ahead.at(-1);
  return last && (await nextBelievable(db, last.sequence, now)) < time ? [...old, ...ahead] : old;
};
