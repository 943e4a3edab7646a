import { describe, expect, it } from 'vitest';
import { parseJSON } from './json.ts';

describe('parseJSON', () => {
  it.each([
    '0',
    '-0.0',
    '0e99',
    '12.5',
    '9007199254740991',
    '9007199254740992',
    '1700000000000.123',
    // With 17 digits, it becomes …7.13.
    '110206746003007.12',
    '1.1020674600300712E14',
    '0.30000000000000004',
    '0.10000000000000001',
    '1.7976931348623157e308',
    '5e-324',
    '100000000000000000000',
    '1E+2',
  ])('preserves %s', (literal) => {
    expect(parseJSON(`{"a":[${literal},"b"]}`)).toEqual({ a: [Number(literal), 'b'] });
  });

  it.each([
    '9007199254740993',
    '18446744073709551615',
    '4503599627370497.25',
    '0.1234567890123456789',
    '1e-400',
    '3e-324',
    '1e400',
    `0.${'3'.repeat(200)}`,
  ])('replaces a number that would lose digits with infinity: %s', (literal) => {
    expect(parseJSON(`[1,${literal},"${literal}",2]`)).toEqual([1, Number.POSITIVE_INFINITY, literal, 2]);
    expect(parseJSON(`-${literal}`)).toBe(Number.NEGATIVE_INFINITY);
  });

  it.each(['01', '.5', '5.', '+1', '-', '1e', '0x10', 'NaN', '-Infinity', '9007199254740993.', '--1'])(
    'rejects a malformed number: %s',
    (literal) => {
      expect(() => parseJSON(literal)).toThrow(SyntaxError);
    },
  );
});

it('parses very long numbers in linear time', () => {
  const zeros = '0'.repeat(500_000);
  expect(parseJSON(`[0.${zeros}1${zeros}1]`)).toEqual([Number.POSITIVE_INFINITY]);
});

it('rejects more than 32 levels of nesting, ignoring brackets in strings', () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  expect(parseJSON(nested(32))).toEqual(JSON.parse(nested(32)));
  expect(() => parseJSON(nested(33))).toThrow(expect.objectContaining({ name: 'TooDeepError' }));
  expect(() => parseJSON(nested(1e6))).toThrow(expect.objectContaining({ name: 'TooDeepError' }));
  expect(parseJSON(JSON.stringify(['\\"', nested(50)]))).toEqual(['\\"', nested(50)]);
});
