import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attributes, findDroppedAttributes } from './attributes.ts';
import { limits } from './limits.ts';

const parse = (sent: unknown) =>
  Object.fromEntries(attributes.parse(sent).map(({ attrID, attrValue }) => [attrID, attrValue]));
const messageOf = (sent: unknown) => attributes.safeParse(sent).error?.issues[0]?.message;

describe('attributes', () => {
  it.each([
    ['a list of attributes', [{ attrID: 'a', attrValue: 1 }], { a: '1' }],
    ['a list as JSON text', '[{"attrID":"a","attrValue":true}]', { a: 'true' }],
    ['an object keyed by attrID', { a: 'x', b: null, c: 0 }, { a: 'x', c: '0' }],
    ['a single attribute outside a list', { attrID: 'a', attrValue: 'x' }, { a: 'x' }],
    [
      'nested objects and lists',
      { a: { b: 'x', d: { e: 1 } }, c: ['y', [true]] },
      { 'a.b': 'x', 'a.d.e': '1', 'c.0': 'y', 'c.1.0': 'true' },
    ],
    ['nested values in the list', [{ attrID: 'a', attrValue: { b: 'x' } }], { 'a.b': 'x' }],
    ['nested null, treated as no value', { a: { b: null, c: 'x' } }, { 'a.c': 'x' }],
    ['a text', 'Stone teapot', { value: 'Stone teapot' }],
    ['a number', 48, { value: '48' }],
  ])('accept %s', (_, sent, expected) => {
    expect(parse(sent)).toEqual(expected);
    expect(findDroppedAttributes(sent)).toEqual([]);
  });

  it('prefer an attribute that was sent flat over a nested one, in either order', () => {
    expect(parse({ a: { b: 1 }, 'a.b': 2 })).toEqual({ 'a.b': '2' });
    expect(parse({ 'a.b': 2, a: { b: 1 } })).toEqual({ 'a.b': '2' });
    expect(findDroppedAttributes({ a: { b: 1 }, 'a.b': 2 })).toEqual(['a.b']);
  });

  it.each([
    ['[{"attrID":"a"', 'must be a JSON array; the value is text'],
    [['a'], 'must be an object with attrID and attrValue; the value is text'],
    [[{ attrID: 'a' }], 'is required'],
    [[{ attrID: 'a', attrValue: null }], expect.stringContaining('must be text of at most')],
    [{ a: 'x'.repeat(2_049) }, expect.stringContaining('must be text of at most')],
  ])('reject %j', (sent, message) => {
    expect(messageOf(sent)).toEqual(message);
  });

  it('drop and list values that exceed the limits', () => {
    const sent = {
      a: { long: 'x'.repeat(2_049), 'b,c': 1, [`${'k'.repeat(70)}`]: 1, nul: '\0', none: {}, ok: 1 },
      b: [],
    };
    expect(parse(sent)).toEqual({ 'a.ok': '1' });
    expect(findDroppedAttributes(sent)).toEqual(['a.long', 'a.b,c', `a.${'k'.repeat(62)}`, 'a.nul', 'a.none', 'b']);
  });

  it('are limited in number, and at most 20 dropped attributes are listed', () => {
    const sent = { own: 'x', list: Array.from({ length: 10_000 }, (_, nth) => nth) };
    expect(Object.keys(parse(sent))).toHaveLength(limits.attributesPerEvent);
    expect(findDroppedAttributes(sent)).toHaveLength(20);
  });

  it('drop nested values whose path would exceed the maximum length of an attrID', () => {
    const deep = `${'['.repeat(30_000)}1${']'.repeat(30_000)}`;
    const sent = { a: JSON.parse(deep), b: 'x' };
    expect(parse(sent)).toEqual({ b: 'x' });
    expect(findDroppedAttributes(sent)).toEqual([expect.stringMatching(/^a(\.0)+\.?$/)]);
  });

  it('are flat and within the limits for any JSON object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue()), (sent) => {
        const result = attributes.safeParse(sent);
        if (!result.success) return;
        expect(attributes.parse(result.data)).toEqual(result.data);
        expect(result.data.every(({ attrValue }) => typeof attrValue === 'string')).toBe(true);
      }),
    );
  });
});
