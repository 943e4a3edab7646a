/**
 * Merges of catalogue entries: pointers from merged IDs to the IDs they were merged into. Stored data keeps the
 * original IDs; reads follow the pointers. Pointers never form a chain (rules/accounts/entry-merges.ts).
 */

/** One catalogue's merges. */
export interface EntryMerges {
  /** Returns the ID that this one was merged into, or the ID itself. */
  targetOf(id: string): string;
  /**
   * Returns the group of this ID: first the ID that the other IDs were merged into, then these other IDs, ascending.
   */
  idsOf(id: string): readonly string[];
  /** Whether the ID was merged into another ID, or other IDs were merged into it. */
  has(id: string): boolean;
  /** All groups of merged IDs, each in the order of `idsOf`. */
  readonly groups: readonly (readonly string[])[];
}

/** The merges of the catalogues that contacts refer to. */
export type ContactMerges = Readonly<Record<'profile' | 'tag' | 'attr', EntryMerges>>;

interface Entry {
  readonly id: string;
  readonly mergedInto: string | null;
}

/** Ignores entries that are not merged. */
export const createEntryMerges = (entries: Iterable<Entry>): EntryMerges => {
  const othersOf = new Map<string, string[]>();
  for (const { id, mergedInto } of entries) {
    if (mergedInto !== null) othersOf.set(mergedInto, [...(othersOf.get(mergedInto) ?? []), id]);
  }
  const groups = [...othersOf].map(([target, others]) => [target, ...others.sort()]);
  const groupOf = new Map(groups.flatMap((group) => group.map((id) => [id, group] as const)));
  return {
    targetOf: (id) => groupOf.get(id)?.[0] ?? id,
    idsOf: (id) => groupOf.get(id) ?? [id],
    has: (id) => groupOf.has(id),
    groups,
  };
};

export const noEntryMerges: EntryMerges = createEntryMerges([]);
export const noContactMerges: ContactMerges = { profile: noEntryMerges, tag: noEntryMerges, attr: noEntryMerges };

/**
 * Replaces merged IDs and returns each ID once, in the order of first appearance. If several entries are merged into
 * one ID, the first with a value wins, in the order of `idsOf`, or the first if none has a value.
 */
export const uniteEntries = <Value>(
  entries: Iterable<readonly [id: string, value: Value]>,
  merges: EntryMerges,
  hasValue: (value: Value) => boolean = () => true,
): (readonly [id: string, value: Value])[] => {
  if (merges.groups.length === 0) return [...entries];
  const best = new Map<string, { readonly rank: number; readonly value: Value }>();
  for (const [id, value] of entries) {
    const ids = merges.idsOf(id);
    const rank = ids.indexOf(id) + (hasValue(value) ? 0 : ids.length);
    const target = ids[0] as string;
    const previous = best.get(target);
    if (previous === undefined || rank < previous.rank) best.set(target, { rank, value });
  }
  return [...best].map(([id, { value }]) => [id, value]);
};
