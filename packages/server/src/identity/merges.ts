/** Merges of contacts: pointers from merged contacts to the contacts that they were merged into. */
import type { Follow } from './ownership.ts';

/** Maps each merged contact to the contact that it was merged into. */
type MergedInto = ReadonlyMap<number, number>;

/** Returns a contact, the contact that it was merged into, and so on. Throws when the merges form a cycle. */
const chainFrom = (mergedInto: MergedInto, contact: number): number[] => {
  const chain = [contact];
  for (let at = mergedInto.get(contact); at !== undefined; at = mergedInto.get(at)) {
    if (chain.length > mergedInto.size) {
      throw new Error(`contact ${contact}: the merges form a cycle; the store is corrupt`);
    }
    chain.push(at);
  }
  return chain;
};

/**
 * Returns a function that returns the contact at the end of a contact's merges. Each call reads the present `mergedInto`. Throws
 * when the merges form a cycle, which `wouldCycle` prevents.
 */
export const followMerges =
  (mergedInto: MergedInto): Follow =>
  (contact) =>
    chainFrom(mergedInto, contact).at(-1) as number;

/** Whether merging `other` into `keep` would form a cycle: `keep` is `other` or already merged into it. */
export const wouldCycle = (mergedInto: MergedInto, keep: number, other: number): boolean =>
  chainFrom(mergedInto, keep).includes(other);

/**
 * Returns a contact and all contacts merged into it, directly or not; ascending. For all records of a merged person, pass the
 * result of `followMerges`.
 */
export const mergedWith = (mergedInto: MergedInto, contact: number): number[] => {
  const directly = new Map<number, number[]>();
  for (const [other, keep] of mergedInto) {
    const others = directly.get(keep);
    if (others) others.push(other);
    else directly.set(keep, [other]);
  }
  const found = new Set([contact]);
  // The iteration of a Set also visits elements added meanwhile.
  for (const one of found) for (const other of directly.get(one) ?? []) found.add(other);
  return [...found].sort((a, b) => a - b);
};
