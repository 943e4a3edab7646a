import { describe, expect, it } from 'vitest';
import { parseObject } from './input.ts';

const nested = (depth: number, [open = '[', close = ']'] = []) =>
  `{"a":${open.repeat(depth - 1)}1${close.repeat(depth - 1)}}`;

describe('a JSON object', () => {
  it.each([
    ['without changes', '{"a":[1,{"b":null}]}', { a: [1, { b: null }] }],
    ['with brackets in its strings', `{"a":"${'['.repeat(100)}"}`, { a: '['.repeat(100) }],
    ['with quotes and backslashes in its strings', '{"a":"\\"\\\\","b":["\\\\\\""]}', { a: '"\\', b: ['\\"'] }],
    ['32 levels deep', nested(32), JSON.parse(nested(32))],
    ['with many adjacent lists', `{"a":[${'[],'.repeat(100)}[]]}`, { a: Array(101).fill([]) }],
  ])('is accepted %s', (_, text, expected) => {
    expect(parseObject(text)).toEqual(expected);
  });

  it('keeps __proto__ as a name', () => {
    const value = parseObject('{"__proto__":{"polluted":true},"a":1}');
    expect(Object.keys(value)).toEqual(['__proto__', 'a']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(value.polluted).toBeUndefined();
  });

  it.each([
    ['nothing', ''],
    ['a list', '[1]'],
    ['null', 'null'],
    ['text', '"a"'],
    ['half an object', '{"a":1'],
    ['an object followed by another', '{} {}'],
    ['single quotes', "{'a':1}"],
    ['NaN', '{"a":NaN}'],
    ['an unterminated string', '{"a":"'],
    ['a backslash at the end', '{"a":"\\'],
    ['lists one level too deep', nested(33)],
    ['objects one level too deep', nested(33, ['{"b":', '}'] as never)],
    ['a million levels', '['.repeat(1e6)],
    ['a million levels inside an object', `{"a":${'['.repeat(1e6)}${']'.repeat(1e6)}}`],
  ])('is not accepted: %s', (_, text) => {
    expect(() => parseObject(text)).toThrow(expect.objectContaining({ name: 'Refusal', code: 'invalid_json' }));
  });
});
