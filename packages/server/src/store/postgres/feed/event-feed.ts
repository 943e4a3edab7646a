/** Feeds an account's events to reports, as stored and in sequence order. */
import type { EventFeedPage } from '../../report-feed.ts';
import { createEventFeedPage } from '../../rules/feed/event-feed.ts';
import type { RequestOf } from '../../store.ts';
import type { AccountConnection } from '../database/connection.ts';
import { daysOf } from '../days/days.ts';
import { inGroups } from '../events/event-order.ts';
import { rangesOf, readStep } from '../events/event-pages.ts';
import { toEvent } from '../events/event-presenter.ts';
import type { Snapshot } from '../transactions/transaction.ts';

/** The maximum number of events that one query reads. */
const maxPerStep = 2_000;

const wholeAccount = { stretches: undefined };

const readFirstSequence = async (db: AccountConnection, account: number, end: number): Promise<number> => {
  const first = await db.get<{ sequence: number }>(
    `SELECT sequence FROM event WHERE account = $1 ORDER BY ${inGroups('account')} LIMIT 1`,
    [account],
  );
  // Stops at the settled sequence, because an earlier event beyond it may still be uncommitted.
  return Math.min(first?.sequence ?? Infinity, end + 1);
};

export const feedEvents = async (
  db: Snapshot,
  { account, beyond, limit }: RequestOf<'feedEvents'>,
): Promise<EventFeedPage> => {
  const end = await db.settled;
  const firstSequence = await readFirstSequence(db, account, end);
  const bounds = { after: beyond, through: end };
  const days = await daysOf(db, { account, from: 0, to: Number.MAX_SAFE_INTEGER, ...bounds });
  const perStep = Math.min(maxPerStep, limit);
  const query = { account, eventIDs: undefined, attrIDs: undefined, order: 'asc', limit: perStep } as const;
  const fed = createEventFeedPage(limit);
  for (const range of rangesOf(days, bounds)) {
    for (let rest: typeof range | null = range; rest !== null; ) {
      const { rows, reached } = await readStep(db, query, wholeAccount, rest, perStep);
      for (const event of rows.map(toEvent)) {
        fed.add(event);
        if (fed.isFull() && event.sequence < end) {
          return fed.done({ through: event.sequence, more: true, firstSequence });
        }
      }
      rest = reached === null ? null : { ...rest, after: reached };
    }
  }
  return fed.done({ through: end, more: false, firstSequence });
};
