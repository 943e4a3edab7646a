import { describe, expect, it } from 'vitest';
import { cleanText, cleanValue } from './clean-text.ts';

describe('cleanText', () => {
  it.each([
    ['text', 'Stone teapot', 'Stone teapot'],
    ['other scripts', 'чайник 茶壺 🫖', 'чайник 茶壺 🫖'],
    ['lines', 'a\r\nb\u2028c\u2029d\te', 'a b c d e'],
    ['control characters', 'a\u0000\u001b[31mb\u007fc\u009bd', 'a [31mb c d'],
    ['bidi controls', '\u202ea\u2066b\u2069c\u200f\u061c', 'abc'],
    ['zero-width characters', 'a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg', 'abcdefg'],
    ['tag characters', `a${String.fromCodePoint(0xe0001, 0xe0041, 0xe007f)}b`, 'ab'],
    ['variation selectors', `a\ufe0f${String.fromCodePoint(0xe0100, 0xe01ef)}b`, 'ab'],
    ['fillers', 'a\u034fb\u115fc\u3164d\uffa0e', 'abcde'],
    ['half of a surrogate pair', 'a\ud83fb', 'ab'],
    ['long text cut in the middle of a surrogate pair', `${'x'.repeat(299)}🫖🫖`, `${'x'.repeat(299)}…`],
    ['long text', 'x'.repeat(301), `${'x'.repeat(300)}…`],
    ['hidden characters before text', `${'\u200b'.repeat(1_000)}a`, '…'],
  ])('cleans %s', (_, text, expected) => {
    expect(cleanText(text)).toBe(expected);
  });
});

describe('cleanValue', () => {
  it('cleans the names and values of nested objects and lists', () => {
    expect(cleanValue({ 'a\u202e': ['b\u200b', { c: 'd\n' }], n: 1, t: true, z: null })).toEqual({
      a: ['b', { c: 'd ' }],
      n: 1,
      t: true,
      z: null,
    });
  });
});
