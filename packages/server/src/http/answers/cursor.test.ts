import { describe, expect, it } from 'vitest';
import { parseCursor, parseHeldCursor, toCursor, toHeldCursor } from './cursor.ts';

const encoded = (text: string) => Buffer.from(text).toString('base64url');

describe('a cursor', () => {
  it.each([0, 1, 123, Number.MAX_SAFE_INTEGER])('says where a page ended: %i', (number) => {
    expect(parseCursor('events', toCursor('events', number))).toBe(number);
  });

  it('is empty when there is no next page, and absent on the first', () => {
    expect(toCursor('events', null)).toBe('');
    expect(parseCursor('events', undefined)).toBeUndefined();
  });

  it.each([
    ['of another list', toCursor('contacts', 5)],
    ['of a later version', encoded('e2.5')],
    ['that is no text of ours', 'hello'],
    ['with a fraction', encoded('e1.5.5')],
    ['below zero', encoded('e1.-5')],
    ['past what is exact', encoded('e1.9007199254740993')],
    ['without a number', encoded('e1.')],
    ['written in another way', `${toCursor('events', 5)}=`],
    ['with a zero in front', encoded('e1.05')],
  ])('is refused %s', (_, cursor) => {
    const refused = { code: 'invalid_field', field: 'cursor' };
    expect(() => parseCursor('events', cursor)).toThrow(expect.objectContaining(refused));
  });
});

describe('a cursor of several lists', () => {
  it.each([
    { claim: 1, link: null, event: 0 },
    { claim: null, link: 2, event: null },
  ])('says where each goes on: %o', (ends) => {
    expect(parseHeldCursor(toHeldCursor(ends))).toEqual(ends);
  });

  it('is empty when all are complete, and absent on the first page', () => {
    expect(toHeldCursor({ claim: null, link: null, event: null })).toBe('');
    expect(parseHeldCursor(undefined)).toBeUndefined();
  });

  it.each([
    ['of one list', toCursor('events', 5)],
    ['that is complete', encoded('h1.-.-.-')],
    ['with a list too few', encoded('h1.1.1')],
    ['with a list too many', encoded('h1.1.1.1.1')],
    ['with no number', encoded('h1.1.x.1')],
    ['past what is exact', encoded('h1.1.1.9007199254740993')],
    ['that is no text of ours', 'hello'],
  ])('is refused %s', (_, cursor) => {
    expect(() => parseHeldCursor(cursor)).toThrow(expect.objectContaining({ code: 'invalid_field', field: 'cursor' }));
  });
});
