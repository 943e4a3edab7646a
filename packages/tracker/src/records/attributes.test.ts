import { limits } from '@firsthand/contract/limits';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toAttributesJSON } from './attributes.ts';

const toAttributes = (given: unknown): { attrID: string; attrValue: unknown }[] => JSON.parse(toAttributesJSON(given));

test('takes an object by attrID and the interface’s array alike', () => {
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

test('of an attrID given twice the last value wins', () => {
  expect(
    toAttributes([
      { attrID: 'a', attrValue: 1 },
      { attrID: 'a', attrValue: 2 },
    ]),
  ).toEqual([{ attrID: 'a', attrValue: '2' }]);
});

test('keeps to the service’s limits', () => {
  const attributes = toAttributes(
    Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`${index}${'k'.repeat(100)}`, 'v'.repeat(5_000)])),
  );
  expect(attributes).toHaveLength(limits.attributesPerEvent);
  for (const { attrID, attrValue } of attributes) {
    expect(attrID).toHaveLength(limits.attrIDLength);
    expect(attrValue).toHaveLength(limits.attrValueLength);
  }
});

test('writes objects and lists as they are, for the service to flatten', () => {
  expect(toAttributes({ size: { cm: 9 }, tags: ['a', 'b'], at: new Date(0) })).toEqual([
    { attrID: 'size', attrValue: { cm: 9 } },
    { attrID: 'tags', attrValue: ['a', 'b'] },
    { attrID: 'at', attrValue: '1970-01-01T00:00:00.000Z' },
  ]);
});

test.each(['Stone teapot', 48, true])('takes %o, which is no object, for the attribute `value`', (given) => {
  expect(toAttributes(given)).toEqual([{ attrID: 'value', attrValue: String(given) }]);
});

test('leaves out an attribute without an attrID', () => {
  expect(toAttributes({ '': 1, a: 2 })).toEqual([{ attrID: 'a', attrValue: '2' }]);
  expect(toAttributes([{ attrValue: 1 }, null, { attrID: '', attrValue: 1 }])).toEqual([]);
});

test('__proto__ is a name like any other', () => {
  expect(toAttributes(JSON.parse('{"__proto__":"x","constructor":"y"}'))).toEqual([
    { attrID: '__proto__', attrValue: 'x' },
    { attrID: 'constructor', attrValue: 'y' },
  ]);
});

test('whatever it is given, it answers a valid array and does not throw', () => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }), (given) => {
      for (const { attrID, attrValue } of toAttributes(given)) {
        expect(typeof attrID).toBe('string');
        expect(attrValue).not.toBeNull();
      }
    }),
  );
});
