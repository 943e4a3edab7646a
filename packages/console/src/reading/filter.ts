/** The filter that is seen, as the address says: conditions of the API's own grammar, all of which hold. */
import type { RequestFor } from '@firsthand/client';
import { computed } from '@preact/signals';
import { hrefWith, query } from '../address.ts';
import { nameOf, timezone } from './account.ts';
import { formatCountry } from './format.ts';

type Given = NonNullable<RequestFor<'reportTotals'>['filter']>;
/** A condition as an object. */
export type Condition = Exclude<Given, string>;

/** A saved segment in the filter builder. */
export interface EditedSegment {
  readonly name: string;
  readonly filter: Condition;
  /** Saves another filter. Returns why that is impossible; '' if it is done. */
  readonly save: (filter: Condition) => Promise<string>;
}

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

/** A value of an attribute for people: `phone` → `Phone`, `DE` → `Germany`. */
export const valueName = (attrID: string, value: string): string => {
  if (attrID === '$country') return formatCountry(value);
  return attrID === '$device' ? value.charAt(0).toUpperCase() + value.slice(1) : value;
};

/** All events of the people who came from a site: a purchase, for example, has no referrer. Browsers end a site's URL with a slash. */
export const cameFromSite = (host: string): Condition => ({
  did: { filter: { attrID: 'referrer', contains: `//${host}/` } },
});

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

/** Several conditions in words; each of more than one part in brackets. */
const joinedWords = (parts: readonly Condition[], word: 'and' | 'or'): string =>
  parts
    .map((part) => {
      const several = part.and ?? part.or;
      return parts.length > 1 && several !== undefined && several.length > 1 ? `(${inWords(part)})` : inWords(part);
    })
    .join(` ${word} `);

const dayOf = (time: unknown): string =>
  new Date(time as string | number).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    timeZone: timezone.value,
  });

type Times = { readonly from?: unknown; readonly to?: unknown };
const betweenWords = ({ from, to }: Times): string =>
  `${from === undefined ? '' : ` from ${dayOf(from)}`}${to === undefined ? '' : ` before ${dayOf(to)}`}`;

const oftenWords = (atLeast = 1, atMost?: number): string => {
  const times = (count: number) => (count === 1 ? '1 time' : `${count} times`);
  if (atMost === undefined) return atLeast === 1 ? '' : ` at least ${times(atLeast)}`;
  if (atLeast === atMost) return ` exactly ${times(atMost)}`;
  return atLeast === 1 ? ` at most ${times(atMost)}` : ` ${atLeast} to ${times(atMost)}`;
};

const didWords = (did: NonNullable<Condition['did']>, verb: 'did' | 'did not do'): string => {
  const { event, filter, atLeast, atMost, withinDays, ...times } = did;
  const { attrID: origin = '', is: from, contains } = event === undefined && filter ? filter : {};
  const isPlain =
    atLeast === undefined && atMost === undefined && withinDays === undefined && betweenWords(times) === '';
  const came = verb === 'did' ? 'ever came' : 'never came';
  if (origin.startsWith('utm_') && from !== undefined && isPlain)
    return `${came} from ${attributeName(origin).toLowerCase()} ${listed(from)}`;
  const site = /^\/\/([^/]+)\/$/.exec(String(contains))?.[1];
  if (origin === 'referrer' && site !== undefined && isPlain) return `${came} from site ${site}`;
  const nothing = verb === 'did' ? 'something' : 'anything';
  const what = event === undefined ? nothing : namesOfEvents(event);
  const where = filter === undefined ? '' : ` where ${inWords(filter)}`;
  const within = withinDays === undefined ? betweenWords(times) : ` in the last ${withinDays} days`;
  return `${verb} ${what}${where}${oftenWords(atLeast, atMost)}${within}`;
};

const contactWords = (contact: NonNullable<Condition['contact']>): string => {
  const { contactTagID, contactProfileID, contactStatus, attrID, attrValue, createdFrom, createdTo, seenFrom, seenTo } =
    contact;
  const words = [
    contactTagID != null && `Tag is ${nameOf('tag', String(contactTagID))}`,
    contactProfileID != null && `Profile is ${nameOf('profile', String(contactProfileID))}`,
    contactStatus != null && `Status is ${contactStatus}`,
    attrID != null &&
      (attrValue == null
        ? `the contact has ${attributeName(String(attrID))}`
        : `${attributeName(String(attrID))} of the contact is ${attrValue}`),
    (createdFrom ?? createdTo) != null &&
      `known${betweenWords({ from: createdFrom ?? undefined, to: createdTo ?? undefined })}`,
    (seenFrom ?? seenTo) != null && `seen${betweenWords({ from: seenFrom ?? undefined, to: seenTo ?? undefined })}`,
  ].filter(Boolean);
  return words.length === 0 ? 'is a contact' : words.join(' and ');
};

const wordsOf = (condition: Condition): string => {
  const { is, isNot, contains, exists, lessThan, greaterThan, event, contact, segment, not, and, or, did } = condition;
  const { personFirst, attrID = personFirst } = condition;
  if (attrID !== undefined) {
    const name = personFirst === undefined ? attributeName(attrID) : firstName(attrID);
    const values = (given: unknown) => listed([given].flat().map((value) => valueName(attrID, String(value))));
    if (is !== undefined) return `${name} is ${values(is)}`;
    if (isNot !== undefined) return `${name} is not ${values(isNot)}`;
    if (contains !== undefined) return `${name} contains ${contains}`;
    if (exists !== undefined) return exists ? `has ${name}` : `has no ${name}`;
    if (lessThan !== undefined) return `${name} is below ${lessThan}`;
    return `${name} is above ${greaterThan}`;
  }
  if (event !== undefined) return `Event is ${namesOfEvents(event)}`;
  if (segment !== undefined) return `Segment ${segment}`;
  if (not?.did !== undefined) return didWords(not.did, 'did not do');
  if (not !== undefined) return `not (${inWords(not)})`;
  if (and !== undefined) return joinedWords(and, 'and');
  if (or !== undefined) return joinedWords(or, 'or');
  if (did !== undefined) return didWords(did, 'did');
  return contact === undefined ? JSON.stringify(condition) : contactWords(contact);
};
