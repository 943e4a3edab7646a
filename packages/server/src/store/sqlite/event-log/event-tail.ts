/** The newest events, which no posting covers yet: an in-memory index of their sequences. */
import type { Connection } from '../database/connection.ts';
import type { Pending } from '../transactions/transaction.ts';
import { type EventBlock, factsAt, sequenceAt, sizeOf } from './event-block.ts';
import { type BlockRow, readBlock } from './event-block-row.ts';
import type { Posted } from './postings-draft.ts';

/** The key of a posting. */
export interface PostingKey {
  readonly what: Posted;
  readonly number: number;
  readonly eventID: number;
}

export interface EventTail extends Pending {
  /** The sequences of the events that belong to a key, ascending, with after < sequence <= through. */
  find(key: PostingKey, after: number, through: number): readonly number[];
  /** Reads some of what was committed since the last call. Returns whether that was all. */
  refresh(): boolean;
  /** The last sequence that postings cover. */
  readonly indexed: number;
}

/** Ascending sequences by number. */
type Lists = Map<number, number[]>;

/** The most that is read between two pauses, in events; a block costs as much as a few events. */
const mostTaken = 8_192;
const costOfBlock = 8;

const push = (lists: Lists, number: number, sequence: number) => {
  const list = lists.get(number);
  if (list) list.push(sequence);
  else lists.set(number, [sequence]);
};

/** Returns how many values of an ascending list are at most `value`. */
const countUpTo = (list: readonly number[], value: number): number => {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
};

const forget = (lists: Lists, through: number) => {
  for (const [number, list] of lists) {
    const rest = list.slice(countUpTo(list, through));
    if (rest.length > 0) lists.set(number, rest);
    else lists.delete(number);
  }
};

const none: readonly number[] = [];

export const createEventTail = (db: Connection): EventTail => {
  const readIndexed = db.prepare<[], number>('SELECT indexed FROM position').pluck();
  const blocksAfter = db.prepare<[number], BlockRow>(
    'SELECT through, events, checksum FROM event_block WHERE through > ? ORDER BY through',
  );
  const lists = { user: new Map(), contact: new Map(), account: new Map() } satisfies Record<string, Lists>;
  /** By account, then by eventID. */
  const byEventID = new Map<number, Lists>();
  let indexed = 0;
  let loaded = 0;

  const take = (block: EventBlock) => {
    for (let index = 0; index < sizeOf(block); index += 1) {
      // A compacted block may hold events that were read before.
      if (sequenceAt(block, index) <= loaded) continue;
      const { sequence, account, user, contact, eventID } = factsAt(block, index);
      if (user !== null) push(lists.user, user, sequence);
      if (contact !== null) push(lists.contact, contact, sequence);
      push(lists.account, account, sequence);
      const ofAccount = byEventID.get(account) ?? new Map();
      byEventID.set(account, ofAccount);
      push(ofAccount, eventID, sequence);
    }
  };

  const listOf = ({ what, number, eventID }: PostingKey): readonly number[] =>
    (what === 'eventID' ? byEventID.get(number)?.get(eventID) : lists[what].get(number)) ?? none;

  return {
    refresh() {
      const now = readIndexed.get() as number;
      if (now > indexed) {
        for (const some of Object.values(lists)) forget(some, now);
        for (const [account, ofAccount] of byEventID) {
          forget(ofAccount, now);
          if (ofAccount.size === 0) byEventID.delete(account);
        }
        indexed = now;
        loaded = Math.max(loaded, indexed);
      }
      let taken = 0;
      for (const row of blocksAfter.iterate(loaded)) {
        const block = readBlock(row);
        take(block);
        loaded = row.through;
        taken += costOfBlock + sizeOf(block);
        if (taken >= mostTaken) return false;
      }
      return true;
    },
    get indexed() {
      return indexed;
    },
    find(key, after, through) {
      const list = listOf(key);
      return list.slice(countUpTo(list, after), countUpTo(list, through));
    },
    forget() {
      for (const some of [...Object.values(lists), byEventID]) some.clear();
      indexed = 0;
      loaded = 0;
    },
  };
};
