/** Translates request filters into engine conditions, in which event names become eventIDs. */
import type { Filter } from '@firsthand/contract/reports/filter';
import type { DimensionText } from '@firsthand/contract/reports/report';
import { createEntryMerges, type EntryMerges } from '../../../identity/merged-entries.ts';
import type { Comparison, Condition, MergedIDs } from '../../../reports/queries.ts';
import { dayMilliseconds } from '../../../shared/time.ts';
import { eventIDsOfName, toEventNames } from '../../../store/rules/accounts/catalogue-rules.ts';
import type { ListedEntry } from '../../../store/store.ts';
import type { ContactMatches } from './contact-lookup.ts';
import type { ContactLists } from './dimensions.ts';

/** The events in an account's catalogue. */
export interface EventKinds {
  /** Returns the eventIDs that a number or a name refers to. */
  idsOf(event: number | string): number[];
  /** Returns the current name of an eventID, or the number itself. */
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

/** Returns the groups of merged IDs in an account's catalogues; undefined if no entry is merged. */
export const toMergedIDs = (event: readonly ListedEntry[], attr: readonly ListedEntry[]): MergedIDs | undefined => {
  const events = createEntryMerges(event).groups.map((ids) => ids.map(Number));
  const attributes = createEntryMerges(attr).groups;
  return events.length + attributes.length === 0 ? undefined : { events, attributes };
};

/** The names in a request, resolved. */
export interface ResolvedNames {
  readonly kinds: EventKinds;
  readonly mergedIDs: MergedIDs | undefined;
  readonly contacts: ContactMatches;
  /** The contacts in each group, for dimensions that group by contacts. */
  readonly lists: ContactLists;
  /** The merged entries, for dimensions whose values are IDs of catalogue entries. */
  readonly merges: ReadonlyMap<DimensionText, EntryMerges>;
  /** When the report runs, in milliseconds since 1970. */
  readonly now: number;
}

/** Returns the part of a query that lists merged IDs. */
export const mergedIDsIn = ({ mergedIDs }: ResolvedNames): { readonly mergedIDs?: MergedIDs } =>
  mergedIDs ? { mergedIDs } : {};

/** Later than any eventTime. */
export const maxTime = 8.64e15;

const toDidCondition = (did: NonNullable<Filter['did']>, names: ResolvedNames): Condition => {
  const { event, filter, atLeast = 1, atMost = null, withinDays, from = -maxTime, to = maxTime } = did;
  return {
    did: both(event, filter, names),
    atLeast,
    atMost,
    from: withinDays === undefined ? from : names.now - withinDays * dayMilliseconds,
    to,
  };
};

export const toCondition = (filter: Filter, names: ResolvedNames): Condition => {
  const { kinds, contacts } = names;
  const { and, or, not, event, contact, did, attrID, personFirst } = filter;
  if (and) return { and: and.map((part) => toCondition(part, names)) };
  if (or) return { or: or.map((part) => toCondition(part, names)) };
  if (not) return { not: toCondition(not, names) };
  if (event) return ofKinds(event, kinds);
  if (contact) return { contacts: contacts.get(contact) as Float64Array | null };
  if (did) return toDidCondition(did, names);
  const { isNot, ...rest } = filter;
  const comparison = toComparison(attrID ?? (personFirst as string), isNot ? { is: isNot } : rest);
  const condition = attrID === undefined ? { personFirst: comparison } : comparison;
  return isNot ? { not: condition } : condition;
};

const toComparison = (attrID: string, { is, contains, matches, exists, lessThan, greaterThan }: Filter): Comparison => {
  if (is) return { attrID, is };
  if (contains !== undefined) return { attrID, contains };
  if (matches !== undefined) return { attrID, matches };
  if (exists !== undefined) return { attrID, exists };
  return lessThan === undefined ? { attrID, above: greaterThan as number } : { attrID, below: lessThan };
};

/** Returns a condition that requires both conditions; null if there is neither. */
const both = (
  events: readonly (number | string)[] | undefined,
  filter: Filter | undefined,
  names: ResolvedNames,
): Condition | null => {
  const all = [
    ...(events === undefined ? [] : [ofKinds(events, names.kinds)]),
    ...(filter === undefined ? [] : [toCondition(filter, names)]),
  ];
  return all.length > 1 ? { and: all } : (all[0] ?? null);
};

interface EventSelection {
  readonly eventID?: number | undefined;
  readonly eventName?: string | undefined;
  readonly filter?: Filter | undefined;
}

/**
 * Returns the condition on a report's events, which combines the event name or ID with the filter; null if there is
 * neither.
 */
export const conditionOf = ({ eventID, eventName, filter }: EventSelection, names: ResolvedNames): Condition | null => {
  const event = eventID ?? eventName;
  return both(event === undefined ? undefined : [event], filter, names);
};
