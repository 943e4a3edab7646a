/** Ascending lists of the blocks or sequences in which a user, contact, account or eventID has events. */
import type { EventFacts } from './event-block.ts';

/** The numbers that identify posting kinds in event_posting. */
export const postingKinds = { user: 0, contact: 1, account: 2, eventID: 3 } as const;

/** The key of a posting. For an eventID, `number` is the account; for other kinds, `eventID` is 0. */
export interface PostingKey {
  readonly what: keyof typeof postingKinds;
  readonly number: number;
  readonly eventID: number;
}

type Lists = Map<number, number[]>;

/** Appends a value to a list unless it is the last value already. */
const push = (lists: Lists, number: number, value: number) => {
  const list = lists.get(number);
  if (!list) lists.set(number, [value]);
  else if (list[list.length - 1] !== value) list.push(value);
};

/** Counts the values of an ascending list that are at most `value`. */
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

const removeUpTo = (lists: Lists, value: number) => {
  for (const [number, list] of lists) {
    const rest = list.slice(countUpTo(list, value));
    if (rest.length > 0) lists.set(number, rest);
    else lists.delete(number);
  }
};

/** Returns the keys of a map, ascending. A typed array sorts 100,000 numbers in milliseconds. */
const sortedKeys = (map: ReadonlyMap<number, unknown>) => Float64Array.from(map.keys()).sort();

export const createPostingLists = () => {
  const lists = { user: new Map(), contact: new Map(), account: new Map() } satisfies Record<string, Lists>;
  /** Lists by account, then by eventID. */
  const byEventID = new Map<number, Lists>();
  return {
    /** Adds a value to an event's lists. Values must not decrease. */
    add({ account, user, contact, eventID }: EventFacts, value: number): void {
      if (user !== null) push(lists.user, user, value);
      if (contact !== null) push(lists.contact, contact, value);
      push(lists.account, account, value);
      const ofAccount = byEventID.get(account) ?? new Map();
      byEventID.set(account, ofAccount);
      push(ofAccount, eventID, value);
    },
    /** Returns the values of a list with after < value ≤ through. */
    between({ what, number, eventID }: PostingKey, after: number, through: number): readonly number[] {
      const list: number[] = (what === 'eventID' ? byEventID.get(number)?.get(eventID) : lists[what].get(number)) ?? [];
      return list.slice(countUpTo(list, after), countUpTo(list, through));
    },
    removeUpTo(value: number): void {
      for (const some of Object.values(lists)) removeUpTo(some, value);
      for (const [account, ofAccount] of byEventID) {
        removeUpTo(ofAccount, value);
        if (ofAccount.size === 0) byEventID.delete(account);
      }
    },
    /** Yields all lists, in the order of event_posting. */
    *inOrder(): Generator<PostingKey & { readonly list: readonly number[] }> {
      for (const what of ['user', 'contact', 'account'] as const) {
        for (const number of sortedKeys(lists[what])) yield { what, number, eventID: 0, list: lists[what].get(number) };
      }
      for (const number of sortedKeys(byEventID)) {
        const ofAccount = byEventID.get(number) as Lists;
        for (const eventID of sortedKeys(ofAccount)) {
          yield { what: 'eventID', number, eventID, list: ofAccount.get(eventID) as number[] };
        }
      }
    },
  };
};
export type PostingLists = ReturnType<typeof createPostingLists>;
