/** Groups refused requests by cause and describes the causes. */
import type { RefusedRequest } from './request.ts';

export type Path = readonly (string | number)[];

export interface Cause {
  readonly key: string;
  /** `21 events from 3 pages`. */
  readonly summary: string;
  /** `the name is longer than 255 characters`. */
  readonly why: string;
  /** The invalid value in the newest request, shortened; '' if there is none. */
  readonly sent: string;
  readonly newest: string;
  /** Newest first. */
  readonly requests: readonly RefusedRequest[];
}

const fieldWords: Readonly<Record<string, string>> = {
  event: 'the list of events',
  eventID: 'the event ID',
  eventName: 'the name',
  eventTime: 'the time',
  eventUUID: 'the event’s ID',
  eventAttrArray: 'the list of attributes',
  userUUID: 'the visitor’s ID',
  contactUUID: 'the contact',
  contactEmailaddress: 'the e-mail address',
  contactExternalID: 'your ID for the contact',
  contactFirstname: 'the first name',
  contactLastname: 'the last name',
  contactTitle: 'the title',
  contactTelephone: 'the phone number',
  contactMobile: 'the mobile number',
  contactJobRole: 'the job role',
  contactProfileID: 'the profile',
  contactTagID: 'the tag',
  contactStatus: 'the status',
  attrID: 'an attribute name',
  attrValue: 'an attribute value',
};

/** `event[3].eventID` → `['event', 3, 'eventID']` */
export const pathOf = (field = ''): Path =>
  [...field.matchAll(/[^.[\]]+/g)].map(([part]) => (/^\d+$/.test(part) ? Number(part) : part));

const nameAt = (path: Path): string => {
  const name = String(path.findLast((part) => typeof part === 'string') ?? '');
  return fieldWords[name] ?? (name === '' ? 'the request' : `“${name}”`);
};

const codeWords: Readonly<Record<string, (field: string) => string>> = {
  missing_field: (field) => `${field} is missing`,
  unknown_id: (field) => `${field} is not in the catalogue`,
  id_not_for_browser: (field) => `pages are not allowed to use ${field}`,
  unknown_contact: () => 'the contact does not exist',
  email_taken: () => 'the e-mail address belongs to another contact',
  external_id_taken: () => 'your ID belongs to another contact',
  invalid_json: () => 'the request is not valid JSON',
  invalid_encoding: () => 'the request is not valid UTF-8',
};

/** The reason for a refusal, in words. API messages begin with the field's path. */
const whyOf = ({ code, field, message }: RefusedRequest['problem']): string => {
  const name = nameAt(pathOf(field));
  const words = codeWords[code];
  if (words) return words(name);
  // Remove values from messages: otherwise each value would become a separate cause.
  const rest = message
    .replace(/^`[^`]*` /, '')
    .replace(/^is \d+, a time in (\d+)\..*/, 'is in $1: it looks like seconds, not milliseconds')
    .replace(/^must be a time: .*/, 'is not a valid time');
  if (rest === 'must be an e-mail address') return 'the e-mail address is not valid';
  const longer = /^must be (?:text of )?at most ([\d,]+) characters/.exec(rest);
  if (longer) return `${name} is longer than ${longer[1]} characters`;
  return rest === message ? message : `${name} ${rest}`;
};

/** A field in words, to label an input: `Event #2: the name` for `event[1].eventName`. */
export const labelOf = (request: unknown, path: Path): string => {
  const name = nameAt(path);
  const attrID = path.at(-1) === 'attrValue' ? valueAt(request, [...path.slice(0, -1), 'attrID']) : undefined;
  const words = typeof attrID === 'string' ? `the attribute “${attrID}”` : name;
  const nth = path.find((part, index) => typeof part === 'number' && path[index - 1] === 'event');
  const text = typeof nth === 'number' ? `event #${nth + 1}: ${words}` : words;
  return text.charAt(0).toUpperCase() + text.slice(1);
};

/** Whether to offer the field for correction. Users can't know IDs that a program generated. */
export const isEditable = (path: Path): boolean =>
  path.at(-1) === 'contactProfileID' || !/ID$/.test(String(path.at(-1)));

const maxSentLength = 80;
const sentIn = ({ request, problem: { field } }: RefusedRequest): string => {
  const value = field === undefined ? undefined : valueAt(request, pathOf(field));
  const text = value === undefined || typeof value === 'object' ? '' : String(value);
  return text.length > maxSentLength ? `${text.slice(0, maxSentLength)}…` : text;
};

const nouns: Readonly<Record<string, readonly [singular: string, plural: string]>> = {
  logEvent: ['event', 'events'],
  logEvents: ['event batch', 'event batches'],
  createContact: ['contact', 'contacts'],
  updateContact: ['contact update', 'contact updates'],
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The paths of the pages that sent the events in a request. */
const pagesOf = ({ request }: RefusedRequest): string[] => {
  if (!isObject(request)) return [];
  const events = Array.isArray(request.event) ? request.event.filter(isObject) : [request];
  return events.flatMap(({ eventAttrArray }) =>
    Array.isArray(eventAttrArray)
      ? eventAttrArray
          .filter(isObject)
          .flatMap(({ attrID, attrValue }) => (attrID === 'path' && typeof attrValue === 'string' ? [attrValue] : []))
      : [],
  );
};

const summarize = (requests: readonly RefusedRequest[]): string => {
  const [singular, plural] = nouns[requests[0]?.operation ?? ''] ?? ['request', 'requests'];
  const pages = new Set(requests.flatMap(pagesOf)).size;
  const from = pages === 0 ? '' : pages === 1 ? ' from 1 page' : ` from ${pages} pages`;
  return `${requests.length} ${requests.length === 1 ? singular : plural}${from}`;
};

export const toCauses = (refused: readonly RefusedRequest[]): Cause[] => {
  const byKey = new Map<string, RefusedRequest[]>();
  for (const request of refused) {
    const key = `${request.operation} ${request.problem.code} ${whyOf(request.problem)}`;
    byKey.set(key, [...(byKey.get(key) ?? []), request]);
  }
  return [...byKey]
    .map(([key, requests]) => {
      const sorted = requests.toSorted((a, b) => b.refusedTime.localeCompare(a.refusedTime));
      const [first] = sorted as [RefusedRequest];
      return {
        key,
        summary: summarize(sorted),
        why: whyOf(first.problem),
        sent: sentIn(first),
        newest: first.refusedTime,
        requests: sorted,
      };
    })
    .sort((a, b) => b.newest.localeCompare(a.newest));
};

export const valueAt = (value: unknown, [first, ...rest]: Path): unknown => {
  if (first === undefined) return value;
  return typeof value === 'object' && value !== null
    ? valueAt((value as Record<string | number, unknown>)[first], rest)
    : undefined;
};

/** Returns a copy with the value at the path replaced. */
export const withValue = (value: unknown, [first, ...rest]: Path, next: unknown): unknown => {
  if (first === undefined) return next;
  if (Array.isArray(value) || typeof first === 'number')
    return ((value ?? []) as unknown[]).map((each, nth) => (nth === first ? withValue(each, rest, next) : each));
  return { ...((value ?? {}) as object), [first]: withValue((value as Record<string, unknown>)?.[first], rest, next) };
};

/** The paths of all primitive values in a request. */
export const leavesOf = (value: unknown, path: Path = []): Path[] => {
  if (typeof value !== 'object' || value === null) return path.length > 0 ? [path] : [];
  return Object.entries(value).flatMap(([name, inner]) =>
    leavesOf(inner, [...path, Array.isArray(value) ? Number(name) : name]),
  );
};

/** Converts typed text to the previous value's type. */
export const typedAs = (before: unknown, text: string): unknown =>
  typeof before === 'number' && text.trim() !== '' && !Number.isNaN(Number(text)) ? Number(text) : text;

/** The maximum length in the message; undefined if the length is not the cause. */
export const maxLengthIn = ({ problem }: RefusedRequest): number | undefined => {
  const limit = /must be (?:text of )?at most ([\d,]+) characters/.exec(problem.message)?.[1];
  return limit === undefined ? undefined : Number(limit.replaceAll(',', ''));
};
