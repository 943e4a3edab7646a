import type { Follow } from './ownership.ts';

/** contact → the contact that it was merged into */
export type MergedInto = ReadonlyMap<number, number>;

/** The contact, what it was merged into, what that was merged into, and so on. Throws rather than go round for ever. */
function* chainFrom(mergedInto: MergedInto, contact: number): Generator<number> {
  let merges = 0;
  for (let at: number | undefined = contact; at !== undefined; at = mergedInto.get(at)) {
    if (merges > mergedInto.size) throw new Error(`contact ${contact}: the merges form a cycle; the store is corrupt`);
    merges += 1;
    yield at;
  }
}

/**
 * Answers the record at the end of a contact's merges. Reads `mergedInto` at each call, so a map that changes is
 * followed as it is then. Throws when the merges form a cycle, which `wouldCycle` is there to prevent.
 */
export const followMerges =
  (mergedInto: MergedInto): Follow =>
  (contact) => {
    let end = contact;
    for (const at of chainFrom(mergedInto, contact)) end = at;
    return end;
  };

/** Whether merging `other` into `keep` must be refused, because `keep` is `other` or is already merged into it. */
export const wouldCycle = (mergedInto: MergedInto, keep: number, other: number): boolean => {
  for (const at of chainFrom(mergedInto, keep)) if (at === other) return true;
  return false;
};

/**
 * The contact and all that are merged into it, directly or not; ascending. For a whole merged person, ask about the
 * record that answers for it (`followMerges`).
 */
export const mergedWith = (mergedInto: MergedInto, contact: number): number[] => {
  const directly = new Map<number, number[]>();
  for (const [other, keep] of mergedInto) {
    const others = directly.get(keep);
    if (others) others.push(other);
    else directly.set(keep, [other]);
  }
  const found = new Set([contact]);
  // a Set's iteration also visits what is added on the way
  for (const one of found) for (const other of directly.get(one) ?? []) found.add(other);
  return [...found].sort((a, b) => a - b);
};
