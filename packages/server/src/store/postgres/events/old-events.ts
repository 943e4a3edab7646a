/** Finds the oldest events of an account, ignoring received times that cannot be right. */
import type { KeptEvent } from '../../rules/kept-event.ts';
import { chooseOld } from '../../rules/old-events.ts';
import type { AccountConnection } from '../database/connection.ts';
import { bytesOfTimes, readReceivedTime } from './event-body.ts';
import { inGroups, within } from './event-order.ts';

type OldEvent = Pick<KeptEvent, 'sequence' | 'day' | 'receivedTime'>;
type StoredOldEvent = Pick<KeptEvent, 'sequence' | 'day' | 'eventTime'> & { readonly times: Buffer };

/** Returns up to `most` events after a sequence, in order. */
const eventsAfter = async (db: AccountConnection, sequence: number, most: number): Promise<OldEvent[]> => {
  const found: OldEvent[] = [];
  for (let beyond = -1; found.length < most; ) {
    const next = await db.get<{ day: number; first: number; last: number }>(
      `SELECT day, min("firstSequence") AS first, max("lastSequence") AS last FROM account_day
       WHERE account = $1 AND day > $3 GROUP BY day HAVING sum(count) > 0 AND max("lastSequence") > $2
       ORDER BY day LIMIT 1`,
      [db.account, sequence, beyond],
    );
    if (!next) return found;
    beyond = next.day;
    const rows = await db.all<StoredOldEvent>(
      `SELECT sequence, day, "eventTime", substr(body, 1, ${bytesOfTimes}) AS times FROM event
       WHERE account = $1 AND day = $2 AND ${within('account', '$3::bigint', '$4::bigint')}
       ORDER BY ${inGroups('account')} LIMIT $5`,
      [db.account, next.day, Math.max(next.first - 1, sequence), next.last, most - found.length],
    );
    for (const { times, eventTime, ...event } of rows) {
      found.push({ ...event, receivedTime: readReceivedTime(times, eventTime) });
    }
  }
  return found;
};

const lookedPerStep = 1_000;

/** Returns the received time of the next event after a sequence that was not received after `now`; Infinity: there is none. */
const nextBelievable = async (db: AccountConnection, sequence: number, now: number): Promise<number> => {
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
  db: AccountConnection,
  { time, most, now }: { time: number; most: number; now: number },
): Promise<OldEvent[]> => {
  const { old, ahead } = chooseOld(await eventsAfter(db, 0, most), { time, now });
  const last = ahead.at(-1);
  return last && (await nextBelievable(db, last.sequence, now)) < time ? [...old, ...ahead] : old;
};
