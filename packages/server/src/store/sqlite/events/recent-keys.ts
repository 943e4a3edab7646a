/**
 * The keys of the latest events, by which repeats are recognized. One row of `event_repeat` for each event would change some pages
 * in each commit, so the rows of a thousand events are written together, sorted. Until then the keys are held in memory; after a
 * restart they are read from the blocks.
 */
import type { SentByServer } from '../../rules/idempotency-keys.ts';
import type { Connection } from '../database/connection.ts';
import { createRowInsert, type RowValue } from '../database/row-inserts.ts';
import { type EventLogWriter, type Holder, holderOf } from '../event-log/event-log.ts';
import type { Sequencer } from '../transactions/sequencer.ts';

/** The key of an event that was sent, and its day. */
export interface SentEvent {
  /** The day on which the event was received. */
  readonly day: number;
  readonly eventUUID: string;
  readonly holder: Holder;
  readonly server: SentByServer;
}

/** Keys that are written together: each then costs about 60 bytes of the log instead of 500. */
const usualEventsPerSettling = 1_024;
/** When there was no time to write the keys between commits, a commit writes them once there are 8 times the usual number. */
const maxTimes = 8;

/** All keys are of one day: those of the day before are written when a day begins. */
const byKey = (a: SentEvent, b: SentEvent): number => {
  if (a.eventUUID !== b.eventUUID) return a.eventUUID < b.eventUUID ? -1 : 1;
  return a.holder - b.holder || Number(a.server) - Number(b.server);
};

export const createRecentKeys = (
  db: Connection,
  sequencer: Sequencer,
  log: EventLogWriter,
  eventsPerSettling = usualEventsPerSettling,
) => {
  const known = ['day', 'eventUUID', 'holder'];
  const onConflict = 'ON CONFLICT DO NOTHING';
  const insert = createRowInsert(db, { table: 'event_repeat', columns: [...known, 'server'], onConflict });
  /** For events in blocks that don't store which kind of token sent them. */
  const insertOfEither = createRowInsert(db, { table: 'event_repeat_of_either', columns: known, onConflict });
  const readRemembered = db.prepare<[], number>('SELECT remembered FROM position').pluck();
  const writeRemembered = db.prepare('UPDATE position SET remembered = ?');
  /** By eventUUID: several holders, and both kinds of tokens, may have sent the same. */
  const recent = new Map<string, SentEvent[]>();
  let count = 0;
  /** True while the memory may not match the blocks: at the start, and after a rollback. */
  let isDoubtful = true;

  const begin = (doubtful: boolean) => {
    isDoubtful = doubtful;
    recent.clear();
    count = 0;
  };

  /** The keys of the events in the log whose keys are not written yet, and of the events that this transaction adds. */
  const inLog = (): SentEvent[] =>
    // An event of a damaged block is left out: sent again, it counts as new. Those of this transaction are not flushed: what is
    // written within a call is lost when the call is refused.
    Array.from(log.eventsAfter(readRemembered.get() as number), (event) => {
      const { day, eventUUID, server } = event;
      return { day, eventUUID, holder: holderOf(event), server };
    });

  const settle = () => {
    const events = isDoubtful ? inLog() : [...recent.values()].flat();
    begin(false);
    if (events.length === 0) return;
    const values: RowValue[] = [];
    const valuesOfEither: RowValue[] = [];
    for (const { day, eventUUID, holder, server } of events.sort(byKey)) {
      if (server === null) valuesOfEither.push(day, eventUUID, holder);
      else values.push(day, eventUUID, holder, server);
    }
    insert(values);
    insertOfEither(valuesOfEither);
    writeRemembered.run(sequencer.sequence);
  };

  return {
    has(eventUUID: string, holder: Holder, server: SentByServer): boolean {
      if (isDoubtful) settle();
      return recent.get(eventUUID)?.some((sent) => sent.holder === holder && sent.server === server) ?? false;
    },
    add(day: number, { eventUUID, holder, server }: Omit<SentEvent, 'day'>): void {
      if (count >= maxTimes * eventsPerSettling) settle();
      const sent = { day, eventUUID, holder, server };
      const known = recent.get(eventUUID);
      if (known) known.push(sent);
      else recent.set(eventUUID, [sent]);
      count += 1;
    },
    /** Writes all keys. Must be called in a transaction, like the other functions. */
    settle,
    /** Whether there are enough keys to write them. */
    isDue: (): boolean => isDoubtful || count >= eventsPerSettling,
    forget: () => begin(true),
    undo: () => begin(true),
  };
};
export type RecentKeys = ReturnType<typeof createRecentKeys>;
