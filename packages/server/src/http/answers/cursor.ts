/** Cursors: opaque to clients; inside, the name of a list and a position in it. */
import { Refusal } from '../../refusal.ts';

/** The prefix of each list's cursors, with a version, so that a later form can be distinguished. */
const lists = { events: 'e1', contacts: 'c1', audit: 'a1', held: 'h1' } as const;
type ListName = keyof typeof lists;

/** The cursor of the page that begins after `next`; "" if `next` is null. */
export const toCursor = (list: ListName, next: number | null): string =>
  next === null ? '' : Buffer.from(`${lists[list]}.${next}`).toString('base64url');

const toNumber = (digits: string): number => (/^\d{1,16}$/.test(digits) ? Number(digits) : Number.NaN);

const notOurs = () =>
  new Refusal('invalid_field', { field: 'cursor', message: '`cursor` must be a nextCursor of this operation' });

/** The end of the page before; undefined on the first page. Throws Refusal('invalid_field') for a cursor that isn't ours. */
export const parseCursor = (list: ListName, cursor: string | undefined): number | undefined => {
  if (cursor === undefined) return undefined;
  const [version, digits = ''] = Buffer.from(cursor, 'base64url').toString().split('.');
  const number = toNumber(digits);
  if (version === lists[list] && Number.isSafeInteger(number) && toCursor(list, number) === cursor) return number;
  throw notOurs();
};

/** The ends of the pages of a contact's claims, links and events; null for a list that is complete. */
interface HeldEnds {
  readonly claim: number | null;
  readonly link: number | null;
  readonly event: number | null;
}

/** The cursor of the page after these; "" if all lists are complete. */
export const toHeldCursor = ({ claim, link, event }: HeldEnds): string => {
  const ends = [claim, link, event];
  if (ends.every((end) => end === null)) return '';
  return Buffer.from([lists.held, ...ends.map((end) => end ?? '-')].join('.')).toString('base64url');
};

/** As parseCursor, for a cursor of toHeldCursor. */
export const parseHeldCursor = (cursor: string | undefined): HeldEnds | undefined => {
  if (cursor === undefined) return undefined;
  const [, ...texts] = Buffer.from(cursor, 'base64url').toString().split('.', 5);
  const [claim, link, event] = texts.map((text) => (text === '-' ? null : toNumber(text)));
  const isEnd = (end: number | null | undefined) => end === null || Number.isSafeInteger(end);
  if (isEnd(claim) && isEnd(link) && isEnd(event)) {
    const ends = { claim, link, event } as HeldEnds;
    if (toHeldCursor(ends) === cursor) return ends;
  }
  throw notOurs();
};
