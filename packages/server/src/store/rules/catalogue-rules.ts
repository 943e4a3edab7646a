/** Rules of catalogues: which IDs a request uses, which of them a token may use, and which are listed on first use. */
import { robotMark } from '@firsthand/contract/identifiers';
import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../../refusal.ts';
import { scrub } from '../../scrub.ts';
import { type CatalogueKind, type Catalogues, type ContactChange, catalogueKinds, type NewEvent } from '../store.ts';

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

/** An account's settings about its catalogues. */
export interface CatalogueSettings {
  /** Unlisted IDs are refused. */
  readonly strict: boolean;
  /** A browser token adds the profiles, tags and attributes that it uses to the catalogues. */
  readonly browserCatalogue: boolean;
}

/** An account's settings, and the IDs that it lists. */
export interface ListedIDs extends CatalogueSettings {
  readonly listed: Readonly<Record<CatalogueKind, Map<string, Listed>>>;
}

/** A change of a catalogue. */
export type Listing =
  | ({ readonly do: 'list'; readonly kind: CatalogueKind; readonly id: string } & Listed)
  | { readonly do: 'drop'; readonly kind: CatalogueKind; readonly id: string };

export const noListedIDs = ({ strict, browserCatalogue }: CatalogueSettings): ListedIDs => ({
  strict,
  browserCatalogue,
  listed: { profile: new Map(), tag: new Map(), attr: new Map(), event: new Map() },
});

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

/** Field names by index, built once because every event needs them. */
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

/** Throws a Refusal when the account, or a browser token, may not use an ID. */
export const checkUses = ({ strict, listed }: ListedIDs, browser: boolean, uses: readonly Use[]): void => {
  for (const { kind, id, field } of uses) {
    const entry = listed[kind].get(id);
    if (entry === undefined && strict) {
      throw new Refusal('unknown_id', {
        field,
        message: `\`${field}\` names ${kind} ${scrub(id)}, which this strict account does not list`,
      });
    }
    if (entry?.forBrowsers === false && browser) {
      throw new Refusal('id_not_for_browser', {
        field,
        message: `\`${field}\` names ${kind} ${scrub(id)}, which a browser token may not use`,
      });
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
  return droppable.map(([id]) => ({ do: 'drop', kind, id }));
};

/** Whether using an ID lists it. A browser token cannot add profiles, tags or attributes, unless its account allows it. */
export const isListedOnUse = (
  { strict, browserCatalogue }: CatalogueSettings,
  browser: boolean,
  kind: CatalogueKind,
): boolean => !strict && (!browser || browserCatalogue || kind === 'event');

/** Adds used IDs that are not listed yet to `listed`, while there is room. Returns the changes that the caller must write. */
export const listUses = (ids: ListedIDs, browser: boolean, uses: readonly Use[]): Listing[] => {
  const { listed, browserCatalogue } = ids;
  const listings: Listing[] = [];
  for (const { kind, id, inEvent = false } of uses) {
    if (!isListedOnUse(ids, browser, kind)) continue;
    const entry = listed[kind].get(id);
    if (entry && (browser || !entry.byBrowser)) continue;
    const isFull = listed[kind].size >= limits.idsPerCatalogue;
    const dropped = entry || !isFull ? [] : browser ? undefined : makeRoom(kind, listed[kind], new Set([id]));
    if (!dropped) continue;
    // A tag or attribute that a server token gave a contact is closed to browser tokens, unless the account allows it. Profiles
    // are open: every createContact needs one, and a browser token's profile replaces none.
    const isOpen = browser || browserCatalogue || inEvent || kind === 'profile';
    const forBrowsers = entry?.forBrowsers ?? isOpen;
    listed[kind].set(id, { forBrowsers, byBrowser: browser });
    listings.push(...dropped, { do: 'list', kind, id, forBrowsers, byBrowser: browser });
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

/** Splits the entries of an account request: `removed` are the entries to drop, also deleted from `listed`; `named` the others. */
export const partEntries = ({ listed }: ListedIDs, catalogues: Catalogues) => {
  const removed = catalogueKinds.flatMap((kind) =>
    (catalogues[kind] ?? []).flatMap(({ id, remove }): Listing[] => (remove ? [{ do: 'drop', kind, id }] : [])),
  );
  for (const { kind, id } of removed) listed[kind].delete(id);
  const named: Catalogues = Object.fromEntries(
    Object.entries(catalogues).map(([kind, entries]) => [kind, entries?.filter(({ remove }) => !remove)]),
  );
  return { removed, named };
};

/** Makes room for the entries of an account request. Returns the entries to drop; throws a Refusal when there is no room. */
export const roomForEntries = (
  { listed }: ListedIDs,
  catalogues: Readonly<Partial<Record<CatalogueKind, readonly { readonly id: string }[]>>>,
): Listing[] =>
  catalogueKinds.flatMap((kind) => {
    const dropped = makeRoom(kind, listed[kind], new Set((catalogues[kind] ?? []).map(({ id }) => id)));
    if (dropped) return dropped;
    throw new Refusal('invalid_field', {
      field: kind,
      message: `\`${kind}\` would list more than ${limits.idsPerCatalogue.toLocaleString('en')} IDs`,
    });
  });
