/**
 * What the latest events are known by. An entry of `event_repeat` for each event would change some pages with each commit, so
 * those of a thousand are written together, sorted; until then they are held in memory. After a restart their blocks say
 * what they were.
 */
import type { SentByServer } from '../sent-keys.ts';
import type { Connection } from './connection.ts';
import { eventsOf, type KeptEvent } from './event-block.ts';
import { type BlockRow, isWhole, readBlock } from './event-block-row.ts';
import type { BlockWriter } from './event-blocks.ts';
import type { Position } from './position.ts';
import { createRowInsert, type RowValue } from './row-inserts.ts';
import type { Pending } from './transaction.ts';
import { visitorOf } from './visitors.ts';

/** Minus the contact, for an event without a user; else the user. */
export type Holder = number;

/** An event, as it is known. */
export interface SentEvent {
  /** On which it was received. */
  readonly day: number;
  readonly eventUUID: string;
  readonly holder: Holder;
  readonly server: SentByServer;
}

export interface RecentRepeats extends Pending {
  has(eventUUID: string, holder: Holder, server: SentByServer): boolean;
  add(day: number, event: Omit<SentEvent, 'day'>): void;
  /** Writes all of them. To be called in a transaction, as all the others. */
  settle(): void;
  /** Whether there are so many that they are to be written. */
  isDue(): boolean;
}

/** Written together: each then costs some 60 bytes of the log, and not 500. */
const usualEventsPerSettling = 1_024;
/** When there was no time to write them between commits, the commit itself does so after this many times as many. */
const mostTimes = 8;

/** Another holder, or another kind of token, may have sent an event of the same name. */
interface Entry extends SentEvent {
  readonly next: Entry | undefined;
}

/** They are all of one day: those of the day before are written when it begins. */
const byKey = (a: SentEvent, b: SentEvent): number => {
  if (a.eventUUID !== b.eventUUID) return a.eventUUID < b.eventUUID ? -1 : 1;
  return a.holder - b.holder || Number(a.server) - Number(b.server);
};

export const createRecentRepeats = (
  db: Connection,
  position: Position,
  blocks: BlockWriter,
  eventsPerSettling = usualEventsPerSettling,
): RecentRepeats => {
  const known = ['day', 'eventUUID', 'holder'];
  const onConflict = 'ON CONFLICT DO NOTHING';
  const insert = createRowInsert(db, { table: 'event_repeat', columns: [...known, 'server'], onConflict });
  /** For events of blocks that don't say which kind of token sent them. */
  const insertOfEither = createRowInsert(db, { table: 'event_repeat_of_either', columns: known, onConflict });
  const readRemembered = db.prepare<[], number>('SELECT remembered FROM position').pluck();
  const writeRemembered = db.prepare('UPDATE position SET remembered = ?');
  const blocksAfter = db.prepare<[number], BlockRow>(
    'SELECT through, events, checksum FROM event_block WHERE through > ? ORDER BY through',
  );
  let recent = new Map<string, Entry>();
  let count = 0;
  /** What is held may not be what the blocks say: at the start, and after a rollback. */
  let isDoubtful = true;

  const held = (): SentEvent[] => {
    const events: SentEvent[] = [];
    for (const entry of recent.values()) for (let at: Entry | undefined = entry; at; at = at.next) events.push(at);
    return events;
  };

  /** What the blocks say of those that are not written yet, and what this transaction will add to them. */
  const inBlocks = (): SentEvent[] => {
    const remembered = readRemembered.get() as number;
    const events: SentEvent[] = [];
    const take = (event: KeptEvent) => {
      const { sequence, day, eventUUID, server } = event;
      if (sequence > remembered) events.push({ day, eventUUID, holder: visitorOf(event), server });
    };
    for (const row of blocksAfter.iterate(remembered)) {
      // Nobody will be answered what is damaged: sent again, it is new.
      if (isWhole(row)) eventsOf(readBlock(row)).forEach(take);
    }
    // They stay where they are: what is written within a call is gone when that is refused.
    blocks.unwritten.forEach(take);
    return events;
  };

  const settle = () => {
    const events = isDoubtful ? inBlocks() : held();
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
    writeRemembered.run(position.sequence);
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
