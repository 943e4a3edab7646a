import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readJSONText, toJSONText } from './json.ts';

describe('toJSONText', () => {
  test('writes any text so that JSON.parse gives it back, but for what the service refuses', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(JSON.parse(toJSONText(text))).toBe(text.replaceAll('\0', '\ufffd'));
      }),
    );
  });

  test.for([
    ['NUL', 'a\0b', 'a\ufffdb'],
    ['half a pair at the end', '🎉'.slice(0, 1), '\ufffd'],
    ['half a pair at the start', '🎉'.slice(1), '\ufffd'],
    ['a whole pair', '🎉', '🎉'],
    ['controls', '\t\r\n\x1f\x7f', '\t\r\n\x1f\x7f'],
  ])('%s', ([, text, expected]) => {
    expect(JSON.parse(toJSONText(text as string))).toBe(expected);
  });
});

describe('readJSONText', () => {
  test.for<[unknown, string | undefined]>([
    ['text', 'text'],
    ['', ''],
    [0, '0'],
    [-1.5, '-1.5'],
    [false, 'false'],
    [10n, '10'],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
    [{ toISOString: () => '2020-01-01' }, '2020-01-01'],
    [new Date(Number.NaN), undefined],
    [{ toISOString: () => ({}) }, undefined],
    [null, undefined],
    [undefined, undefined],
    [{}, undefined],
    [[], undefined],
    [() => 1, undefined],
    [Symbol('s'), undefined],
  ])('reads %o as %o', ([value, expected]) => {
    const text = readJSONText({ value }, 'value');
    expect(text && JSON.parse(text)).toBe(expected);
  });

  test('cuts to the length, and never throws', () => {
    expect(readJSONText({ a: 'abcdef' }, 'a', 3)).toBe('"abc"');
    expect(
      readJSONText(
        {
          get a() {
            throw new Error('getter');
          },
        },
        'a',
      ),
    ).toBeUndefined();
    expect(readJSONText(null, 'a')).toBeUndefined();
  });
});
