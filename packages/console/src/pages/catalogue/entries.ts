/** The four catalogues in one shape, and changes to their entries. Pure functions. */
import type { RequestFor, ResponseFor } from '@firsthand/client';
import type { Account } from '../../reading/account.ts';

export type Kind = 'event' | 'attr' | 'tag' | 'profile';
export type AttrType = Account['attr'][number]['attrType'];
export type Uses = NonNullable<ResponseFor<'getEvent'>['eventDefinition']>[number];

export interface Entry {
  readonly id: string;
  /** The ID if the entry has no name. */
  readonly name: string;
  /** Whether browser tokens may use the entry. */
  readonly browser: boolean;
  /** Only set for attributes. */
  readonly type?: AttrType;
  /** Only set for events that have been logged. */
  readonly uses?: Uses | undefined;
  /** False if events have the ID, but the catalogue no longer lists it. */
  readonly isListed: boolean;
  /** The entries that are merged into this one. */
  readonly merged: readonly { readonly id: string; readonly name: string }[];
}

export const kinds: Readonly<
  Record<Kind, { readonly title: string; readonly singular: string; readonly description: string }>
> = {
  event: {
    title: 'Events',
    singular: 'event',
    description: 'New event names appear here automatically when they are first logged.',
  },
  attr: {
    title: 'Attributes',
    singular: 'attribute',
    description: 'Attributes describe events and contacts, such as a path, a price or a product.',
  },
  tag: {
    title: 'Tags',
    singular: 'tag',
    description: 'Tags label contacts, such as newsletter subscribers. A contact can have many.',
  },
  profile: {
    title: 'Profiles',
    singular: 'profile',
    description: 'A profile is a kind of contact, such as customer or supplier. A contact has at most one.',
  },
};

/** Returns `an event`, `a tag` and so on. */
export const withArticle = (kind: Kind): string => {
  const { singular } = kinds[kind];
  return `${/^[aeiou]/.test(singular) ? 'an' : 'a'} ${singular}`;
};

export const attrTypes: Readonly<Record<AttrType, string>> = {
  text: 'Text',
  number: 'Number',
  date: 'Date',
  currency: 'Money',
  boolean: 'Yes or no',
};

type Catalogues = Pick<Account, Kind>;

type UnmergedEntry = Omit<Entry, 'merged'> & { readonly mergedInto?: string | number | undefined };

const eventsIn = (event: Account['event'], uses: readonly Uses[]): UnmergedEntry[] => {
  const usesOf = new Map(uses.map((each) => [each.eventID, each]));
  const listed = new Set(event.map(({ eventID }) => eventID));
  return [
    ...event.map(({ eventID, eventName, browser, mergedInto }) => ({
      id: String(eventID),
      name: eventName,
      browser,
      mergedInto,
      isListed: true,
      uses: usesOf.get(eventID),
    })),
    ...uses
      .filter(({ eventID }) => !listed.has(eventID))
      .map((each) => ({
        id: String(each.eventID),
        name: each.eventName,
        browser: false,
        isListed: false,
        uses: each,
      })),
  ];
};

const plainEntriesOf = (
  kind: Kind,
  { event, attr, tag, profile }: Catalogues,
  uses: readonly Uses[],
): UnmergedEntry[] => {
  const isListed = true;
  switch (kind) {
    case 'event':
      return eventsIn(event, uses);
    case 'attr':
      return attr.map((each) => ({ ...each, id: each.attrID, name: each.attrName, type: each.attrType, isListed }));
    case 'tag':
      return tag.map((each) => ({ ...each, id: each.tagID, name: each.tagName, isListed }));
    case 'profile':
      return profile.map((each) => ({ ...each, id: each.profileID, name: each.profileName, isListed }));
  }
};

/** A catalogue's entries, in the API's order, each with the entries merged into it. `uses` has the event counts. */
export const entriesOf = (kind: Kind, catalogues: Catalogues, uses: readonly Uses[]): Entry[] => {
  const all = plainEntriesOf(kind, catalogues, uses);
  const merged = all.filter(({ mergedInto }) => mergedInto !== undefined);
  return all
    .filter(({ mergedInto }) => mergedInto === undefined)
    .map((entry) => ({ ...entry, merged: merged.filter(({ mergedInto }) => String(mergedInto) === entry.id) }));
};

/** The entries whose name or ID contains the text, or with a merged entry whose name or ID does. Ignores case. */
export const searchEntries = (text: string, entries: readonly Entry[]): readonly Entry[] => {
  const searchText = text.trim().toLowerCase();
  const isMatch = ({ id, name }: Pick<Entry, 'id' | 'name'>) =>
    name.toLowerCase().includes(searchText) || id.toLowerCase().includes(searchText);
  return entries.filter((entry) => isMatch(entry) || entry.merged.some(isMatch));
};

const withoutSpaces = (name: string): string => name.replace(/\s/g, '').toLowerCase();

/** Another listed entry with the same name, ignoring case and spaces. */
export const findNamesake = (
  name: string,
  entries: readonly Entry[],
  { id }: { readonly id?: string } = {},
): Entry | undefined =>
  name === ''
    ? undefined
    : entries.find((entry) => entry.isListed && entry.id !== id && withoutSpaces(entry.name) === withoutSpaces(name));

/** The error message for a name that this entry already has. */
export const describeConflict = (kind: Kind, { name }: Entry): string =>
  `There is already ${withArticle(kind)} named “${name}”.`;

export interface Change {
  readonly name?: string;
  readonly browser?: boolean;
  readonly type?: AttrType | undefined;
  readonly remove?: true;
  readonly force?: true;
}

/** The request that adds or changes an entry. If an event's ID is empty, the service assigns one. */
export const requestFor = (kind: Kind, id: string, { name, type, ...others }: Change): RequestFor<'updateAccount'> => {
  switch (kind) {
    case 'event':
      return { event: [{ eventID: id === '' ? undefined : Number(id), eventName: name, ...others }] };
    case 'attr':
      return { attr: [{ attrID: id, attrName: name, attrType: type, ...others }] };
    case 'tag':
      return { tag: [{ tagID: id, tagName: name, ...others }] };
    case 'profile':
      return { profile: [{ profileID: id, profileName: name, ...others }] };
  }
};

const replaceWhere = <Listed>(
  list: readonly Listed[],
  isMatch: (listed: Listed) => boolean,
  change: Partial<Listed>,
): Listed[] => list.map((listed) => (isMatch(listed) ? { ...listed, ...change } : listed));

/** The catalogue with one entry changed, in the same shape as in the account. */
export const withChange = (
  kind: Kind,
  catalogues: Catalogues,
  id: string,
  { name, browser, type }: Change,
): Partial<Catalogues> => {
  const flag = browser === undefined ? {} : { browser };
  const named = <Field extends string>(field: Field) =>
    (name === undefined ? {} : { [field]: name }) as Partial<Record<Field, string>>;
  const { event, attr, tag, profile } = catalogues;
  switch (kind) {
    case 'event':
      return { event: replaceWhere(event, (each) => String(each.eventID) === id, { ...flag, ...named('eventName') }) };
    case 'attr': {
      const typed = type === undefined ? {} : { attrType: type };
      return { attr: replaceWhere(attr, (each) => each.attrID === id, { ...flag, ...typed, ...named('attrName') }) };
    }
    case 'tag':
      return { tag: replaceWhere(tag, (each) => each.tagID === id, { ...flag, ...named('tagName') }) };
    case 'profile':
      return { profile: replaceWhere(profile, (each) => each.profileID === id, { ...flag, ...named('profileName') }) };
  }
};
