/** The breakdown dimensions. */
import type { RequestFor } from '@firsthand/client';
import { query } from '../../address.ts';
import { account, nameOf } from '../../reading/account.ts';
import {
  attributeName,
  type Condition,
  cameFrom,
  cameFromSite,
  type TimeSpan,
  valueName,
} from '../../reading/filter.ts';

export interface Dimension {
  /** The `by` field of a reportBreakdown request. */
  readonly by: RequestFor<'reportBreakdown'>['by'];
  readonly title: string;
  readonly label?: (value: string) => string;
  /** The condition that a click on a value adds. */
  readonly condition?: (value: string, during: TimeSpan) => Condition;
  /** Whether the values have a natural order. */
  readonly isOrdered?: boolean;
  readonly isOfVisit?: boolean;
}

/** Breaks down by the attribute's value in each person's earliest event that has it. */
const firstOfPerson = (title: string, attrID: string): Dimension => ({
  by: `person:first:${attrID}`,
  title,
  condition: (value) => ({ personFirst: attrID, is: [value] }),
});

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

const namedDimensions: readonly Dimension[] = [
  {
    by: 'event',
    title: 'Event',
    label: (value) => nameOf('event', value),
    condition: (value) => ({ event: [Number(value)] }),
  },
  { by: 'entryPage', title: 'Entry page', isOfVisit: true },
  { by: 'exitPage', title: 'Exit page', isOfVisit: true },
  { by: 'first:utm_campaign', title: 'Visit campaign', condition: cameFrom('utm_campaign'), isOfVisit: true },
  { by: 'first:utm_source', title: 'Visit source', condition: cameFrom('utm_source'), isOfVisit: true },
  { by: 'first:utm_medium', title: 'Visit medium', condition: cameFrom('utm_medium'), isOfVisit: true },
  { by: 'entryReferrerHost', title: 'Visit’s referring site', condition: cameFromSite, isOfVisit: true },
  firstOfPerson('Person’s first campaign', 'utm_campaign'),
  firstOfPerson('Person’s first source', 'utm_source'),
  firstOfPerson('Person’s first medium', 'utm_medium'),
  { by: 'firstReferrerHost', title: 'Person’s first referring site' },
  firstOfPerson('Person’s first page', 'path'),
  { by: 'referrerHost', title: 'Page view’s referring site' },
  {
    by: 'contactTagID',
    title: 'Contact tag',
    label: (value) => nameOf('tag', value),
    condition: (value) => ({ contact: { contactTagID: value } }),
  },
  {
    by: 'contactProfileID',
    title: 'Contact profile',
    label: (value) => nameOf('profile', value),
    condition: (value) => ({ contact: { contactProfileID: value } }),
  },
  { by: 'weekday', title: 'Weekday', label: (value) => weekdays[Number(value) - 1] ?? value, isOrdered: true },
  { by: 'hour', title: 'Hour', label: (value) => `${value}:00`, isOrdered: true },
];

const prefix = 'attr:';
const standardAttributes = [
  'path',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  '$browser',
  '$os',
  '$device',
  '$country',
];

const attribute = (attrID: string): Dimension => ({
  by: `${prefix}${attrID}`,
  title: attrID.startsWith('utm_') ? `${attributeName(attrID)} of the event` : attributeName(attrID),
  condition: (value) => ({ attrID, is: [value] }),
  label: (value) => valueName(attrID, value),
});

/** All dimensions. The first is the default. */
export const dimensions = (): Readonly<Record<string, Dimension>> => {
  const catalogueAttributes =
    account.value?.attr.flatMap(({ attrID, mergedInto }) => (mergedInto === undefined ? attrID : [])) ?? [];
  // The URL may contain an attribute that is not in the catalogue.
  const urlDimension = query.value.get('by') ?? '';
  const urlAttributes = urlDimension.startsWith(prefix) ? [urlDimension.slice(prefix.length)] : [];
  // The most common dimensions come first.
  const [event, ...others] = namedDimensions as [Dimension, ...Dimension[]];
  const attributes = [...new Set([...standardAttributes, ...catalogueAttributes, ...urlAttributes])].map(attribute);
  return Object.fromEntries([event, ...others, ...attributes].map((each) => [String(each.by), each]));
};
