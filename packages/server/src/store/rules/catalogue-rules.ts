/** Rules of catalogues: which IDs a request uses, which of them a token may use, and which are listed on first use. */
import { robotMark } from '@firsthand/contract/identifiers';
import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../../refusal.ts';
import { scrub } from '../../scrub.ts';
import {
  type CatalogueEntry,
  type CatalogueKind,
  type CatalogueSettings,
  type Catalogues,
  type ContactChange,
  catalogueKinds,
  type NewEvent,
} from '../store.ts';

/** An ID that a request uses, and the field that holds it. */
export interface Use {
  readonly kind: CatalogueKind;
  readonly id: string;
  readonly field: string;
  /** The ID is used in an event. An ID that a server token lists by an event is open to browser tokens. */
  readonly inEvent?: boolean;
}

export interface Listed {
  /** May a browser token use it? */
  readonly forBrowsers: boolean;
  /** Only browser tokens used the ID: the entry is dropped when the catalogue is full and the account lists others. */
  readonly byBrowser: boolean;
}

/** An account's settings, and the IDs that it lists. */
export interface ListedIDs extends CatalogueSettings {
  readonly listed: Readonly<Record<CatalogueKind, Map<string, Listed>>>;
}

/** A change of a catalogue: `listed` is undefined when the ID is no longer listed. */
export interface Listing {
  readonly kind: CatalogueKind;
  readonly id: string;
  readonly listed: Listed | undefined;
}

/** A row of a catalogue. SQLite has 0 and 1 for booleans. */
interface ListedRow {
  readonly kind: CatalogueKind;
  readonly id: string;
  readonly browser: boolean | number;
  readonly byBrowser: boolean | number;
}

export const toListedIDs = (settings: CatalogueSettings, rows: Iterable<ListedRow>): ListedIDs => {
  const listed: ListedIDs['listed'] = { profile: new Map(), tag: new Map(), attr: new Map(), event: new Map() };
  for (const { kind, id, browser, byBrowser } of rows) {
    listed[kind].set(id, { forBrowsers: Boolean(browser), byBrowser: Boolean(byBrowser) });
  }
  return { ...settings, listed };
};

/** Returns the IDs that a contact's values use. Removing a value is not a use. */
export const usesOfContact = ({
  fields: { contactProfileID },
  tags,
  attributes,
}: Pick<ContactChange, 'fields' | 'attributes'> & { readonly tags: readonly string[] }): Use[] => [
  ...(contactProfileID ? [{ kind: 'profile' as const, id: contactProfileID, field: 'contactProfileID' }] : []),
  ...tags.map((id) => ({ kind: 'tag' as const, id, field: 'contactTagID' })),
  ...attributes.flatMap(([id, value], index) =>
    value === null ? [] : [{ kind: 'attr' as const, id, field: `contactAttr[${index}].attrID` }],
  ),
];

/** Field names by index, each built once. */
const attributeFields: string[] = [];
const attributeField = (index: number): string => {
  attributeFields[index] ??= `eventAttrArray[${index}].attrID`;
  return attributeFields[index];
};

export const usesOfEvent = ({ eventID, attributes }: Pick<NewEvent, 'eventID' | 'attributes'>): Use[] => {
  const uses: Use[] = [{ kind: 'event', id: String(eventID), field: 'eventID', inEvent: true }];
  for (let index = 0; index < attributes.length; index += 1) {
    const id = (attributes[index] as (typeof attributes)[number])[0];
    // Firsthand adds this attribute itself: accounts need not list it and cannot forbid it to browsers.
    if (id !== robotMark.attrID) uses.push({ kind: 'attr', id, field: attributeField(index), inEvent: true });
  }
  return uses;
};

const refusalOf = (code: Refusal['code'], { kind, id, field }: Use, why: string): Refusal =>
  new Refusal(code, { field, message: `\`${field}\` names ${kind} ${scrub(id)}, which ${why}` });

/** Throws a Refusal when the account, or a browser token, may not use an ID. */
export const checkUses = ({ strict, listed }: ListedIDs, browser: boolean, uses: readonly Use[]): void => {
  for (const use of uses) {
    const entry = listed[use.kind].get(use.id);
    if (entry === undefined && strict) throw refusalOf('unknown_id', use, 'this strict account does not list');
    if (entry?.forBrowsers === false && browser) {
      throw refusalOf('id_not_for_browser', use, 'a browser token may not use');
    }
  }
};

/**
 * Makes room for IDs that are not listed, by dropping the newest entries that only browser tokens used. Deletes them from
 * `listed` and returns them; returns undefined when there is no room.
 */
const makeRoom = (
  kind: CatalogueKind,
  listed: Map<string, Listed>,
  ids: ReadonlySet<string>,
): Listing[] | undefined => {
  const added = [...ids].filter((id) => !listed.has(id)).length;
  const surplus = listed.size + added - limits.idsPerCatalogue;
  if (added === 0 || surplus <= 0) return [];
  const droppable = [...listed].filter(([id, { byBrowser }]) => byBrowser && !ids.has(id)).slice(-surplus);
  if (droppable.length < surplus) return undefined;
  for (const [id] of droppable) listed.delete(id);
  return droppable.map(([id]) => ({ kind, id, listed: undefined }));
};

/** Whether using an ID lists it. A browser token cannot add profiles, tags or attributes, unless its account allows it. */
const isListedOnUse = (
  { strict, browserCatalogue }: CatalogueSettings,
  browser: boolean,
  kind: CatalogueKind,
): boolean => !strict && (!browser || browserCatalogue || kind === 'event');

/** Whether a use changes nothing in the catalogues. */
export const isRegistered = (ids: ListedIDs, browser: boolean, { kind, id }: Use): boolean => {
  if (!isListedOnUse(ids, browser, kind)) return true;
  const entry = ids.listed[kind].get(id);
  return entry !== undefined && (browser || !entry.byBrowser);
};

/** Adds used IDs that are not listed yet to `listed`, while there is room. Returns the changes that the caller must write. */
export const listUses = (ids: ListedIDs, browser: boolean, uses: readonly Use[]): Listing[] => {
  const { listed, browserCatalogue } = ids;
  const listings: Listing[] = [];
  for (const use of uses) {
    if (isRegistered(ids, browser, use)) continue;
    const { kind, id, inEvent = false } = use;
    const entry = listed[kind].get(id);
    const isFull = listed[kind].size >= limits.idsPerCatalogue;
    const dropped = entry || !isFull ? [] : browser ? undefined : makeRoom(kind, listed[kind], new Set([id]));
    if (!dropped) continue;
    // A tag or attribute that a server token gave a contact is closed to browser tokens, unless the account allows it. Profiles
    // are open: every createContact needs one, and a browser token's profile replaces none.
    const isOpen = browser || browserCatalogue || inEvent || kind === 'profile';
    const made = { forBrowsers: entry?.forBrowsers ?? isOpen, byBrowser: browser };
    listed[kind].set(id, made);
    listings.push(...dropped, { kind, id, listed: made });
  }
  return listings;
};

/**
 * Whether all IDs of an event may be used and none must be listed. This holds for nearly every event, and checking it is faster
 * than listing the uses of the event.
 */
export const isSettled = (
  ids: ListedIDs,
  browser: boolean,
  { eventID, attributes }: Pick<NewEvent, 'eventID' | 'attributes'>,
): boolean => {
  const { listed, strict } = ids;
  const isIDSettled = (kind: CatalogueKind, id: string): boolean => {
    const entry = listed[kind].get(id);
    if (entry === undefined) return !strict && !isListedOnUse(ids, browser, kind);
    return browser ? entry.forBrowsers : !entry.byBrowser;
  };
  if (!isIDSettled('event', String(eventID))) return false;
  for (const [id] of attributes) if (id !== robotMark.attrID && !isIDSettled('attr', id)) return false;
  return true;
};

/**
 * Splits the entries of an account request: `written` are the entries to add or change, `dropped` those to remove, which also
 * are deleted from `listed`: removed ones, and those that make room. Throws a Refusal when there is no room.
 */
export const partEntries = ({ listed }: ListedIDs, catalogues: Catalogues) => {
  const dropped: Listing[] = [];
  const written: { readonly kind: CatalogueKind; readonly entry: CatalogueEntry }[] = [];
  for (const kind of catalogueKinds) {
    const entries = catalogues[kind] ?? [];
    for (const { id, remove } of entries) {
      if (remove && listed[kind].delete(id)) dropped.push({ kind, id, listed: undefined });
    }
    const named = entries.filter(({ remove }) => !remove);
    const room = makeRoom(kind, listed[kind], new Set(named.map(({ id }) => id)));
    if (!room) {
      throw new Refusal('invalid_field', {
        field: kind,
        message: `\`${kind}\` would list more than ${limits.idsPerCatalogue.toLocaleString('en')} IDs`,
      });
    }
    dropped.push(...room);
    written.push(...named.map((entry) => ({ kind, entry })));
  }
  return { dropped, written };
};
