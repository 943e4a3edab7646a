/** Which IDs a request uses, which of them an account or a token may use, and which are listed on first use. */
import { robotMark } from '@firsthand/contract/identifiers';
import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../refusal.ts';
import { scrub } from '../scrub.ts';
import { type CatalogueKind, type Catalogues, catalogueKinds, type NewEvent } from './store.ts';

/** An ID that a request uses, and the field that it stands in. */
export interface Use {
  readonly kind: CatalogueKind;
  readonly id: string;
  readonly field: string;
  /** In an event: what a server logs, a page may log as well. */
  readonly inEvent?: boolean;
}

export interface Listed {
  /** May a browser token use it? */
  readonly forBrowsers: boolean;
  /** Listed on a browser token's word only: makes room when the account names others. */
  readonly byBrowser: boolean;
}

/** An account's settings about its catalogues. */
export interface CatalogueSettings {
  /** What is not listed is refused. */
  readonly strict: boolean;
  /** Browser tokens list the profiles, tags and attributes that they use. */
  readonly browserCatalogue: boolean;
}

/** An account's settings, and the IDs that it lists. */
export interface ListedIDs extends CatalogueSettings {
  readonly listed: Readonly<Record<CatalogueKind, Map<string, Listed>>>;
}

/** A change of what is listed. */
export type Listing =
  | ({ readonly do: 'list'; readonly kind: CatalogueKind; readonly id: string } & Listed)
  | { readonly do: 'drop'; readonly kind: CatalogueKind; readonly id: string };

export const noListedIDs = ({ strict, browserCatalogue }: CatalogueSettings): ListedIDs => ({
  strict,
  browserCatalogue,
  listed: { profile: new Map(), tag: new Map(), attr: new Map(), event: new Map() },
});

/** The IDs that a contact's values use; taking away is no use. */
export const usesOfContact = (given: {
  readonly profileID: string | null | undefined;
  readonly tags: readonly string[];
  readonly attributes: readonly (readonly [string, string | null])[];
}): Use[] => [
  ...(given.profileID ? [{ kind: 'profile' as const, id: given.profileID, field: 'contactProfileID' }] : []),
  ...given.tags.map((id) => ({ kind: 'tag' as const, id, field: 'contactTagID' })),
  ...given.attributes.flatMap(([id, value], index) =>
    value === null ? [] : [{ kind: 'attr' as const, id, field: `contactAttr[${index}].attrID` }],
  ),
];

/** Named once: every event has some. */
const attributeFields: string[] = [];
const attributeField = (index: number): string => {
  attributeFields[index] ??= `eventAttrArray[${index}].attrID`;
  return attributeFields[index];
};

export const usesOfEvent = ({ eventID, attributes }: Pick<NewEvent, 'eventID' | 'attributes'>): Use[] => {
  const uses: Use[] = [{ kind: 'event', id: String(eventID), field: 'eventID', inEvent: true }];
  for (let index = 0; index < attributes.length; index += 1) {
    const id = (attributes[index] as (typeof attributes)[number])[0];
    // Ours: no account has to list it, and none can keep it from browsers.
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
 * Makes room for IDs that are not listed, at the cost of the newest that only browsers used. Answers what to drop, or
 * undefined when there is no room.
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

/** Whether a token's use of an ID lists it. A page makes up no profiles, tags or attributes, unless its account says so. */
export const isListedOnUse = (
  { strict, browserCatalogue }: CatalogueSettings,
  browser: boolean,
  kind: CatalogueKind,
): boolean => !strict && (!browser || browserCatalogue || kind === 'event');

/** Lists IDs that are not listed yet, while there is room: in `listed` at once; answers what is to be written. */
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
    // A tag or attribute that a server gives a contact is not for pages to add, unless the account says so. Every
    // createContact needs a profile, and a page's replaces none.
    const isOpen = browser || browserCatalogue || inEvent || kind === 'profile';
    const forBrowsers = entry?.forBrowsers ?? isOpen;
    listed[kind].set(id, { forBrowsers, byBrowser: browser });
    listings.push(...dropped, { do: 'list', kind, id, forBrowsers, byBrowser: browser });
  }
  return listings;
};

/**
 * Whether all IDs of an event may be used and nothing is to be listed for any: so it is with nearly every event, and this takes
 * less time than to list its uses.
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

/** The entries of an account's body that stay listed, and those that are to be taken out of `listed` first. */
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

/** Makes room for the entries that an account names. Answers what to drop; throws a Refusal when there is no room. */
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
