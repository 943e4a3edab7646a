import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toJSONText } from './json.ts';

/** Any code point. fast-check's own unit for this takes 0.9 s per process to build a table of code points. */
const anyCharacter = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code));

describe('toJSONText', () => {
  test('writes any text so that JSON.parse restores it, except NUL', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        expect(JSON.parse(toJSONText(text))).toBe(text.replaceAll('\0', ''));
      }),
    );
  });

  test.for([
    ['drops NUL', 'a\0b', 'ab'],
    ['keeps a surrogate pair', '🎉', '🎉'],
    ['escapes control characters', '\t\r\n\x1f\x7f', '\t\r\n\x1f\x7f'],
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

  test('cuts text to the given length', () => {
    expect(toJSONText('abcdef', 3)).toBe('"abc"');
  });
});
