/** Encodes and decodes the cursors of pages: opaque to clients; inside, the name of a list and positions in it. */

import type { PeopleEnd } from '../../reports/questions.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { SearchEnd } from '../../store/store.ts';

/** The prefix of each list's cursors, with a version, so that a later form can be distinguished. */
const lists = {
  events: 'e1',
  people: 'p2',
  contacts: 'c2',
  contactsBySeen: 's1',
  audit: 'a1',
  refused: 'r1',
  held: 'h1',
} as const;
type ListName = keyof typeof lists;

/** A position of each list; null for a list that is complete. */
type Ends = readonly (number | null)[];

const notOurs = (): Refusal =>
  new Refusal('invalid_field', { field: 'cursor', message: '`cursor` must be a nextCursor of this operation' });

const encode = (list: ListName, ends: Ends): string =>
  ends.every((end) => end === null)
    ? ''
    : Buffer.from([lists[list], ...ends.map((end) => end ?? '-')].join('.')).toString('base64url');

/** The positions in a cursor of `count` lists. Throws Refusal('invalid_field') for a cursor that isn't ours. */
const decode = (list: ListName, cursor: string, count: number): Ends => {
  const [, ...texts] = Buffer.from(cursor, 'base64url')
    .toString()
    .split('.', count + 2);
  const ends = texts.map((text) => (text === '-' ? null : Number(text)));
  const isEnd = (end: number | null) => end === null || (Number.isSafeInteger(end) && end >= 0);
  if (ends.length === count && ends.every(isEnd) && encode(list, ends) === cursor) return ends;
  throw notOurs();
};

/** The cursor of the page that begins after `next`; "" if `next` is null. */
export const toCursor = (list: ListName, next: number | null): string => encode(list, [next]);

/** The end of the page before; undefined on the first page. Throws Refusal('invalid_field') for a cursor that isn't ours. */
export const parseCursor = (list: ListName, cursor: string | undefined): number | undefined =>
  cursor === undefined ? undefined : (decode(list, cursor, 1)[0] as number);

type SearchSort = 'created' | 'seen';
const listOf = (sort: SearchSort) => (sort === 'seen' ? 'contactsBySeen' : 'contacts');

/** The cursor of the page of a search after `next`; "" if `next` is null. It is of use for the same order only. */
export const toSearchCursor = (sort: SearchSort, next: SearchEnd | null): string =>
  encode(listOf(sort), next === null ? [null, null] : [next.key, next.contact]);

/** As parseCursor, for a cursor of toSearchCursor. */
export const parseSearchCursor = (sort: SearchSort, cursor: string | undefined): SearchEnd | undefined => {
  if (cursor === undefined) return undefined;
  const [key, contact] = decode(listOf(sort), cursor, 2);
  if (key == null || contact == null) throw notOurs();
  return { key, contact };
};

/** Where a list of people goes on, up to which sequence its events count, and when its first page was asked. */
interface PeoplePage {
  readonly end: PeopleEnd;
  readonly until: number;
  readonly asked: number;
}

/** No clock is beyond it: the end of the year 9999. */
const latestTime = 253_402_300_799_999;

/** The cursor of a page of people; "" if there is none. A contact is a number above zero, a user without one below. */
export const toPeopleCursor = (page: PeoplePage | null): string => {
  if (page === null) return encode('people', [null]);
  const { key, person } = page.end;
  // The key may be any number; a position is a whole one that is not negative.
  const [low, high] = new Uint32Array(Float64Array.of(key).buffer) as unknown as [number, number];
  return encode('people', [low, high, Math.abs(person), person > 0 ? 1 : 0, page.until, page.asked]);
};

/** As parseCursor, for a cursor of toPeopleCursor. */
export const parsePeopleCursor = (cursor: string | undefined): PeoplePage | undefined => {
  if (cursor === undefined) return undefined;
  const [low, high, number, isContact, until, asked] = decode('people', cursor, 6);
  if (low == null || high == null || number == null || isContact == null || until == null) throw notOurs();
  if (asked == null || asked > latestTime) throw notOurs();
  const [key = Number.NaN] = new Float64Array(Uint32Array.of(low, high).buffer);
  if (!Number.isFinite(key)) throw notOurs();
  return { end: { key, person: isContact > 0 ? number : -number }, until, asked };
};

/** The ends of the pages of a contact's claims, links and events; null for a list that is complete. */
interface HeldEnds {
  readonly claim: number | null;
  readonly link: number | null;
  readonly event: number | null;
}

/** The cursor of the page after these; "" if all lists are complete. */
export const toHeldCursor = ({ claim, link, event }: HeldEnds): string => encode('held', [claim, link, event]);

/** As parseCursor, for a cursor of toHeldCursor. */
export const parseHeldCursor = (cursor: string | undefined): HeldEnds | undefined => {
  if (cursor === undefined) return undefined;
  const [claim, link, event] = decode('held', cursor, 3) as [number | null, number | null, number | null];
  return { claim, link, event };
};
