import { describe, expect, it } from 'vitest';
import { parseFields, parseMultipart } from './forms.ts';

describe('form fields', () => {
  it.each<[string, string, [string, string][]]>([
    ['nothing', '', []],
    ['a field', 'a=1', [['a', '1']]],
    [
      'fields',
      'a=1&b=2',
      [
        ['a', '1'],
        ['b', '2'],
      ],
    ],
    ['empty pairs', '&a=1&&', [['a', '1']]],
    [
      'a field without a value',
      'a&b=',
      [
        ['a', ''],
        ['b', ''],
      ],
    ],
    ['an = in a value', 'a=b=c', [['a', 'b=c']]],
    ['spaces and escapes', 'a+b=c+d%20e%2B', [['a b', 'c d e+']]],
    [
      'UTF-8',
      'a=%E2%82%AC&b=%F0%9F%8D%8B',
      [
        ['a', '€'],
        ['b', '🍋'],
      ],
    ],
    [
      'a field given twice, the last time',
      'a=1&b=2&a=3',
      [
        ['a', '3'],
        ['b', '2'],
      ],
    ],
    [
      '__proto__ as a name',
      '__proto__=1&constructor=2',
      [
        ['__proto__', '1'],
        ['constructor', '2'],
      ],
    ],
  ])('contain %s', (_, text, expected) => {
    const fields = parseFields(text, 'body');
    expect(Object.entries(fields)).toEqual(expected);
    expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
  });

  it.each(['a=%', 'a=%zz', 'a=%FF', 'a=%C3%28', '%ED%A0%80=1'])('are refused if they are not UTF-8: %s', (text) => {
    expect(() => parseFields(text, 'body')).toThrow(expect.objectContaining({ code: 'invalid_encoding' }));
  });
});

const multipart = async (data: FormData) => {
  const response = new Response(data);
  return [new Uint8Array(await response.arrayBuffer()), response.headers.get('content-type') ?? ''] as const;
};

describe('a multipart form', () => {
  it('contains fields, with the last value of repeated fields', async () => {
    const data = new FormData();
    for (const [name, value] of [
      ['a', '1'],
      ['b', '€'],
      ['a', '2'],
      ['__proto__', '3'],
    ] as const)
      data.append(name, value);
    const fields = await parseMultipart(...(await multipart(data)));
    expect(Object.entries(fields)).toEqual([
      ['a', '2'],
      ['b', '€'],
      ['__proto__', '3'],
    ]);
  });

  it('can’t contain files', async () => {
    const data = new FormData();
    data.append('a', new Blob(['x']), 'x.txt');
    const refusal = { code: 'unsupported_media_type', field: 'a' };
    await expect(parseMultipart(...(await multipart(data)))).rejects.toMatchObject(refusal);
  });

  it.each([
    ['no boundary', 'multipart/form-data', 'a=1'],
    ['another boundary', 'multipart/form-data; boundary=x', '--y\r\n\r\n--y--'],
    ['nothing', 'multipart/form-data; boundary=x', ' '],
  ])('is refused with %s', async (_, type, text) => {
    const refusal = { code: 'invalid_encoding' };
    await expect(parseMultipart(new TextEncoder().encode(text), type)).rejects.toMatchObject(refusal);
  });
});
