/** The filter that is seen, as the address says: conditions of the API's own grammar, all of which hold. */
import type { RequestFor } from '@firsthand/client';
import { computed } from '@preact/signals';
import { hrefWith, query } from '../address.ts';
import { nameOf } from './account.ts';

type Given = NonNullable<RequestFor<'reportTotals'>['filter']>;
/** A condition as an object. */
export type Condition = Exclude<Given, string>;

const parse = (text: string | null): Condition[] => {
  if (text === null) return [];
  try {
    const conditions = JSON.parse(text);
    return Array.isArray(conditions) ? conditions.filter((each) => typeof each === 'object' && each !== null) : [];
  } catch {
    return [];
  }
};

export const conditions = computed(() => parse(query.value.get('filter')));

/** The filter of a report: these conditions and others. undefined: none. */
export const filterWith = (...others: readonly Condition[]): Condition | undefined => {
  const all = [...conditions.value, ...others];
  return all.length > 1 ? { and: all } : all[0];
};

/** The address of this page with these conditions in the place of the present ones. */
export const hrefToHave = (list: readonly Condition[]): string =>
  hrefWith({ filter: list.length === 0 ? null : JSON.stringify(list), cursor: null });

const same = (a: Condition, b: Condition): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The address of this page with a condition more. */
export const hrefToAdd = (condition: Condition): string =>
  hrefToHave([...conditions.value.filter((each) => !same(each, condition)), condition]);
/** The address of this page without a condition. */
export const hrefToRemove = (condition: Condition): string =>
  hrefToHave(conditions.value.filter((each) => !same(each, condition)));

const listed = (values: unknown): string => [values].flat().map(String).join(' or ');

const labels: ReadonlyMap<string, string> = new Map([
  ['path', 'Page'],
  ['referrer', 'Referrer'],
  ['$browser', 'Browser'],
  ['$os', 'System'],
  ['$device', 'Device'],
  ['$country', 'Country'],
  ['$agent', 'Kind of robot'],
  ['utm_source', 'Source'],
  ['utm_medium', 'Medium'],
  ['utm_campaign', 'Campaign'],
]);

/** The name of an attribute for people. */
export const attributeName = (attrID: string): string => {
  const name = nameOf('attr', attrID);
  return name === attrID ? (labels.get(attrID) ?? attrID) : name;
};

/** The name of an attribute as it is in the first event of a person that has it. */
const firstName = (attrID: string): string => `First ${attributeName(attrID).toLowerCase()} of the person`;

const namesOfEvents = (kinds: unknown): string => listed([kinds].flat().map((kind) => nameOf('event', String(kind))));

/** A condition in words; as JSON, if the address has something else in its place. */
export const inWords = (condition: Condition): string => {
  try {
    return wordsOf(condition);
  } catch {
    return JSON.stringify(condition);
  }
};

const wordsOf = (condition: Condition): string => {
  const { is, isNot, contains, exists, lessThan, greaterThan, event, contact, segment, not, and, or, did } = condition;
  const { personFirst, attrID = personFirst } = condition;
  if (attrID !== undefined) {
    const name = personFirst === undefined ? attributeName(attrID) : firstName(attrID);
    if (is !== undefined) return `${name} is ${listed(is)}`;
    if (isNot !== undefined) return `${name} is not ${listed(isNot)}`;
    if (contains !== undefined) return `${name} contains ${contains}`;
    if (exists !== undefined) return exists ? `has ${name}` : `has no ${name}`;
    if (lessThan !== undefined) return `${name} is below ${lessThan}`;
    return `${name} is above ${greaterThan}`;
  }
  if (event !== undefined) return `Event is ${namesOfEvents(event)}`;
  if (segment !== undefined) return `Segment ${segment}`;
  if (not !== undefined) return `not (${inWords(not)})`;
  if (and !== undefined) return and.map(inWords).join(' and ');
  if (or !== undefined) return or.map(inWords).join(' or ');
  if (did !== undefined) {
    const { event: kinds, filter, atLeast } = did;
    const { attrID: origin = '', is: from } = kinds === undefined && filter ? filter : {};
    if (origin.startsWith('utm_') && from !== undefined)
      return `ever came from ${attributeName(origin).toLowerCase()} ${listed(from)}`;
    const often = atLeast === undefined || atLeast === 1 ? '' : ` at least ${atLeast} times`;
    const where = filter === undefined ? '' : ` where ${inWords(filter)}`;
    return `did ${kinds === undefined ? 'something' : namesOfEvents(kinds)}${often}${where}`;
  }
  if (contact?.contactTagID !== undefined) return `Tag is ${nameOf('tag', String(contact.contactTagID))}`;
  if (contact?.contactProfileID !== undefined)
    return `Profile is ${nameOf('profile', String(contact.contactProfileID))}`;
  return contact === undefined ? JSON.stringify(condition) : 'is a contact';
};
