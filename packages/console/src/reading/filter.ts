/** The filter in the URL: a list of conditions in the API's syntax, combined with “and”. */
import type { RequestFor } from '@firsthand/client';
import { computed } from '@preact/signals';
import { hrefWith, query } from '../address.ts';
import { nameOf, timezone } from './account.ts';
import { formatCountry } from './format.ts';

type FilterInput = NonNullable<RequestFor<'reportTotals'>['filter']>;
export type Condition = Exclude<FilterInput, string>;

/** A saved segment in the filter builder. */
export interface EditedSegment {
  readonly name: string;
  readonly filter: Condition;
  /** Saves a different filter. Returns the error message; '' if the filter was saved. */
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

/** The filter for a report: the conditions in the URL and in `others`. Undefined if there are none. */
export const filterWith = (...others: readonly Condition[]): Condition | undefined => {
  const all = [...conditions.value, ...others];
  return all.length > 1 ? { and: all } : all[0];
};

/** The URL of this page with these conditions instead of the current ones. */
export const hrefWithFilter = (list: readonly Condition[]): string =>
  hrefWith({ filter: list.length === 0 ? null : JSON.stringify(list), cursor: null });

const same = (a: Condition, b: Condition): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The URL of this page with an additional condition. */
export const hrefToAdd = (condition: Condition): string =>
  hrefWithFilter([...conditions.value.filter((each) => !same(each, condition)), condition]);
/** The URL of this page without a condition. */
export const hrefToRemove = (condition: Condition): string =>
  hrefWithFilter(conditions.value.filter((each) => !same(each, condition)));

const joinWithOr = (values: unknown): string => [values].flat().map(String).join(' or ');

const labels: ReadonlyMap<string, string> = new Map([
  ['path', 'Page'],
  ['referrer', 'Referrer'],
  ['$browser', 'Browser'],
  ['$os', 'System'],
  ['$device', 'Device'],
  ['$country', 'Country'],
  ['$agent', 'Bot type'],
  ['utm_source', 'Source'],
  ['utm_medium', 'Medium'],
  ['utm_campaign', 'Campaign'],
]);

/** An attribute's display name. */
export const attributeName = (attrID: string): string => {
  const name = nameOf('attr', attrID);
  return name === attrID ? (labels.get(attrID) ?? attrID) : name;
};

/** The display name of an attribute's value: `phone` → `Phone`, `DE` → `Germany`. */
export const valueName = (attrID: string, value: string): string => {
  if (attrID === '$country') return formatCountry(value);
  return attrID === '$device' ? value.charAt(0).toUpperCase() + value.slice(1) : value;
};

/** The range of the report in which a condition was chosen, so that the filtered numbers agree with the clicked row. */
export type TimeSpan = Pick<NonNullable<Condition['did']>, 'from' | 'to'>;

/** Matches all events of people who came with this value, such as a campaign. A purchase itself has no campaign. */
export const cameFrom =
  (attrID: string) =>
  (value: string, during: TimeSpan): Condition => ({ did: { filter: { attrID, is: [value] }, ...during } });

/** Matches all events of people who came from a site. Browsers end the referrer's origin with a slash. */
export const cameFromSite = (host: string, during: TimeSpan): Condition => ({
  did: { filter: { attrID: 'referrer', contains: `//${host}/` }, ...during },
});

/** The display name of “the attribute’s value in the person’s first event that has it”. */
const firstName = (attrID: string): string => `First ${attributeName(attrID).toLowerCase()} of the person`;

const namesOfEvents = (kinds: unknown): string =>
  joinWithOr([kinds].flat().map((kind) => `“${nameOf('event', String(kind))}”`));

/** `isPart` phrases the condition for use after “with”: “Page /pots”, not “Page is /pots”. */
const describePart = (condition: Condition, isPart: boolean): string => {
  try {
    return wordsOf(condition, isPart);
  } catch {
    return JSON.stringify(condition);
  }
};

/** A condition in words. Falls back to JSON if the URL contains an invalid condition. */
export const describeCondition = (condition: Condition): string => describePart(condition, false);

/** Several conditions in words, with parentheses around nested groups. */
const joinedWords = (parts: readonly Condition[], word: 'and' | 'or', isPart: boolean): string =>
  parts
    .map((part) => {
      const several = part.and ?? part.or;
      const words = describePart(part, isPart);
      return parts.length > 1 && several !== undefined && several.length > 1 ? `(${words})` : words;
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
  from !== undefined && to !== undefined
    ? ` from ${dayOf(from)} to ${dayOf(new Date(to as string).getTime() - 1)}`
    : `${from === undefined ? '' : ` since ${dayOf(from)}`}${to === undefined ? '' : ` before ${dayOf(to)}`}`;

const frequencyWords = (atLeast = 1, atMost?: number): string => {
  const times = (count: number) => (count === 1 ? '1 time' : `${count} times`);
  if (atMost === undefined) return atLeast === 1 ? '' : ` at least ${times(atLeast)}`;
  if (atLeast === atMost) return ` exactly ${times(atMost)}`;
  return atLeast === 1 ? ` at most ${times(atMost)}` : ` ${atLeast} to ${times(atMost)}`;
};

const didWords = (did: NonNullable<Condition['did']>, isDone: boolean): string => {
  const { event, filter, atLeast, atMost, withinDays, ...times } = did;
  const { attrID: origin = '', is: from, contains } = event === undefined && filter ? filter : {};
  const often = frequencyWords(atLeast, atMost);
  const span =
    withinDays === undefined ? betweenWords(times) : ` in the last ${withinDays === 1 ? 'day' : `${withinDays} days`}`;
  // Without a time span, events before the range count, too.
  const within = span || (isDone ? ' at any time' : '');
  const [done, came] = isDone ? ['did', 'came'] : span ? ['did not do', 'did not come'] : ['never did', 'never came'];
  if (origin.startsWith('utm_') && from !== undefined && !often)
    return `${came} from ${attributeName(origin).toLowerCase()} ${joinWithOr(from)}${within}`;
  const site = /^\/\/([^/]+)\/$/.exec(String(contains))?.[1];
  if (origin === 'referrer' && site !== undefined && !often) return `${came} from site ${site}${within}`;
  const nothing = isDone ? 'something' : 'anything';
  const events = event === undefined ? nothing : namesOfEvents(event);
  const where = filter === undefined ? '' : ` with ${describePart(filter, true)}`;
  return `${done} ${events}${where}${often}${within}`;
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
      `created${betweenWords({ from: createdFrom ?? undefined, to: createdTo ?? undefined })}`,
    (seenFrom ?? seenTo) != null && `seen${betweenWords({ from: seenFrom ?? undefined, to: seenTo ?? undefined })}`,
  ].filter(Boolean);
  return words.length === 0 ? 'is a contact' : words.join(' and ');
};

const wordsOf = (condition: Condition, isPart: boolean): string => {
  const { is, isNot, contains, exists, lessThan, greaterThan, event, contact, segment, not, and, or, did } = condition;
  const { personFirst, attrID = personFirst, matches } = condition;
  if (attrID !== undefined) {
    const name = personFirst === undefined ? attributeName(attrID) : firstName(attrID);
    const values = (input: unknown) => joinWithOr([input].flat().map((value) => valueName(attrID, String(value))));
    const verb = isPart ? '' : 'is ';
    if (is !== undefined) return `${name} ${verb}${values(is)}`;
    if (isNot !== undefined) return `${name} ${verb}not ${values(isNot)}`;
    if (contains !== undefined) return `${name} ${isPart ? 'containing' : 'contains'} ${contains}`;
    if (matches !== undefined) return `${name} ${isPart ? 'matching' : 'matches'} ${matches}`;
    if (exists !== undefined) return `${isPart ? '' : 'has '}${exists ? '' : 'no '}${name}`;
    if (lessThan !== undefined) return `${name} ${verb}below ${lessThan}`;
    return `${name} ${verb}above ${greaterThan}`;
  }
  if (event !== undefined) return `Event is ${namesOfEvents(event)}`;
  if (segment !== undefined) return `Segment ${segment}`;
  if (not?.did !== undefined) return didWords(not.did, false);
  if (not !== undefined) return `not (${describePart(not, isPart)})`;
  if (and !== undefined) return joinedWords(and, 'and', isPart);
  if (or !== undefined) return joinedWords(or, 'or', isPart);
  if (did !== undefined) return didWords(did, true);
  return contact === undefined ? JSON.stringify(condition) : contactWords(contact);
};
