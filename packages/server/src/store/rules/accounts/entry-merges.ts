/**
 * Rules for merging catalogue entries: which merges are refused, and how writes resolve merged IDs. See
 * identity/merged-entries.ts for reads.
 */
import { robotMark } from '@firsthand/contract/identifiers';
import { isLabelID } from '@firsthand/contract/labels';
import { limits } from '@firsthand/contract/limits';
import {
  type ContactMerges,
  createEntryMerges,
  type EntryMerges,
  uniteEntries,
} from '../../../identity/merged-entries.ts';
import { scrub } from '../../../logging/scrub.ts';
import { distinct } from '../../../shared/distinct.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { CatalogueKind, ContactChange, EntryMerge, EventDefinition, ListedEntry } from '../../store.ts';

export type CatalogueMerges = Readonly<Record<CatalogueKind, EntryMerges>>;

/** The columns of a catalogue row that merges use. */
export interface MergeRow {
  readonly kind: CatalogueKind;
  readonly id: string;
  readonly mergedInto: string | null;
}

/** Returns the merges in all catalogues. `rows` may omit entries that are not merged. */
export const toCatalogueMerges = (rows: readonly MergeRow[]): CatalogueMerges => {
  const mergesOf = (kind: CatalogueKind) => createEntryMerges(rows.filter((row) => row.kind === kind));
  return { profile: mergesOf('profile'), tag: mergesOf('tag'), attr: mergesOf('attr'), event: mergesOf('event') };
};

export const noMerges: CatalogueMerges = toCatalogueMerges([]);

/** Whether Firsthand adds this attribute itself. Accounts don't have to list it, and cannot close it to browsers. */
export const isOurs = (attrID: string): boolean => attrID === robotMark.attrID || isLabelID(attrID);

interface Entries {
  readonly listed: Readonly<Record<CatalogueKind, ReadonlyMap<string, unknown>>>;
  readonly merges: CatalogueMerges;
}

const refused = (field: string, message: string) => new Refusal('merge_refused', { field, message });
const unknown = (field: string, kind: CatalogueKind, id: string) =>
  new Refusal('unknown_entry', {
    field,
    message: `\`${field}\` names ${kind} ${scrub(id)}, which the account does not list`,
  });

/** Throws a Refusal if an entry can't be merged into the other. Returns whether it already is merged. */
export const checkEntryMerge = (
  { listed, merges }: Entries,
  { kind, id, otherID }: Pick<EntryMerge, 'kind' | 'id' | 'otherID'>,
): boolean => {
  if (!listed[kind].has(id)) throw unknown('entryID', kind, id);
  if (!listed[kind].has(otherID)) throw unknown('otherEntryID', kind, otherID);
  const { targetOf, has, groups } = merges[kind];
  if (id === otherID)
    throw refused('otherEntryID', '`otherEntryID` is `entryID`: an entry cannot be merged into itself');
  if (targetOf(otherID) === id) return true;
  for (const [field, one] of [
    ['entryID', id],
    ['otherEntryID', otherID],
  ] as const) {
    if (kind === 'attr' && isOurs(one))
      throw refused(field, `\`${field}\` names an attribute that Firsthand adds to events: it cannot be merged`);
  }
  if (targetOf(id) !== id) {
    throw refused(
      'entryID',
      `\`entryID\` is merged into ${kind} ${scrub(targetOf(id))}: use that ID, or unmerge it first`,
    );
  }
  if (targetOf(otherID) !== otherID) {
    throw refused(
      'otherEntryID',
      `\`otherEntryID\` is merged into ${kind} ${scrub(targetOf(otherID))} already: unmerge it first`,
    );
  }
  if (has(otherID)) {
    throw refused(
      'otherEntryID',
      'other entries are merged into `otherEntryID`: unmerge them, then merge each of them',
    );
  }
  const count = groups.reduce((sum, group) => sum + group.length - 1, 0);
  if (count >= limits.mergesPerCatalogue) {
    throw refused(
      'otherEntryID',
      `this catalogue has ${limits.mergesPerCatalogue} merged entries, the maximum: unmerge some first`,
    );
  }
  return false;
};

/** Throws a Refusal if an entry is not merged. */
export const checkEntryUnmerge = (
  { listed, merges }: Entries,
  { kind, otherID }: Pick<EntryMerge, 'kind' | 'otherID'>,
): void => {
  if (!listed[kind].has(otherID)) throw unknown('otherEntryID', kind, otherID);
  if (merges[kind].targetOf(otherID) === otherID)
    throw refused('otherEntryID', '`otherEntryID` is not merged into any entry');
};

/** Throws a Refusal if an entry is part of a merge: removing it would silently undo the merge. */
export const checkEntryRemoval = ({ merges }: Entries, kind: CatalogueKind, id: string, field: string): void => {
  if (!merges[kind].has(id)) return;
  const target = merges[kind].targetOf(id);
  const why =
    target === id
      ? 'into which other entries are merged: unmerge them first'
      : `which is merged into ${kind} ${scrub(target)}: unmerge it first`;
  const message = `\`${field}\` names ${kind} ${scrub(id)}, ${why}`;
  throw new Refusal('id_in_use', { field, message });
};

type ContactValues = Pick<ContactChange, 'fields' | 'addedTags' | 'removedTags' | 'attributes'>;

/**
 * Replaces merged IDs in a contact change with their target IDs. A removal covers all merged IDs, because reads would
 * otherwise still show a value stored under another of them. If a value is sent under several merged IDs, the value
 * under the target ID wins.
 */
export const resolveMergedEntries = <Change extends ContactValues>(
  change: Change,
  { profile, tag, attr }: ContactMerges,
): Change => {
  const { contactProfileID } = change.fields;
  return {
    ...change,
    fields: contactProfileID
      ? { ...change.fields, contactProfileID: profile.targetOf(contactProfileID) }
      : change.fields,
    addedTags: distinct(change.addedTags.map(tag.targetOf)),
    removedTags: distinct(change.removedTags.flatMap(tag.idsOf)),
    attributes: uniteEntries(change.attributes, attr).flatMap(([id, value]): ContactValues['attributes'] =>
      value === null ? attr.idsOf(id).map((each) => [each, null]) : [[id, value]],
    ),
  };
};

/**
 * Adds the counts of merged event definitions to their target definitions. Returns the target definitions in ascending
 * order of eventID. `listed` are all events.
 */
export const mergedDefinitions = (
  definitions: readonly EventDefinition[],
  listed: readonly Pick<ListedEntry, 'id' | 'name' | 'mergedInto'>[],
): EventDefinition[] => {
  const { targetOf, groups } = createEntryMerges(listed);
  if (groups.length === 0) return [...definitions];
  const names = new Map(listed.map(({ id, name }) => [id, name]));
  const byTargetID = new Map<string, EventDefinition>();
  for (const definition of definitions) {
    const target = targetOf(String(definition.eventID));
    const { count, firstTime, lastTime } = byTargetID.get(target) ?? {
      count: 0,
      firstTime: Infinity,
      lastTime: -Infinity,
    };
    byTargetID.set(target, {
      eventID: Number(target),
      eventName: names.get(target) ?? target,
      count: count + definition.count,
      firstTime: Math.min(firstTime, definition.firstTime),
      lastTime: Math.max(lastTime, definition.lastTime),
    });
  }
  return [...byTargetID.values()].sort((a, b) => a.eventID - b.eventID);
};
