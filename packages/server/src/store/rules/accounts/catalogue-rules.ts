/** Rules of catalogues: which IDs a request uses, which of them a token may use, and which are listed on first use. */

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

/** An ID that a request uses, and the field that holds it. */
export interface Use {
  readonly kind: CatalogueKind;
  /** Null: an event is named by `name`. */
  readonly id: string | null;
  readonly name?: string | null;
  /** Whether the name may be listed. */
  readonly mayAddName?: boolean;
  readonly field: string;
  /** The ID is used in an event. An ID that a server token lists by an event is open to browser tokens. */
  readonly inEvent?: boolean;
}

export interface Listed {
  /** May a browser token use it? */
  readonly forBrowsers: boolean;
  /** Only browser tokens used the ID: the entry is dropped when the catalogue is full and the account lists others. */
  readonly byBrowser: boolean;
  /** It is an event and has a name other than its ID. It is never dropped: the next event of the name would get another ID. */
  readonly isNamedEvent: boolean;
}

/** An account's settings, and the IDs that it lists. */
export interface ListedIDs extends CatalogueSettings {
  readonly listed: Readonly<Record<CatalogueKind, Map<string, Listed>>>;
  readonly merges: CatalogueMerges;
  /** The IDs of events by the canonical form of their names. */
  readonly eventIDs: Map<string, string>;
  /** The next name gets this eventID, or the next one that is free. It only grows, so that no two names ever share an ID. */
  nextEventID: number;
  /** Whether events are stored under an eventID: also of one that is not listed, because the catalogue was full or it was removed. */
  readonly hasEvents: (eventID: string) => boolean;
}

/** A change of a catalogue: `listed` is undefined when the ID is no longer listed. */
export interface Listing {
  readonly kind: CatalogueKind;
  readonly id: string;
  readonly listed: Listed | undefined;
  /** The name of a new entry, if it is not the ID. */
  readonly name?: string | undefined;
}

/** A row of a catalogue. SQLite has 0 and 1 for booleans. */
interface ListedRow {
  readonly kind: CatalogueKind;
  readonly id: string;
  readonly name: string;
  readonly browser: boolean | number;
  readonly byBrowser: boolean | number;
  readonly mergedInto: string | null;
}

/** Adds an event's name. If several IDs have the same name, it is the name of the lowest. */
const addName = (eventIDs: Map<string, string>, name: string, id: string): void => {
  const known = eventIDs.get(canonicalName(name));
  if (known === undefined || Number(id) < Number(known)) eventIDs.set(canonicalName(name), id);
};

/** The events that an account lists: their IDs by the canonical form of their names, and the IDs that have a name. */
interface EventNames {
  readonly ids: ReadonlyMap<string, string>;
  readonly namedIDs: ReadonlySet<string>;
}

/** `rows`: the events that the account lists. */
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

/** A query with the IDs whose events it asks for in place of the ID or name that it gives. */
export type WithIDs<Query> = Omit<Query, keyof Naming> & {
  /** Undefined: events of every kind. */
  readonly eventIDs: readonly number[] | undefined;
  /** An attribute of an event is that of the first of these IDs that the event has. Undefined: any event. */
  readonly attrIDs: readonly string[] | undefined;
};

/** The eventIDs of the events with a name: those that the account lists for it, or else that of the unlisted name. */
export const eventIDsOfName = (
  name: string,
  { ids, namedIDs }: EventNames,
  { idsOf }: Pick<CatalogueMerges['event'], 'idsOf'>,
): number[] => {
  const canonical = canonicalName(name);
  const id = ids.get(canonical);
  return id === undefined ? [unlistedIDOf(canonical, (other) => namedIDs.has(other))] : idsOf(id).map(Number);
};

/**
 * Replaces the ID or name of a query by the IDs that it stands for. `rows`: the events that the account lists, for a query with a name.
 */
export const withIDs = <Query extends Naming>(
  query: Query,
  { event, attr }: Pick<CatalogueMerges, 'event' | 'attr'>,
  rows: Iterable<Pick<ListedRow, 'id' | 'name'>>,
): WithIDs<Query> => {
  const { eventID, eventName, attrID, ...rest } = query;
  const ofID = eventID === undefined ? undefined : event.idsOf(String(eventID)).map(Number);
  return {
    ...rest,
    eventIDs: eventName === undefined ? ofID : eventIDsOfName(eventName, toEventNames(rows), event),
    attrIDs: attrID === undefined ? undefined : attr.idsOf(attrID),
  };
};

export const toListedIDs = (
  settings: CatalogueSettings & Pick<ListedIDs, 'nextEventID' | 'hasEvents'>,
  rows: readonly ListedRow[],
): ListedIDs => {
  const listed: ListedIDs['listed'] = { profile: new Map(), tag: new Map(), attr: new Map(), event: new Map() };
  const eventIDs: ListedIDs['eventIDs'] = new Map();
  for (const { kind, id, name, browser, byBrowser } of rows) {
    const isNamedEvent = kind === 'event' && name !== id;
    listed[kind].set(id, { forBrowsers: Boolean(browser), byBrowser: Boolean(byBrowser), isNamedEvent });
    if (isNamedEvent) addName(eventIDs, name, id);
  }
  return { ...settings, listed, merges: toCatalogueMerges(rows), eventIDs };
};

/** Returns a copy that changes do not share. */
export const copyOfIDs = (ids: ListedIDs): ListedIDs => ({
  ...ids,
  listed: {
    profile: new Map(ids.listed.profile),
    tag: new Map(ids.listed.tag),
    attr: new Map(ids.listed.attr),
    event: new Map(ids.listed.event),
  },
  eventIDs: new Map(ids.eventIDs),
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

/** Field names by index, each built once. */
const attributeFields: string[] = [];
const attributeField = (index: number): string => {
  attributeFields[index] ??= `eventAttrArray[${index}].attrID`;
  return attributeFields[index];
};

type Kind = Pick<NewEvent, 'eventID' | 'eventName'>;

/** Returns the eventID of an event; undefined if the account does not list its name. */
const eventIDOf = ({ eventIDs }: ListedIDs, { eventID, eventName }: Kind): number | undefined => {
  if (eventID !== null) return eventID;
  const id = eventIDs.get(eventName as string);
  return id === undefined ? undefined : Number(id);
};

/** Returns the ID of a use; undefined if it is of an event name that is not listed. */
const idOf = ({ eventIDs }: ListedIDs, { id, name }: Use): string | undefined => id ?? eventIDs.get(name as string);

/** The eventID of events with a name that is not listed. */
const unlistedIDIn = ({ listed }: ListedIDs, name: string): number =>
  unlistedIDOf(name, (id) => listed.event.get(id)?.isNamedEvent === true);

/** The eventID and the attributes that are stored of an event whose uses are registered. */
export const toStoredKind = (
  ids: ListedIDs,
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

/** Whether a browser token may use an ID. The entry that stands for the ID says so; undefined: none is listed. */
const isForBrowsers = ({ listed, merges }: ListedIDs, kind: CatalogueKind, id: string): boolean | undefined =>
  listed[kind].get(merges[kind].keptOf(id))?.forBrowsers;

const refusalOf = (code: Refusal['code'], { kind, id, name, field }: Use, why: string): Refusal =>
  new Refusal(code, { field, message: `\`${field}\` names ${kind} ${scrub(id ?? (name as string))}, which ${why}` });

/** The newest `surplus` entries that only browser tokens used and that may be dropped; undefined when there are not so many. */
const droppable = (
  { listed, merges }: ListedIDs,
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
 * Makes room for IDs that are not listed, by dropping entries that only browser tokens used. Deletes them from `listed` and
 * returns them; returns undefined when there is no room.
 */
const makeRoom = (all: ListedIDs, kind: CatalogueKind, ids: ReadonlySet<string>): Listing[] | undefined => {
  const listed = all.listed[kind];
  const added = [...ids].filter((id) => !listed.has(id)).length;
  const dropped =
    added === 0 ? [] : droppable(all, kind, listed.size + added - limits.idsPerCatalogue, (id) => ids.has(id));
  for (const id of dropped ?? []) listed.delete(id);
  return dropped?.map((id) => ({ kind, id, listed: undefined }));
};

/** Whether another event name can be listed. Browser tokens leave room for the names of others. */
const hasRoomForName = (ids: ListedIDs, browser: boolean): boolean => {
  const { event } = ids.listed;
  if (droppable(ids, 'event', event.size + 1 - limits.idsPerCatalogue) === undefined) return false;
  if (!browser) return true;
  let names = 0;
  for (const { byBrowser, isNamedEvent } of event.values()) if (byBrowser && isNamedEvent) names += 1;
  return names < limits.eventNamesByBrowsers;
};

/** Throws a Refusal when the account, or a browser token, may not use an ID. */
export const checkUses = (ids: ListedIDs, browser: boolean, uses: readonly Use[]): void => {
  const { strict, listed } = ids;
  for (const use of uses) {
    const id = idOf(ids, use);
    const entry = id === undefined ? undefined : listed[use.kind].get(id);
    if (entry === undefined && strict) throw refusalOf('unknown_id', use, 'this strict account does not list');
    // A page must not reach a closed event by a name whose events would be stored under its ID.
    if (browser && isForBrowsers(ids, use.kind, id ?? String(unlistedIDIn(ids, use.name as string))) === false) {
      throw refusalOf('id_not_for_browser', use, 'a browser token may not use');
    }
  }
};

/** Whether using an ID lists it. A browser token cannot add profiles, tags or attributes, unless its account allows it. */
const isListedOnUse = (
  { strict, browserCatalogue }: CatalogueSettings,
  browser: boolean,
  kind: CatalogueKind,
): boolean => !strict && (!browser || browserCatalogue || kind === 'event');

/** Whether a use changes nothing in the catalogues. */
export const isRegistered = (ids: ListedIDs, browser: boolean, use: Use): boolean => {
  if (!isListedOnUse(ids, browser, use.kind)) return true;
  const id = idOf(ids, use);
  const entry = id === undefined ? undefined : ids.listed[use.kind].get(id);
  return entry !== undefined && (browser || !entry.byBrowser);
};

/** `taken` are further IDs that are not free. */
const takeEventID = (ids: ListedIDs, taken?: ReadonlyMap<string, unknown>): string => {
  const isTaken = (id: string) => ids.listed.event.has(id) || taken?.has(id) === true || ids.hasEvents(id);
  while (isTaken(String(ids.nextEventID))) ids.nextEventID += 1;
  ids.nextEventID += 1;
  return String(ids.nextEventID - 1);
};

/** Takes the ID for a new event name: the one under which its events are stored already, or the next free one. */
const takeIDForName = (ids: ListedIDs, name: string, taken?: ReadonlyMap<string, unknown>): string => {
  const id = String(unlistedIDIn(ids, name));
  const isFree = !taken?.has(id) && !ids.listed.event.get(id)?.isNamedEvent;
  return isFree && ids.hasEvents(id) ? id : takeEventID(ids, taken);
};

/** Lists a new event name, if that is permitted and there is room. Returns the changes, as listUses does. */
const listName = (ids: ListedIDs, browser: boolean, { name, mayAddName }: Use): Listing[] => {
  const { event } = ids.listed;
  if (!mayAddName || !hasRoomForName(ids, browser)) return [];
  const id = takeIDForName(ids, name as string);
  const dropped = makeRoom(ids, 'event', new Set([id])) as Listing[];
  const listed = { forBrowsers: event.get(id)?.forBrowsers ?? true, byBrowser: browser, isNamedEvent: true };
  event.set(id, listed);
  ids.eventIDs.set(name as string, id);
  return [...dropped, { kind: 'event', id, listed, name: name as string }];
};

/** Adds used IDs that are not listed yet to `listed`, while there is room. Returns the changes that the caller must write. */
export const listUses = (ids: ListedIDs, browser: boolean, uses: readonly Use[]): Listing[] => {
  const { listed, browserCatalogue } = ids;
  const listings: Listing[] = [];
  for (const use of uses) {
    if (isRegistered(ids, browser, use)) continue;
    const { kind, inEvent = false } = use;
    const id = idOf(ids, use);
    if (id === undefined) {
      listings.push(...listName(ids, browser, use));
      continue;
    }
    const entry = listed[kind].get(id);
    const isFull = listed[kind].size >= limits.idsPerCatalogue;
    const dropped = entry || !isFull ? [] : browser ? undefined : makeRoom(ids, kind, new Set([id]));
    if (!dropped) continue;
    // A tag or attribute that a server token gave a contact is closed to browser tokens, unless the account allows it. Profiles
    // are open: every createContact needs one, and a browser token's profile replaces none.
    const isOpen = browser || browserCatalogue || inEvent || kind === 'profile';
    const isNamedEvent = entry?.isNamedEvent ?? false;
    const made = { forBrowsers: entry?.forBrowsers ?? isOpen, byBrowser: browser, isNamedEvent };
    listed[kind].set(id, made);
    listings.push(...dropped, { kind, id, listed: made });
  }
  return listings;
};

/**
 * Whether all IDs of an event may be used and none must be listed. This holds for nearly every event, and checking it is faster
 * than listing the uses of the event.
 */
export const isSettled = (ids: ListedIDs, browser: boolean, event: Kind & Pick<NewEvent, 'attributes'>): boolean => {
  const { listed, strict } = ids;
  const isIDSettled = (kind: CatalogueKind, id: string): boolean => {
    const entry = listed[kind].get(id);
    if (entry === undefined) return !strict && !isListedOnUse(ids, browser, kind);
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
 * The entries with their IDs. An event's name without one gets the ID that has this name after the request: that of another of the
 * entries, or the listed one, unless another of the entries renames or removes it; or else a new one.
 */
const identified = (ids: ListedIDs, entries: readonly CatalogueEntry[]): EntryWithID[] => {
  const given = new Map<string, string | undefined>();
  for (const { id, name, remove } of entries) if (id !== null) given.set(id, remove ? undefined : name);
  const byName = new Map<string, string>();
  for (const [id, name] of given) if (name !== undefined) byName.set(canonicalName(name), id);
  return entries.map((entry) => {
    if (entry.id !== null) return { ...entry, id: entry.id };
    const name = canonicalName(entry.name as string);
    const known = ids.eventIDs.get(name);
    const id = byName.get(name) ?? (known !== undefined && !given.has(known) ? known : takeIDForName(ids, name, given));
    byName.set(name, id);
    ids.eventIDs.set(name, id);
    return { ...entry, id, name };
  });
};

/**
 * Splits the entries of an account request: `written` are the entries to add or change, `dropped` those to remove, which also
 * are deleted from `ids`: removed ones, and those that make room. Throws a Refusal when there is no room.
 */
export const partEntries = (ids: ListedIDs, catalogues: Catalogues) => {
  const { listed } = ids;
  const dropped: Listing[] = [];
  const written: { readonly kind: CatalogueKind; readonly entry: EntryWithID }[] = [];
  for (const kind of catalogueKinds) {
    const entries = identified(ids, catalogues[kind] ?? []);
    for (const [index, { id, remove }] of entries.entries()) {
      if (remove) checkEntryRemoval(ids, kind, id, `${kind}[${index}].${kind}ID`);
      if (remove && listed[kind].delete(id)) dropped.push({ kind, id, listed: undefined });
    }
    const named = entries.filter(({ remove }) => !remove);
    const room = makeRoom(ids, kind, new Set(named.map(({ id }) => id)));
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
