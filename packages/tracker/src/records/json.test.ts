import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toJSONText } from './json.ts';

/** Any code point. With fast-check's own `unit: anyCharacter` each process spends 0.9 s on a table of all of them. */
const anyCharacter = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code));

describe('toJSONText', () => {
  test('writes any text so that JSON.parse gives it back, but for NUL', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        expect(JSON.parse(toJSONText(text))).toBe(text.replaceAll('\0', ''));
      }),
    );
  });

  test.for([
    ['NUL', 'a\0b', 'ab'],
    ['a whole pair', '🎉', '🎉'],
    ['controls', '\t\r\n\x1f\x7f', '\t\r\n\x1f\x7f'],
  ])('%s', ([, text, expected]) => {
    expect(JSON.parse(toJSONText(text as string))).toBe(expected);
  });

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
  ])('writes %o as %o', ([value, expected]) => {
    if (expected === undefined) expect(() => toJSONText(value)).toThrow();
    else expect(JSON.parse(toJSONText(value))).toBe(expected);
  });

  test('cuts to the length', () => {
    expect(toJSONText('abcdef', 3)).toBe('"abc"');
  });
});
