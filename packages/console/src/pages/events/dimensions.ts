/** The dimensions of breakdowns. */
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
  /** `by` of reportBreakdown. */
  readonly by: RequestFor<'reportBreakdown'>['by'];
  readonly title: string;
  readonly label?: (value: string) => string;
  /** The condition that a click on a value adds. */
  readonly condition?: (value: string, during: TimeSpan) => Condition;
  /** Whether the values have a natural order. */
  readonly isOrdered?: boolean;
  readonly isOfVisit?: boolean;
}

/** The attribute's value in the earliest event of each person that has it. */
const firstOfPerson = (title: string, attrID: string): Dimension => ({
  by: `person:first:${attrID}`,
  title,
  condition: (value) => ({ personFirst: attrID, is: [value] }),
});

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

const words: readonly Dimension[] = [
  {
    by: 'event',
    title: 'Event',
    label: (value) => nameOf('event', value),
    condition: (value) => ({ event: [Number(value)] }),
  },
  { by: 'entryPage', title: 'Entry page of the visit', isOfVisit: true },
  { by: 'exitPage', title: 'Exit page of the visit', isOfVisit: true },
  { by: 'first:utm_campaign', title: 'Campaign of the visit', condition: cameFrom('utm_campaign'), isOfVisit: true },
  { by: 'first:utm_source', title: 'Source of the visit', condition: cameFrom('utm_source'), isOfVisit: true },
  { by: 'first:utm_medium', title: 'Medium of the visit', condition: cameFrom('utm_medium'), isOfVisit: true },
  { by: 'entryReferrerHost', title: 'Referring site of the visit', condition: cameFromSite, isOfVisit: true },
  firstOfPerson('First campaign of the person', 'utm_campaign'),
  firstOfPerson('First source of the person', 'utm_source'),
  firstOfPerson('First medium of the person', 'utm_medium'),
  { by: 'firstReferrerHost', title: 'First referring site of the person' },
  firstOfPerson('First page of the person', 'path'),
  { by: 'referrerHost', title: 'Referring site of the page view' },
  {
    by: 'contactTagID',
    title: 'Tag of the contact',
    label: (value) => nameOf('tag', value),
    condition: (value) => ({ contact: { contactTagID: value } }),
  },
  {
    by: 'contactProfileID',
    title: 'Profile of the contact',
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
  // The URL may name an attribute that is not in the catalogue.
  const urlDimension = query.value.get('by') ?? '';
  const urlAttributes = urlDimension.startsWith(prefix) ? [urlDimension.slice(prefix.length)] : [];
  // The most common ones come first.
  const [event, ...others] = words as [Dimension, ...Dimension[]];
  const attributes = [...new Set([...standardAttributes, ...catalogueAttributes, ...urlAttributes])].map(attribute);
  return Object.fromEntries([event, ...others, ...attributes].map((each) => [String(each.by), each]));
};
