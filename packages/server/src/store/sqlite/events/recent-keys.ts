/**
 * The keys of the latest events, by which repeats are recognized. Inserting a row per event into `event_repeat` would
 * change several pages per commit, so the rows of a thousand events are written together, sorted.
 *
 * Until then, keys are held in memory. After a restart they are read from the blocks.
 */
import type { SentByServer } from '../../rules/idempotency-keys.ts';
import type { Connection } from '../database/connection.ts';
import { createRowInsert, type RowValue } from '../database/row-inserts.ts';
import { type EventLogWriter, type Holder, holderOf } from '../event-log/event-log.ts';
import type { Sequencer } from '../transactions/sequencer.ts';

/** The key of a sent event, and its day. */
export interface SentEvent {
  /** The day on which the event was received. */
  readonly day: number;
  readonly eventUUID: string;
  readonly holder: Holder;
  readonly server: SentByServer;
}

/** The number of keys written together, so that each takes about 60 bytes in the write-ahead log instead of 500. */
const defaultEventsPerSettling = 1_024;
/**
 * If there is no time between commits, a commit writes the keys once their number is this many times the usual number.
 */
const maxBacklogFactor = 8;

/**
 * Does not compare days: all keys are from the same day, because the previous day's keys are written when a day starts.
 */
const compareKeys = (a: SentEvent, b: SentEvent): number => {
  if (a.eventUUID !== b.eventUUID) return a.eventUUID < b.eventUUID ? -1 : 1;
  return a.holder - b.holder || Number(a.server) - Number(b.server);
};

export const createRecentKeys = (
  db: Connection,
  sequencer: Sequencer,
  log: EventLogWriter,
  eventsPerSettling = defaultEventsPerSettling,
) => {
  const keyColumns = ['day', 'eventUUID', 'holder'];
  const onConflict = 'ON CONFLICT DO NOTHING';
  const insert = createRowInsert(db, { table: 'event_repeat', columns: [...keyColumns, 'server'], onConflict });
  /** Used for events in blocks that don't store the token kind. */
  const insertOfEither = createRowInsert(db, { table: 'event_repeat_of_either', columns: keyColumns, onConflict });
  const readRemembered = db.prepare<[], number>('SELECT remembered FROM position').pluck();
  const writeRemembered = db.prepare('UPDATE position SET remembered = ?');
  /** Keys by eventUUID: several holders, and both kinds of tokens, may have sent the same eventUUID. */
  const recent = new Map<string, SentEvent[]>();
  let count = 0;
  /** True while memory might not match the blocks, which is at start and after a rollback. */
  let isStale = true;

  const reset = (stale: boolean) => {
    isStale = stale;
    recent.clear();
    count = 0;
  };

  /** Returns the keys of the logged events whose keys are not written yet, including those of this transaction. */
  const readLoggedKeys = (): SentEvent[] =>
    // Omits events in damaged blocks: if such an event is sent again, it counts as new. Does not flush this
    // transaction's events, because their call can still be refused.
    Array.from(log.eventsAfter(readRemembered.get() as number), (event) => {
      const { day, eventUUID, server } = event;
      return { day, eventUUID, holder: holderOf(event), server };
    });

  const settle = () => {
    const events = isStale ? readLoggedKeys() : [...recent.values()].flat();
    reset(false);
    if (events.length === 0) return;
    const values: RowValue[] = [];
    const valuesOfEither: RowValue[] = [];
    for (const { day, eventUUID, holder, server } of events.sort(compareKeys)) {
      if (server === null) valuesOfEither.push(day, eventUUID, holder);
      else values.push(day, eventUUID, holder, server);
    }
    insert(values);
    insertOfEither(valuesOfEither);
    writeRemembered.run(sequencer.sequence);
  };

  return {
    has(eventUUID: string, holder: Holder, server: SentByServer): boolean {
      if (isStale) settle();
      return recent.get(eventUUID)?.some((sent) => sent.holder === holder && sent.server === server) ?? false;
    },
    add(day: number, { eventUUID, holder, server }: Omit<SentEvent, 'day'>): void {
      if (count >= maxBacklogFactor * eventsPerSettling) settle();
      const sent = { day, eventUUID, holder, server };
      const sameUUID = recent.get(eventUUID);
      if (sameUUID) sameUUID.push(sent);
      else recent.set(eventUUID, [sent]);
      count += 1;
    },
    /** Writes all keys. Like the other functions, call it in a transaction. */
    settle,
    /** Whether there are enough keys to write. */
    isDue: (): boolean => isStale || count >= eventsPerSettling,
    forget: () => reset(true),
    undo: () => reset(true),
  };
};
export type RecentKeys = ReturnType<typeof createRecentKeys>;
