/** From the filter of a request to the condition of a question: every name of an event becomes its eventID. */
import type { Filter } from '@firsthand/contract/reports/filter';
import type { DimensionText } from '@firsthand/contract/reports/report';
import { createEntryMerges, type EntryMerges } from '../../../identity/merged-entries.ts';
import type { Comparison, Condition, UnitedIDs } from '../../../reports/questions.ts';
import { dayMilliseconds } from '../../../shared/time.ts';
import { eventIDsOfName, toEventNames } from '../../../store/rules/accounts/catalogue-rules.ts';
import type { ListedEntry } from '../../../store/store.ts';
import type { ContactLists } from './dimensions.ts';
import type { ContactsOf } from './found-contacts.ts';

/** The kinds of events that an account lists. */
export interface EventKinds {
  /** The eventIDs that a number or a name stands for. */
  idsOf(event: number | string): number[];
  /** The present name of an eventID, or the number itself. */
  nameOf(eventID: string): string;
}

export const toEventKinds = (listed: readonly ListedEntry[]): EventKinds => {
  const eventNames = toEventNames(listed);
  const names = new Map(listed.map(({ id, name }) => [id, name]));
  const merges = createEntryMerges(listed);
  return {
    idsOf(event) {
      return typeof event === 'number'
        ? merges.idsOf(String(event)).map(Number)
        : eventIDsOfName(event, eventNames, merges);
    },
    nameOf: (eventID) => names.get(eventID) ?? eventID,
  };
};

const ofKinds = (events: readonly (number | string)[], { idsOf }: EventKinds): Condition => ({
  eventIDs: [...new Set(events.flatMap(idsOf))],
});

/** The IDs that are one, from the entries that an account lists; undefined if no entry is merged. */
export const toUnitedIDs = (event: readonly ListedEntry[], attr: readonly ListedEntry[]): UnitedIDs | undefined => {
  const events = createEntryMerges(event).groups.map((ids) => ids.map(Number));
  const attributes = createEntryMerges(attr).groups;
  return events.length + attributes.length === 0 ? undefined : { events, attributes };
};

/** The meaning of the names in a request. */
export interface Meanings {
  readonly kinds: EventKinds;
  /** Part of the question. */
  readonly united: UnitedIDs | undefined;
  readonly contacts: ContactsOf;
  /** The contacts of each group, for dimensions of contacts. */
  readonly lists: ContactLists;
  /** The merges of dimensions whose values are IDs of entries. */
  readonly merges: ReadonlyMap<DimensionText, EntryMerges>;
  /** When the report is asked: milliseconds since 1970. */
  readonly now: number;
}

/** The part of a question that says which IDs are one. */
export const unitedIn = ({ united }: Meanings): { readonly united?: UnitedIDs } => (united ? { united } : {});

/** Beyond every eventTime. */
const anyTime = 8.64e15;

const toDid = (did: NonNullable<Filter['did']>, meanings: Meanings): Condition => {
  const { event, filter, atLeast = 1, atMost = null, withinDays, from = -anyTime, to = anyTime } = did;
  return {
    did: both(event, filter, meanings),
    atLeast,
    atMost,
    from: withinDays === undefined ? from : meanings.now - withinDays * dayMilliseconds,
    to,
  };
};

export const toCondition = (filter: Filter, meanings: Meanings): Condition => {
  const { kinds, contacts } = meanings;
  const { and, or, not, event, contact, did, attrID, personFirst } = filter;
  if (and) return { and: and.map((part) => toCondition(part, meanings)) };
  if (or) return { or: or.map((part) => toCondition(part, meanings)) };
  if (not) return { not: toCondition(not, meanings) };
  if (event) return ofKinds(event, kinds);
  if (contact) return { contacts: contacts.get(contact) as Float64Array | null };
  if (did) return toDid(did, meanings);
  const { isNot, ...compared } = filter;
  const comparison = toComparison(attrID ?? (personFirst as string), isNot ? { is: isNot } : compared);
  const condition = attrID === undefined ? { personFirst: comparison } : comparison;
  return isNot ? { not: condition } : condition;
};

const toComparison = (attrID: string, { is, contains, exists, lessThan, greaterThan }: Filter): Comparison => {
  if (is) return { attrID, is };
  if (contains !== undefined) return { attrID, contains };
  if (exists !== undefined) return { attrID, exists };
  return lessThan === undefined ? { attrID, above: greaterThan as number } : { attrID, below: lessThan };
};

/** Both hold; null if there is neither. */
const both = (
  events: readonly (number | string)[] | undefined,
  filter: Filter | undefined,
  meanings: Meanings,
): Condition | null => {
  const all = [
    ...(events === undefined ? [] : [ofKinds(events, meanings.kinds)]),
    ...(filter === undefined ? [] : [toCondition(filter, meanings)]),
  ];
  return all.length > 1 ? { and: all } : (all[0] ?? null);
};

interface Counted {
  readonly eventID?: number | undefined;
  readonly eventName?: string | undefined;
  readonly filter?: Filter | undefined;
}

/** The condition on all events of a report: their kind, and the filter; null if there is neither. */
export const conditionOf = ({ eventID, eventName, filter }: Counted, meanings: Meanings): Condition | null => {
  const event = eventID ?? eventName;
  return both(event === undefined ? undefined : [event], filter, meanings);
};
