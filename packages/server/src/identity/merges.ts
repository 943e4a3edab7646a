/** Contact merges: pointers from merged contacts to the contacts they were merged into. */
import type { Follow } from './ownership.ts';

/** Maps each merged contact to the contact that it was merged into. */
type MergedInto = ReadonlyMap<number, number>;

/** Returns a contact, the contact it was merged into, and so on. Throws if the merges form a cycle. */
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
 * Returns a function that follows a contact's merges to the last contact. Each call reads the current `mergedInto`, and
 * throws if the merges form a cycle, which `wouldCycle` prevents.
 */
export const followMerges =
  (mergedInto: MergedInto): Follow =>
  (contact) =>
    chainFrom(mergedInto, contact).at(-1) as number;

/** Whether merging `other` into `keep` would form a cycle: `keep` is `other` or already merged into it. */
export const wouldCycle = (mergedInto: MergedInto, keep: number, other: number): boolean =>
  chainFrom(mergedInto, keep).includes(other);

/**
 * Returns a contact and all contacts merged into it, directly or indirectly, in ascending order. To get all records of
 * a merged person, pass the contact that `followMerges` returns.
 */
export const mergedWith = (mergedInto: MergedInto, contact: number): number[] => {
  const directly = new Map<number, number[]>();
  for (const [other, keep] of mergedInto) {
    const others = directly.get(keep);
    if (others) others.push(other);
    else directly.set(keep, [other]);
  }
  const merged = new Set([contact]);
  // Iterating over a Set also visits elements that are added during the iteration.
  for (const one of merged) for (const other of directly.get(one) ?? []) merged.add(other);
  return [...merged].sort((a, b) => a - b);
};
