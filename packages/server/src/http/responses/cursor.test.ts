import { describe, expect, it } from 'vitest';
import {
  parseContactCursor,
  parseCursor,
  parseSearchCursor,
  toContactCursor,
  toCursor,
  toSearchCursor,
} from './cursor.ts';

const encoded = (text: string) => Buffer.from(text).toString('base64url');

describe('a cursor', () => {
  it.each([0, 1, 123, Number.MAX_SAFE_INTEGER])('encodes where a page ended: %i', (number) => {
    expect(parseCursor('events', toCursor('events', number))).toBe(number);
  });

  it('is empty if there is no next page, and absent on the first page', () => {
    expect(toCursor('events', null)).toBe('');
    expect(parseCursor('events', undefined)).toBeUndefined();
  });

  it.each([
    ['from another list', toCursor('audit', 5)],
    ['from a search', toSearchCursor('created', { key: 5, contact: 5 })],
    ['from a later version', encoded('e2.5')],
    ['that is not a cursor', 'hello'],
    ['with a fraction', encoded('e1.5.5')],
    ['below zero', encoded('e1.-5')],
    ['with a number that is not a safe integer', encoded('e1.9007199254740993')],
    ['without a number', encoded('e1.')],
    ['encoded differently', `${toCursor('events', 5)}=`],
    ['with a leading zero', encoded('e1.05')],
  ])('is refused: %s', (_, cursor) => {
    const refusal = { code: 'invalid_field', field: 'cursor' };
    expect(() => parseCursor('events', cursor)).toThrow(expect.objectContaining(refusal));
  });
});

describe('a cursor for several lists', () => {
  it.each([
    { claim: 1, link: null, event: 0 },
    { claim: null, link: 2, event: null },
  ])('encodes where each continues: %o', (ends) => {
    expect(parseContactCursor(toContactCursor(ends))).toEqual(ends);
  });

  it('is empty if all are complete, and absent on the first page', () => {
    expect(toContactCursor({ claim: null, link: null, event: null })).toBe('');
    expect(parseContactCursor(undefined)).toBeUndefined();
  });

  it.each([
    ['from a single list', toCursor('events', 5)],
    ['that is complete', encoded('h1.-.-.-')],
    ['with too few lists', encoded('h1.1.1')],
    ['with too many lists', encoded('h1.1.1.1.1')],
    ['with a position that is not a number', encoded('h1.1.x.1')],
    ['with a number that is not a safe integer', encoded('h1.1.1.9007199254740993')],
    ['that is not a cursor', 'hello'],
  ])('is refused: %s', (_, cursor) => {
    expect(() => parseContactCursor(cursor)).toThrow(
      expect.objectContaining({ code: 'invalid_field', field: 'cursor' }),
    );
  });
});

describe('a search cursor', () => {
  const end = { key: 1_793_525_400_000, contact: 7 };

  it('encodes where a page ended, and is valid only for the same sort order', () => {
    expect(parseSearchCursor('created', toSearchCursor('created', end))).toEqual(end);
    expect(parseSearchCursor('seen', toSearchCursor('seen', { key: 0, contact: 7 }))).toEqual({ key: 0, contact: 7 });
    expect(toSearchCursor('created', null)).toBe('');
    expect(parseSearchCursor('seen', undefined)).toBeUndefined();
  });

  it.each([
    ['from the other sort order', toSearchCursor('seen', end)],
    ['with too few numbers', encoded('c2.1')],
    ['with a completed position', encoded('c2.-.1')],
    ['from an earlier version', encoded('c1.5')],
  ])('is refused: %s', (_, cursor) => {
    expect(() => parseSearchCursor('created', cursor)).toThrow(
      expect.objectContaining({ code: 'invalid_field', field: 'cursor' }),
    );
  });
});
