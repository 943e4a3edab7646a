/** Encodes and decodes page cursors, which are opaque to clients and contain the name of a list and positions in it. */

import { limits } from '@firsthand/contract/limits';
import type { PeopleEnd } from '../../reports/queries.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { ImportPosition, SearchPosition } from '../../store/store.ts';

/** The prefix of each list's cursors, with a version to distinguish later formats. */
const lists = {
  events: 'e1',
  people: 'p2',
  contacts: 'c2',
  contactsBySeen: 's1',
  audit: 'a1',
  refused: 'r1',
  held: 'h1',
  imports: 'i1',
} as const;
type ListName = keyof typeof lists;

/** A position in each list; null for a completed list. */
type Ends = readonly (number | null)[];

const invalidCursor = (): Refusal =>
  new Refusal('invalid_field', { field: 'cursor', message: '`cursor` must be a nextCursor of this operation' });

const encode = (list: ListName, ends: Ends): string =>
  ends.every((end) => end === null)
    ? ''
    : Buffer.from([lists[list], ...ends.map((end) => end ?? '-')].join('.')).toString('base64url');

/**
 * Returns the positions in a cursor for `count` lists. Throws Refusal('invalid_field') for a cursor that this service
 * didn't issue.
 */
const decode = (list: ListName, cursor: string, count: number): Ends => {
  const [, ...texts] = Buffer.from(cursor, 'base64url')
    .toString()
    .split('.', count + 2);
  const ends = texts.map((text) => (text === '-' ? null : Number(text)));
  const isEnd = (end: number | null) => end === null || (Number.isSafeInteger(end) && end >= 0);
  if (ends.length === count && ends.every(isEnd) && encode(list, ends) === cursor) return ends;
  throw invalidCursor();
};

/** Returns the cursor for the page after `next`; "" if `next` is null. */
export const toCursor = (list: ListName, next: number | null): string => encode(list, [next]);

/**
 * Returns the end of the previous page; undefined on the first page. Throws Refusal('invalid_field') for an invalid
 * cursor.
 */
export const parseCursor = (list: ListName, cursor: string | undefined): number | undefined =>
  cursor === undefined ? undefined : (decode(list, cursor, 1)[0] as number);

type SearchSort = 'created' | 'seen';
const listOf = (sort: SearchSort) => (sort === 'seen' ? 'contactsBySeen' : 'contacts');

/**
 * Returns the cursor for the search page after `next`; "" if `next` is null. It is valid only for the same sort order.
 */
export const toSearchCursor = (sort: SearchSort, next: SearchPosition | null): string =>
  encode(listOf(sort), next === null ? [null, null] : [next.key, next.contact]);

/** Like parseCursor, for a cursor from toSearchCursor. */
export const parseSearchCursor = (sort: SearchSort, cursor: string | undefined): SearchPosition | undefined => {
  if (cursor === undefined) return undefined;
  const [key, contact] = decode(listOf(sort), cursor, 2);
  if (key == null || contact == null) throw invalidCursor();
  return { key, contact };
};

/** Returns the cursor for the page of imports after `next`; "" if `next` is null. */
export const toImportCursor = (next: ImportPosition | null): string =>
  encode('imports', next === null ? [null, null] : [next.createdTime, next.skip]);

/** Like parseCursor, for a cursor from toImportCursor. */
export const parseImportCursor = (cursor: string | undefined): ImportPosition | undefined => {
  if (cursor === undefined) return undefined;
  const [createdTime, skip] = decode('imports', cursor, 2);
  if (createdTime == null || skip == null || skip > limits.importsPerAccount) throw invalidCursor();
  return { createdTime, skip };
};

interface PeoplePage {
  readonly end: PeopleEnd;
  /** The last sequence number that the pages include. */
  readonly until: number;
  /** When the first page was requested. */
  readonly firstPageTime: number;
}

/** The end of the year 9999. */
const maxTime = 253_402_300_799_999;

/**
 * Returns the cursor for a page of people; "" if there is none. A contact is a positive number, and a user without a
 * contact a negative number.
 */
export const toPeopleCursor = (page: PeoplePage | null): string => {
  if (page === null) return encode('people', [null]);
  const { key, person } = page.end;
  // Cursors hold only non-negative integers, but the key can be any double, so it is sent as two 32-bit halves.
  const [low, high] = new Uint32Array(Float64Array.of(key).buffer) as unknown as [number, number];
  return encode('people', [low, high, Math.abs(person), person > 0 ? 1 : 0, page.until, page.firstPageTime]);
};

/** Like parseCursor, for a cursor from toPeopleCursor. */
export const parsePeopleCursor = (cursor: string | undefined): PeoplePage | undefined => {
  if (cursor === undefined) return undefined;
  const [low, high, number, isContact, until, firstPageTime] = decode('people', cursor, 6);
  if (low == null || high == null || number == null || isContact == null || until == null) throw invalidCursor();
  if (firstPageTime == null || firstPageTime > maxTime) throw invalidCursor();
  const [key = Number.NaN] = new Float64Array(Uint32Array.of(low, high).buffer);
  if (!Number.isFinite(key)) throw invalidCursor();
  return { end: { key, person: isContact > 0 ? number : -number }, until, firstPageTime };
};

/** The positions at which the current pages of a contact's claims, links and events end; null for a completed list. */
interface ContactListEnds {
  readonly claim: number | null;
  readonly link: number | null;
  readonly event: number | null;
}

/** Returns the cursor for the next page; "" if all lists are complete. */
export const toContactCursor = ({ claim, link, event }: ContactListEnds): string =>
  encode('held', [claim, link, event]);

/** Like parseCursor, for a cursor from toContactCursor. */
export const parseContactCursor = (cursor: string | undefined): ContactListEnds | undefined => {
  if (cursor === undefined) return undefined;
  const [claim, link, event] = decode('held', cursor, 3) as [number | null, number | null, number | null];
  return { claim, link, event };
};
