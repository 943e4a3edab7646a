/** Feeds an account's events to reports, as stored and in sequence order. */
import type { EventFeedPage } from '../../report-feed.ts';
import { createEventFeedPage } from '../../rules/feed/event-feed.ts';
import type { RequestOf } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import { type EventLogReader, eventAt, sequenceAt } from '../event-log/event-log.ts';
import type { ChunkedRead } from '../transactions/chunked-reads.ts';

export const createEventFeed = (db: Connection, log: EventLogReader) => {
  const lastSequence = db.prepare<[], number>('SELECT sequence FROM position').pluck();

  const readFirstSequence = (): number => {
    for (const { block } of log.blocksAfter(0)) return sequenceAt(block, 0);
    return (lastSequence.get() as number) + 1;
  };

  return function* feedEvents({ account, beyond, limit }: RequestOf<'feedEvents'>): ChunkedRead<EventFeedPage> {
    const end = lastSequence.get() as number;
    const firstSequence = readFirstSequence();
    const range = { after: beyond, through: end };
    const part = createEventFeedPage(limit);
    for (const match of log.find([{ what: 'account', number: account, eventID: 0, ...range }], [range], 'asc')) {
      if (typeof match === 'number') {
        yield;
        continue;
      }
      for (const index of match.indexes) {
        const event = eventAt(match.block, index);
        part.add(event);
        if (part.isFull() && event.sequence < end) {
          return part.done({ through: event.sequence, more: true, firstSequence });
        }
      }
    }
    return part.done({ through: end, more: false, firstSequence });
  };
};
