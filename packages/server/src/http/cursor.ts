/** Cursors: opaque to clients, and for us a number with the list that it belongs to. */
import { Refusal } from '../refusal.ts';

/** A version in front of each, so that a later form can be told from this one. */
const lists = { events: 'e1', contacts: 'c1', audit: 'a1' } as const;
type ListName = keyof typeof lists;

/** The cursor of the page after `next`; "" when there is none. */
export const toCursor = (list: ListName, next: number | null): string =>
  next === null ? '' : Buffer.from(`${lists[list]}.${next}`).toString('base64url');

/** Where the page before ended; undefined on the first page. Throws Refusal('invalid_field') at a cursor that isn't ours. */
export const parseCursor = (list: ListName, cursor: string | undefined): number | undefined => {
  if (cursor === undefined) return undefined;
  const [version, digits = ''] = Buffer.from(cursor, 'base64url').toString().split('.');
  const number = /^\d{1,16}$/.test(digits) ? Number(digits) : Number.NaN;
  if (version === lists[list] && Number.isSafeInteger(number) && toCursor(list, number) === cursor) return number;
  throw new Refusal('invalid_field', { field: 'cursor', message: '`cursor` must be a nextCursor of this operation' });
};
