/** The postings of a segment: collected while its blocks are read, then returned one by one in the order of their keys. */
import { type EventBlock, factsAt, sizeOf } from './event-block.ts';

/** The kinds of postings, as stored in event_posting. */
export const posted = { user: 0, contact: 1, account: 2, eventID: 3 } as const;
export type Posted = keyof typeof posted;

interface Posting {
  readonly what: number;
  readonly number: number;
  readonly eventID: number;
  /** The distance of each block's `through` from the beginning of the segment, ascending. */
  readonly blocks: number[];
}

type Postings = Map<number, Posting>;

/** Postings sorted together, in about a millisecond. Longer runs leave fewer runs to merge. */
const postingsPerRun = 4_096;

const inOrder = (a: Posting, b: Posting) => a.what - b.what || a.number - b.number || a.eventID - b.eventID;

export interface PostingsDraft {
  /** Reads the next blocks, each with its place. Sorts some of the new postings, so that no step has to sort all. */
  read(blocks: Iterable<readonly [block: EventBlock, at: number]>): void;
  /** Once all blocks are read, returns the next posting in order; undefined after the last. */
  take(): Posting | undefined;
}

export const createPostingsDraft = (): PostingsDraft => {
  /** By number. */
  const postings: Record<Exclude<Posted, 'eventID'>, Postings> = {
    user: new Map(),
    contact: new Map(),
    account: new Map(),
  };
  /** By account, then by eventID. */
  const byEventID = new Map<number, Postings>();
  /** Postings that were created since the last run. */
  let fresh: Posting[] = [];
  /** Earlier postings, in sorted runs of some thousands. */
  const runs: Posting[][] = [];
  /** For each run, the index of its first posting that was not taken yet. */
  const nexts: number[] = [];

  const noteBlock = (block: EventBlock, at: number) => {
    const note = (known: Postings, key: number, what: Posted, number: number, eventID: number) => {
      const posting = known.get(key);
      if (!posting) {
        const made = { what: posted[what], number, eventID, blocks: [at] };
        known.set(key, made);
        fresh.push(made);
      } else if (posting.blocks.at(-1) !== at) posting.blocks.push(at);
    };
    for (let index = 0; index < sizeOf(block); index += 1) {
      const { account, user, contact, eventID } = factsAt(block, index);
      if (user !== null) note(postings.user, user, 'user', user, 0);
      if (contact !== null) note(postings.contact, contact, 'contact', contact, 0);
      note(postings.account, account, 'account', account, 0);
      const ofAccount = byEventID.get(account) ?? new Map();
      byEventID.set(account, ofAccount);
      note(ofAccount, eventID, 'eventID', account, eventID);
    }
  };

  const endRun = () => {
    runs.push(fresh.sort(inOrder));
    nexts.push(0);
    fresh = [];
  };

  return {
    read(blocks) {
      for (const [block, at] of blocks) noteBlock(block, at);
      if (fresh.length >= postingsPerRun) endRun();
    },
    take() {
      if (fresh.length > 0) endRun();
      let first: Posting | undefined;
      let from = 0;
      for (let run = 0; run < runs.length; run += 1) {
        const posting = (runs[run] as Posting[])[nexts[run] as number];
        if (posting && (!first || inOrder(posting, first) < 0)) {
          first = posting;
          from = run;
        }
      }
      nexts[from] = (nexts[from] as number) + 1;
      return first;
    },
  };
};
