import { limits } from '@firsthand/contract/limits';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toAttributesJSON } from './attributes.ts';

const toAttributes = (input: unknown): { attrID: string; attrValue: unknown }[] => JSON.parse(toAttributesJSON(input));

test('accepts both an object keyed by attrID and the REST API’s array', () => {
  const expected = [
    { attrID: 'colour', attrValue: 'red' },
    { attrID: 'size', attrValue: '7' },
  ];
  expect(toAttributes({ colour: 'red', size: 7 })).toEqual(expected);
  expect(toAttributes(expected)).toEqual(expected);
  expect(
    toAttributes([
      { attrID: 'colour', attrValue: 'red' },
      { attrID: 'size', attrValue: 7 },
    ]),
  ).toEqual(expected);
});

test('uses the last value of a duplicate attrID', () => {
  expect(
    toAttributes([
      { attrID: 'a', attrValue: 1 },
      { attrID: 'a', attrValue: 2 },
    ]),
  ).toEqual([{ attrID: 'a', attrValue: '2' }]);
});

test('truncates attributes to the service’s limits', () => {
  const attributes = toAttributes(
    Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`${index}${'k'.repeat(100)}`, 'v'.repeat(5_000)])),
  );
  expect(attributes).toHaveLength(limits.attributesPerEvent);
  for (const { attrID, attrValue } of attributes) {
    expect(attrID).toHaveLength(limits.attrIDLength);
    expect(attrValue).toHaveLength(limits.attrValueLength);
  }
});

test('writes objects and lists unchanged, for the service to flatten', () => {
  expect(toAttributes({ size: { cm: 9 }, tags: ['a', 'b'], at: new Date(0) })).toEqual([
    { attrID: 'size', attrValue: { cm: 9 } },
    { attrID: 'tags', attrValue: ['a', 'b'] },
    { attrID: 'at', attrValue: '1970-01-01T00:00:00.000Z' },
  ]);
});

test.each(['Stone teapot', 48, true])('writes %o, which is not an object, as the attribute `value`', (input) => {
  expect(toAttributes(input)).toEqual([{ attrID: 'value', attrValue: String(input) }]);
});

test('leaves out an attribute without an attrID', () => {
  expect(toAttributes({ '': 1, a: 2 })).toEqual([{ attrID: 'a', attrValue: '2' }]);
  expect(toAttributes([{ attrValue: 1 }, null, { attrID: '', attrValue: 1 }])).toEqual([]);
});

test('accepts __proto__ as a name', () => {
  expect(toAttributes(JSON.parse('{"__proto__":"x","constructor":"y"}'))).toEqual([
    { attrID: '__proto__', attrValue: 'x' },
    { attrID: 'constructor', attrValue: 'y' },
  ]);
});

test('returns a valid array for any input, and never throws', () => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }), (input) => {
      for (const { attrID, attrValue } of toAttributes(input)) {
        expect(typeof attrID).toBe('string');
        expect(attrValue).not.toBeNull();
      }
    }),
  );
});
