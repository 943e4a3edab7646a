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
import type { Pending } from '../transactions/transaction.ts';

/** The key of an event that was sent, and its day. */
export interface SentEvent {
  /** The day on which the event was received. */
  readonly day: number;
  readonly eventUUID: string;
  readonly holder: Holder;
  readonly server: SentByServer;
}

export interface RecentKeys extends Pending {
  has(eventUUID: string, holder: Holder, server: SentByServer): boolean;
  add(day: number, event: Omit<SentEvent, 'day'>): void;
  /** Writes all keys. Must be called in a transaction, like the other functions. */
  settle(): void;
  /** Whether there are enough keys to write them. */
  isDue(): boolean;
}

/** Keys that are written together: each then costs about 60 bytes of the log instead of 500. */
const usualEventsPerSettling = 1_024;
/** When there was no time to write the keys between commits, a commit writes them once there are 8 times the usual number. */
const mostTimes = 8;

/** `next` has the same eventUUID, but another holder or another kind of token. */
interface Entry extends SentEvent {
  readonly next: Entry | undefined;
}

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
): RecentKeys => {
  const known = ['day', 'eventUUID', 'holder'];
  const onConflict = 'ON CONFLICT DO NOTHING';
  const insert = createRowInsert(db, { table: 'event_repeat', columns: [...known, 'server'], onConflict });
  /** For events in blocks that don't store which kind of token sent them. */
  const insertOfEither = createRowInsert(db, { table: 'event_repeat_of_either', columns: known, onConflict });
  const readRemembered = db.prepare<[], number>('SELECT remembered FROM position').pluck();
  const writeRemembered = db.prepare('UPDATE position SET remembered = ?');
  let recent = new Map<string, Entry>();
  let count = 0;
  /** True while the memory may not match the blocks: at the start, and after a rollback. */
  let isDoubtful = true;

  const held = (): SentEvent[] => {
    const events: SentEvent[] = [];
    for (const entry of recent.values()) for (let at: Entry | undefined = entry; at; at = at.next) events.push(at);
    return events;
  };

  /** The keys of the events in the log whose keys are not written yet, and of the events that this transaction adds. */
  const inLog = (): SentEvent[] => {
    // An event of a damaged block is left out: sent again, it counts as new. Those of this transaction are not flushed: what is
    // written within a call is lost when the call is refused.
    const events = [...log.eventsAfter(readRemembered.get() as number)];
    return events.map((event) => {
      const { day, eventUUID, server } = event;
      return { day, eventUUID, holder: holderOf(event), server };
    });
  };

  const settle = () => {
    const events = isDoubtful ? inLog() : held();
    isDoubtful = false;
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
    recent = new Map();
    count = 0;
  };

  const doubt = () => {
    isDoubtful = true;
    recent = new Map();
    count = 0;
  };

  return {
    has(eventUUID, holder, server) {
      if (isDoubtful) settle();
      for (let entry = recent.get(eventUUID); entry; entry = entry.next) {
        if (entry.holder === holder && entry.server === server) return true;
      }
      return false;
    },
    add(day, { eventUUID, holder, server }) {
      if (count >= mostTimes * eventsPerSettling) settle();
      recent.set(eventUUID, { day, eventUUID, holder, server, next: recent.get(eventUUID) });
      count += 1;
    },
    settle,
    isDue: () => isDoubtful || count >= eventsPerSettling,
    forget: doubt,
    undo: doubt,
  };
};
