/**
 * Merges of catalogue entries: pointers from merged IDs to the IDs that stand for them. What is stored keeps the ID under which it was
 * sent; the pointer is followed when it is read. No entry is merged into one that is merged itself (rules/accounts/entry-merges.ts).
 */

/** The merges of one catalogue. */
export interface EntryMerges {
  /** The ID that stands for this one: itself when it is not merged. */
  keptOf(id: string): string;
  /** All IDs that are one with this one: first the one that stands for all, then the others, ascending. */
  idsOf(id: string): readonly string[];
  /** Whether the ID is merged, or stands for others. */
  has(id: string): boolean;
  /** Each list of IDs that are one, in the order of `idsOf`. */
  readonly groups: readonly (readonly string[])[];
}

/** The merges of the catalogues whose IDs contacts have. */
export type ContactMerges = Readonly<Record<'profile' | 'tag' | 'attr', EntryMerges>>;

interface Entry {
  readonly id: string;
  readonly mergedInto: string | null;
}

/** `entries` without a `mergedInto` are ignored. */
export const createEntryMerges = (entries: Iterable<Entry>): EntryMerges => {
  const othersOf = new Map<string, string[]>();
  for (const { id, mergedInto } of entries) {
    if (mergedInto !== null) othersOf.set(mergedInto, [...(othersOf.get(mergedInto) ?? []), id]);
  }
  const groups = [...othersOf].map(([kept, others]) => [kept, ...others.sort()]);
  const groupOf = new Map(groups.flatMap((group) => group.map((id) => [id, group] as const)));
  return {
    keptOf: (id) => groupOf.get(id)?.[0] ?? id,
    idsOf: (id) => groupOf.get(id) ?? [id],
    has: (id) => groupOf.has(id),
    groups,
  };
};

export const noEntryMerges: EntryMerges = createEntryMerges([]);
export const noContactMerges: ContactMerges = { profile: noEntryMerges, tag: noEntryMerges, attr: noEntryMerges };

/**
 * Returns entries under the IDs that stand for theirs, each ID once, at the place of its first entry. Of several entries of one ID, the
 * first in the order of `idsOf` that has a value counts, or else the first.
 */
export const united = <Value>(
  entries: Iterable<readonly [id: string, value: Value]>,
  merges: EntryMerges,
  hasValue: (value: Value) => boolean = () => true,
): (readonly [id: string, value: Value])[] => {
  if (merges.groups.length === 0) return [...entries];
  const found = new Map<string, { readonly rank: number; readonly value: Value }>();
  for (const [id, value] of entries) {
    const ids = merges.idsOf(id);
    const rank = ids.indexOf(id) + (hasValue(value) ? 0 : ids.length);
    const kept = ids[0] as string;
    const before = found.get(kept);
    if (before === undefined || rank < before.rank) found.set(kept, { rank, value });
  }
  return [...found].map(([id, { value }]) => [id, value]);
};
