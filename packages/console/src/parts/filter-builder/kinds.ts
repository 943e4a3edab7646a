/** The kinds of conditions in the filter builder, and a factory for each kind. */
import { account } from '../../reading/account.ts';
import type { Condition } from '../../reading/filter.ts';

export type Kind =
  | 'did'
  | 'didNot'
  | 'event'
  | 'attribute'
  | 'personFirst'
  | 'contact'
  | 'segment'
  | 'and'
  | 'or'
  | 'not';

/** In menu order. */
export const kindTitles: Readonly<Record<Kind, string>> = {
  did: 'The person did',
  didNot: 'The person did not',
  contact: 'The person is a contact with',
  event: 'The event is',
  attribute: 'The event has',
  personFirst: 'The person’s first event has',
  segment: 'Segment',
  and: 'All of',
  or: 'Any of',
  not: 'Not',
};

export const kindOf = (condition: Condition): Kind => {
  if (condition.not !== undefined) return condition.not.did === undefined ? 'not' : 'didNot';
  const kinds = ['and', 'or', 'did', 'event', 'contact', 'segment', 'personFirst'] as const;
  return kinds.find((kind) => condition[kind] !== undefined) ?? 'attribute';
};

const firstEvent = (): number | undefined => account.value?.event[0]?.eventID;

export const newCondition = (kind: Kind, segments: readonly string[]): Condition => {
  const event = firstEvent();
  const did = event === undefined ? {} : { event: [event] };
  switch (kind) {
    case 'did':
      return { did };
    case 'didNot':
      return { not: { did } };
    case 'event':
      return { event: event === undefined ? [] : [event] };
    case 'contact':
      return { contact: {} };
    case 'segment':
      return { segment: segments[0] ?? '' };
    case 'attribute':
      return { attrID: 'path', is: [''] };
    case 'personFirst':
      return { personFirst: 'utm_campaign', is: [''] };
    case 'not':
      return { not: newCondition('attribute', segments) };
    default:
      return { [kind]: [newCondition('did', segments)] };
  }
};

interface Preset {
  readonly title: string;
  readonly condition: () => Condition;
}

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
const time = (day: string): string => `${day}T00:00:00Z`;

/** The most common conditions, as templates. */
export const presets: readonly Preset[] = [
  { title: `${kindTitles.did}…`, condition: () => newCondition('did', []) },
  { title: `${kindTitles.didNot}…`, condition: () => newCondition('didNot', []) },
  {
    title: 'The person came from a campaign',
    condition: () => ({ did: { filter: { attrID: 'utm_campaign', is: [''] } } }),
  },
  {
    title: 'The person came from a source',
    condition: () => ({ did: { filter: { attrID: 'utm_source', is: [''] } } }),
  },
  { title: 'The person first came from a campaign', condition: () => newCondition('personFirst', []) },
  { title: 'The person was first seen after a date', condition: () => ({ not: { did: { to: time(daysAgo(30)) } } }) },
  { title: 'The person was last seen before a date', condition: () => ({ not: { did: { from: time(daysAgo(30)) } } }) },
  { title: `${kindTitles.contact}…`, condition: () => ({ contact: {} }) },
  { title: `${kindTitles.attribute}…`, condition: () => newCondition('attribute', []) },
  { title: `${kindTitles.event}…`, condition: () => newCondition('event', []) },
  { title: `${kindTitles.or}…`, condition: () => newCondition('or', []) },
];

const isBlank = (values: unknown): boolean => {
  const list = [values].flat();
  return list.length === 0 || list.some((value) => value === '');
};

/** Whether all required fields of a condition are filled in. */
export const isComplete = (condition: Condition): boolean => {
  const {
    and,
    or,
    not,
    did,
    event,
    segment,
    personFirst,
    attrID = personFirst,
    is,
    isNot,
    contains,
    matches,
  } = condition;
  const parts = and ?? or;
  if (parts) return parts.length > 0 && parts.every(isComplete);
  if (not) return isComplete(not);
  if (did)
    return (did.event === undefined || !isBlank(did.event)) && (did.filter === undefined || isComplete(did.filter));
  if (event !== undefined) return !isBlank(event);
  if (segment !== undefined) return segment !== '';
  if (attrID === undefined) return true;
  if (attrID === '' || contains === '' || matches === '') return false;
  return (is === undefined || !isBlank(is)) && (isNot === undefined || !isBlank(isNot));
};
