/** Catalogue rules: which IDs a request uses, which of them a token may use, and which are added on first use. */

import { canonicalName } from '@firsthand/contract/fields';
import { limits } from '@firsthand/contract/limits';
import { scrub } from '../../../logging/scrub.ts';
import { Refusal } from '../../../shared/refusal.ts';
import {
  type CatalogueEntry,
  type CatalogueKind,
  type CatalogueSettings,
  type Catalogues,
  type ContactChange,
  catalogueKinds,
  type EventQuery,
  type NewEvent,
} from '../../store.ts';
import { type CatalogueMerges, checkEntryRemoval, isOurs, toCatalogueMerges } from './entry-merges.ts';
import { unlistedIDOf, withUnlistedName } from './unlisted-names.ts';

/** A use of an ID in a request. */
export interface Use {
  readonly kind: CatalogueKind;
  /** Null for an event that is identified by `name`. */
  readonly id: string | null;
  readonly name?: string | null;
  /** Whether the name may be added to the catalogue. */
  readonly mayAddName?: boolean;
  readonly field: string;
  /** Whether an event uses the ID. If a server token lists an ID through an event, browser tokens may use it too. */
  readonly inEvent?: boolean;
}

export interface Listed {
  /** Whether browser tokens may use it. */
  readonly forBrowsers: boolean;
  /** Whether only browser tokens have used it. Such an entry is dropped when a full catalogue needs room. */
  readonly byBrowser: boolean;
  /**
   * Whether this is an event whose name differs from its ID. Such events are never dropped, because later events with
   * the name would get a different ID.
   */
  readonly isNamedEvent: boolean;
}

/** An account's catalogue settings, and the IDs in its catalogues. */
export interface AccountCatalogues extends CatalogueSettings {
  readonly listed: Readonly<Record<CatalogueKind, Map<string, Listed>>>;
  readonly merges: CatalogueMerges;
  /** The IDs of events by the canonical form of their names. */
  readonly eventIDs: Map<string, string>;
  /** The lowest eventID that can be assigned to the next name. It never decreases, so that no two names share an ID. */
  nextEventID: number;
  /**
   * Whether events are stored under an eventID, even if the ID was removed or the catalogue was too full to list it.
   */
  readonly hasEvents: (eventID: string) => boolean;
}

/** A catalogue change; `listed` is undefined if the ID is removed. */
export interface Listing {
  readonly kind: CatalogueKind;
  readonly id: string;
  readonly listed: Listed | undefined;
  /** The name of a new entry if it is not the ID. */
  readonly name?: string | undefined;
}

/** A catalogue row. SQLite returns booleans as 0 and 1. */
interface ListedRow {
  readonly kind: CatalogueKind;
  readonly id: string;
  readonly name: string;
  readonly browser: boolean | number;
  readonly byBrowser: boolean | number;
  readonly mergedInto: string | null;
}

/** Adds an event's name. If several IDs have the name, the lowest ID wins. */
const addName = (eventIDs: Map<string, string>, name: string, id: string): void => {
  const other = eventIDs.get(canonicalName(name));
  if (other === undefined || Number(id) < Number(other)) eventIDs.set(canonicalName(name), id);
};

/** An account's listed events: their IDs by canonical name, and the IDs that have a name. */
interface EventNames {
  readonly ids: ReadonlyMap<string, string>;
  readonly namedIDs: ReadonlySet<string>;
}

/** `rows`: the account's listed events. */
export const toEventNames = (rows: Iterable<Pick<ListedRow, 'id' | 'name'>>): EventNames => {
  const ids = new Map<string, string>();
  const namedIDs = new Set<string>();
  for (const { id, name } of rows) {
    addName(ids, name, id);
    if (name !== id) namedIDs.add(id);
  }
  return { ids, namedIDs };
};

type Naming = Pick<EventQuery, 'eventID' | 'eventName'> & Partial<Pick<EventQuery, 'attrID'>>;

/** A query whose ID or name is resolved to the matching IDs, including merged ones. */
export type ResolvedQuery<Query> = Omit<Query, keyof Naming> & {
  /** Undefined: all events. */
  readonly eventIDs: readonly number[] | undefined;
  /**
   * The attrIDs, in order of precedence: only the value of the first attribute that an event has is compared.
   * Undefined: all events.
   */
  readonly attrIDs: readonly string[] | undefined;
};

/**
 * Returns the eventIDs of a name: the eventIDs listed under it or, if there are none, the eventID for the unlisted
 * name.
 */
export const eventIDsOfName = (
  name: string,
  { ids, namedIDs }: EventNames,
  { idsOf }: Pick<CatalogueMerges['event'], 'idsOf'>,
): number[] => {
  const canonical = canonicalName(name);
  const id = ids.get(canonical);
  return id === undefined ? [unlistedIDOf(canonical, (other) => namedIDs.has(other))] : idsOf(id).map(Number);
};

/** Resolves the ID or name in a query. `rows`: the account's listed events; used only if the query has a name. */
export const resolveQueryIDs = <Query extends Naming>(
  query: Query,
  { event, attr }: Pick<CatalogueMerges, 'event' | 'attr'>,
  rows: Iterable<Pick<ListedRow, 'id' | 'name'>>,
): ResolvedQuery<Query> => {
  const { eventID, eventName, attrID, ...rest } = query;
  const ofID = eventID === undefined ? undefined : event.idsOf(String(eventID)).map(Number);
  return {
    ...rest,
    eventIDs: eventName === undefined ? ofID : eventIDsOfName(eventName, toEventNames(rows), event),
    attrIDs: attrID === undefined ? undefined : attr.idsOf(attrID),
  };
};

export const toAccountCatalogues = (
  settings: CatalogueSettings & Pick<AccountCatalogues, 'nextEventID' | 'hasEvents'>,
  rows: readonly ListedRow[],
): AccountCatalogues => {
  const listed: AccountCatalogues['listed'] = { profile: new Map(), tag: new Map(), attr: new Map(), event: new Map() };
  const eventIDs: AccountCatalogues['eventIDs'] = new Map();
  for (const { kind, id, name, browser, byBrowser } of rows) {
    const isNamedEvent = kind === 'event' && name !== id;
    listed[kind].set(id, { forBrowsers: Boolean(browser), byBrowser: Boolean(byBrowser), isNamedEvent });
    if (isNamedEvent) addName(eventIDs, name, id);
  }
  return { ...settings, listed, merges: toCatalogueMerges(rows), eventIDs };
};

/** Returns an independent copy. */
export const copyCatalogues = (ids: AccountCatalogues): AccountCatalogues => ({
  ...ids,
  listed: {
    profile: new Map(ids.listed.profile),
    tag: new Map(ids.listed.tag),
    attr: new Map(ids.listed.attr),
    event: new Map(ids.listed.event),
  },
  eventIDs: new Map(ids.eventIDs),
});

/** Returns the IDs used by a contact's values. Removing a value is not a use. */
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

/** Cached field names, by index. */
const attributeFields: string[] = [];
const attributeField = (index: number): string => {
  attributeFields[index] ??= `eventAttrArray[${index}].attrID`;
  return attributeFields[index];
};

type Kind = Pick<NewEvent, 'eventID' | 'eventName'>;

/** Returns an event's eventID; undefined if its name is not listed. */
const eventIDOf = ({ eventIDs }: AccountCatalogues, { eventID, eventName }: Kind): number | undefined => {
  if (eventID !== null) return eventID;
  const id = eventIDs.get(eventName as string);
  return id === undefined ? undefined : Number(id);
};

/** Returns the ID of a use; undefined if it is an unlisted event name. */
const idOf = ({ eventIDs }: AccountCatalogues, { id, name }: Use): string | undefined =>
  id ?? eventIDs.get(name as string);

/** Returns the eventID for an unlisted event name. */
const unlistedIDIn = ({ listed }: AccountCatalogues, name: string): number =>
  unlistedIDOf(name, (id) => listed.event.get(id)?.isNamedEvent === true);

/** Returns the eventID and attributes to store for an event. Register its uses first. */
export const toStoredKind = (
  ids: AccountCatalogues,
  event: Kind & Pick<NewEvent, 'attributes'>,
): { readonly eventID: number; readonly attributes: NewEvent['attributes'] } => {
  const { eventName, attributes } = event;
  const eventID = eventIDOf(ids, event);
  if (eventID !== undefined) return { eventID, attributes };
  const name = eventName as string;
  return { eventID: unlistedIDIn(ids, name), attributes: withUnlistedName(attributes, name) };
};

export const usesOfEvent = ({
  eventID,
  eventName,
  mayAddName,
  attributes,
}: Pick<NewEvent, 'eventID' | 'eventName' | 'mayAddName' | 'attributes'>): Use[] => {
  const uses: Use[] = [
    eventID === null
      ? { kind: 'event', id: null, name: eventName, mayAddName, field: 'eventName', inEvent: true }
      : { kind: 'event', id: String(eventID), field: 'eventID', inEvent: true },
  ];
  for (let index = 0; index < attributes.length; index += 1) {
    const id = (attributes[index] as (typeof attributes)[number])[0];
    if (!isOurs(id)) uses.push({ kind: 'attr', id, field: attributeField(index), inEvent: true });
  }
  return uses;
};

/**
 * Whether a browser token may use an ID; for a merged ID, the target entry decides. Undefined if the ID is not listed.
 */
const isForBrowsers = ({ listed, merges }: AccountCatalogues, kind: CatalogueKind, id: string): boolean | undefined =>
  listed[kind].get(merges[kind].targetOf(id))?.forBrowsers;

const refusalOf = (code: Refusal['code'], { kind, id, name, field }: Use, why: string): Refusal =>
  new Refusal(code, { field, message: `\`${field}\` names ${kind} ${scrub(id ?? (name as string))}, which ${why}` });

/**
 * Returns the newest `surplus` entries that may be dropped because only browser tokens used them; undefined if there
 * are fewer.
 */
const findDroppable = (
  { listed, merges }: AccountCatalogues,
  kind: CatalogueKind,
  surplus: number,
  isNeeded: (id: string) => boolean = () => false,
): string[] | undefined => {
  if (surplus <= 0) return [];
  const ids: string[] = [];
  for (const [id, { byBrowser, isNamedEvent }] of listed[kind])
    if (byBrowser && !isNamedEvent && !merges[kind].has(id) && !isNeeded(id)) ids.push(id);
  return ids.length < surplus ? undefined : ids.slice(-surplus);
};

/**
 * Makes room for unlisted IDs by dropping entries that only browser tokens used. Deletes these entries from `listed`
 * and returns them; returns undefined if there is no room.
 */
const makeRoom = (all: AccountCatalogues, kind: CatalogueKind, ids: ReadonlySet<string>): Listing[] | undefined => {
  const listed = all.listed[kind];
  const added = [...ids].filter((id) => !listed.has(id)).length;
  const dropped =
    added === 0 ? [] : findDroppable(all, kind, listed.size + added - limits.idsPerCatalogue, (id) => ids.has(id));
  for (const id of dropped ?? []) listed.delete(id);
  return dropped?.map((id) => ({ kind, id, listed: undefined }));
};

/** Whether another event name can be added. Browser tokens are not allowed to fill the catalogue completely. */
const hasRoomForName = (ids: AccountCatalogues, browser: boolean): boolean => {
  const { event } = ids.listed;
  if (findDroppable(ids, 'event', event.size + 1 - limits.idsPerCatalogue) === undefined) return false;
  if (!browser) return true;
  let names = 0;
  for (const { byBrowser, isNamedEvent } of event.values()) if (byBrowser && isNamedEvent) names += 1;
  return names < limits.eventNamesByBrowsers;
};

/** Throws a Refusal if the token is not allowed to use one of the IDs. */
export const checkUses = (ids: AccountCatalogues, browser: boolean, uses: readonly Use[]): void => {
  const { strict, listed } = ids;
  for (const use of uses) {
    const id = idOf(ids, use);
    const entry = id === undefined ? undefined : listed[use.kind].get(id);
    if (entry === undefined && strict) throw refusalOf('unknown_id', use, 'this strict account does not list');
    // Refuses names whose ID belongs to an event that is closed to browsers: an unlisted name can map to such an ID.
    if (browser && isForBrowsers(ids, use.kind, id ?? String(unlistedIDIn(ids, use.name as string))) === false) {
      throw refusalOf('id_not_for_browser', use, 'a browser token may not use');
    }
  }
};

/**
 * Whether using an ID adds it to the catalogue. Browser tokens may add profiles, tags and attributes only if the
 * account allows it.
 */
const isRegisteredOnUse = (
  { strict, browserCatalogue }: CatalogueSettings,
  browser: boolean,
  kind: CatalogueKind,
): boolean => !strict && (!browser || browserCatalogue || kind === 'event');

/** Whether a use would leave the catalogues unchanged. */
export const isRegistered = (ids: AccountCatalogues, browser: boolean, use: Use): boolean => {
  if (!isRegisteredOnUse(ids, browser, use.kind)) return true;
  const id = idOf(ids, use);
  const entry = id === undefined ? undefined : ids.listed[use.kind].get(id);
  return entry !== undefined && (browser || !entry.byBrowser);
};

/** `taken`: additional IDs that are in use. */
const takeEventID = (ids: AccountCatalogues, taken?: ReadonlyMap<string, unknown>): string => {
  const isTaken = (id: string) => ids.listed.event.has(id) || taken?.has(id) === true || ids.hasEvents(id);
  while (isTaken(String(ids.nextEventID))) ids.nextEventID += 1;
  ids.nextEventID += 1;
  return String(ids.nextEventID - 1);
};

/** Assigns an ID to a new event name: the ID under which its events are already stored, or the next free ID. */
const takeIDForName = (ids: AccountCatalogues, name: string, taken?: ReadonlyMap<string, unknown>): string => {
  const id = String(unlistedIDIn(ids, name));
  const isFree = !taken?.has(id) && !ids.listed.event.get(id)?.isNamedEvent;
  return isFree && ids.hasEvents(id) ? id : takeEventID(ids, taken);
};

/** Adds a new event name if that is allowed and there is room. Returns the changes, as registerUses does. */
const registerName = (ids: AccountCatalogues, browser: boolean, { name, mayAddName }: Use): Listing[] => {
  const { event } = ids.listed;
  if (!mayAddName || !hasRoomForName(ids, browser)) return [];
  const id = takeIDForName(ids, name as string);
  const dropped = makeRoom(ids, 'event', new Set([id])) as Listing[];
  const listed = { forBrowsers: event.get(id)?.forBrowsers ?? true, byBrowser: browser, isNamedEvent: true };
  event.set(id, listed);
  ids.eventIDs.set(name as string, id);
  return [...dropped, { kind: 'event', id, listed, name: name as string }];
};

/**
 * Adds the IDs in `uses` that are not listed yet, as long as there is room. Returns the changes, which the caller must
 * write.
 */
export const registerUses = (ids: AccountCatalogues, browser: boolean, uses: readonly Use[]): Listing[] => {
  const { listed, browserCatalogue } = ids;
  const listings: Listing[] = [];
  for (const use of uses) {
    if (isRegistered(ids, browser, use)) continue;
    const { kind, inEvent = false } = use;
    const id = idOf(ids, use);
    if (id === undefined) {
      listings.push(...registerName(ids, browser, use));
      continue;
    }
    const entry = listed[kind].get(id);
    const isFull = listed[kind].size >= limits.idsPerCatalogue;
    const dropped = entry || !isFull ? [] : browser ? undefined : makeRoom(ids, kind, new Set([id]));
    if (!dropped) continue;
    // Tags and attributes that a server token adds with a contact are closed to browser tokens, unless the account
    // allows browsers to add IDs. Profiles are open: every createContact needs one, and a browser token's profile never
    // replaces another.
    const isOpen = browser || browserCatalogue || inEvent || kind === 'profile';
    const isNamedEvent = entry?.isNamedEvent ?? false;
    const newEntry = { forBrowsers: entry?.forBrowsers ?? isOpen, byBrowser: browser, isNamedEvent };
    listed[kind].set(id, newEntry);
    listings.push(...dropped, { kind, id, listed: newEntry });
  }
  return listings;
};

/**
 * Whether all IDs of an event may be used and none has to be added. This is true for nearly every event, and faster to
 * check than collecting the event's uses.
 */
export const isSettled = (
  ids: AccountCatalogues,
  browser: boolean,
  event: Kind & Pick<NewEvent, 'attributes'>,
): boolean => {
  const { listed, strict } = ids;
  const isIDSettled = (kind: CatalogueKind, id: string): boolean => {
    const entry = listed[kind].get(id);
    if (entry === undefined) return !strict && !isRegisteredOnUse(ids, browser, kind);
    return browser ? isForBrowsers(ids, kind, id) === true : !entry.byBrowser;
  };
  const eventID = eventIDOf(ids, event);
  if (eventID === undefined || !isIDSettled('event', String(eventID))) return false;
  for (const [id] of event.attributes) if (!isOurs(id) && !isIDSettled('attr', id)) return false;
  return true;
};

export interface EntryWithID extends CatalogueEntry {
  readonly id: string;
}

/**
 * Resolves the IDs of entries. An event name without an ID gets the ID that will have this name after the request: the
 * ID of one of the entries, a listed ID that the request does not rename or remove, or a new ID.
 */
const resolveIDs = (ids: AccountCatalogues, entries: readonly CatalogueEntry[]): EntryWithID[] => {
  const requestNames = new Map<string, string | undefined>();
  for (const { id, name, remove } of entries) if (id !== null) requestNames.set(id, remove ? undefined : name);
  const byName = new Map<string, string>();
  for (const [id, name] of requestNames) if (name !== undefined) byName.set(canonicalName(name), id);
  return entries.map((entry) => {
    if (entry.id !== null) return { ...entry, id: entry.id };
    const name = canonicalName(entry.name as string);
    const listedID = ids.eventIDs.get(name);
    const id =
      byName.get(name) ??
      (listedID !== undefined && !requestNames.has(listedID) ? listedID : takeIDForName(ids, name, requestNames));
    byName.set(name, id);
    ids.eventIDs.set(name, id);
    return { ...entry, id, name };
  });
};

/**
 * Splits an account request's entries: `written` entries must be added or changed; `dropped` entries must be removed,
 * on request or to make room. Also deletes the dropped entries from `ids`. Throws a Refusal if there is no room.
 */
export const splitEntries = (ids: AccountCatalogues, catalogues: Catalogues) => {
  const { listed } = ids;
  const dropped: Listing[] = [];
  const written: { readonly kind: CatalogueKind; readonly entry: EntryWithID }[] = [];
  for (const kind of catalogueKinds) {
    const entries = resolveIDs(ids, catalogues[kind] ?? []);
    for (const [index, { id, remove }] of entries.entries()) {
      if (remove) checkEntryRemoval(ids, kind, id, `${kind}[${index}].${kind}ID`);
      if (remove && listed[kind].delete(id)) dropped.push({ kind, id, listed: undefined });
    }
    const kept = entries.filter(({ remove }) => !remove);
    const evicted = makeRoom(ids, kind, new Set(kept.map(({ id }) => id)));
    if (!evicted) {
      throw new Refusal('invalid_field', {
        field: kind,
        message: `\`${kind}\` would list more than ${limits.idsPerCatalogue.toLocaleString('en')} IDs`,
      });
    }
    dropped.push(...evicted);
    written.push(...kept.map((entry) => ({ kind, entry })));
  }
  return { dropped, written };
};
