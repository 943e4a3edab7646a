import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newDatabase } from '../../../../test/fixtures/postgres/databases.ts';
import { bigints, byType, byteas, integers, joinAsSQL, pick, separator, texts, uuids } from './arrays.ts';

let client: pg.Client;
beforeAll(async () => {
  client = new pg.Client(await newDatabase());
  await client.connect();
});
afterAll(() => client.end());

const same = <Value>(value: Value): Value => value;

/** What PostgreSQL makes of an array, and of SQL for it, each of its values as text. */
const toldBy = async (type: string, array: Buffer): Promise<(string | null)[]> => {
  const { told } = (await client.query(`SELECT ($1::${type}[])::text[] AS told`, [array])).rows[0];
  const sql = joinAsSQL([array, array]);
  expect(sql).not.toContain(separator);
  expect((await client.query(`SELECT (${sql}::${type}[])::text[] AS told`)).rows[0].told).toEqual([...told, ...told]);
  return told;
};

test('numbers, whatever their size and sign, and those that are not there', async () => {
  const numbers = [
    0,
    1,
    -1,
    2 ** 31,
    -(2 ** 31) - 1,
    2 ** 32,
    -(2 ** 32),
    2 ** 53 - 1,
    1 - 2 ** 53,
    null,
    1_795_300_000_000,
  ];
  const told = numbers.map((number) => (number === null ? null : String(number)));
  expect(await toldBy('bigint', bigints(numbers, same))).toEqual(told);
});

test('whole numbers of 32 bits', async () => {
  const numbers = [0, 7, -7, 2 ** 31 - 1, -(2 ** 31)];
  expect(await toldBy('integer', integers(numbers, same))).toEqual(numbers.map(String));
});

test('texts of any length and script', async () => {
  const short = ['', 'a', 'NULL', '{"}\\,', "'", "\\'; --", '\\x1F', `${separator}0a${separator}\n`, 'ä€🙂'];
  const written = [...short, 'x'.repeat(100_000), '🙂'.repeat(3_000)];
  expect(await toldBy('text', texts(written, same))).toEqual(written);
});

test('UUIDs, told as the characters of their bytes', async () => {
  const told = ['00112233-4455-6677-8899-aabbccddeeff', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];
  const keys = told.map((uuid) => Buffer.from(uuid.replaceAll('-', ''), 'hex').toString('latin1'));
  expect(await toldBy('uuid', uuids(keys, same))).toEqual(told);
});

test('bytes that lie one after the other', async () => {
  const lying = { bytes: () => Buffer.from('00ff10', 'hex'), ends: [1, 1, 3] };
  expect(await toldBy('bytea', byteas(lying))).toEqual(['\\x00', '\\x', '\\xff10']);
});

test('none at all', async () => {
  const none: never[] = [];
  for (const [type, array] of [
    ['bigint', bigints(none, same)],
    ['integer', integers(none, same)],
    ['bytea', byteas({ bytes: () => Buffer.alloc(0), ends: [] })],
    ['text', texts(none, same)],
    ['uuid', uuids(none, same)],
  ] as const) {
    expect(await toldBy(type, array)).toEqual([]);
  }
});

test('what is made of each item is its value', async () => {
  const items = [{ nth: 1 }, { nth: 2 }];
  expect(
    await toldBy(
      'bigint',
      bigints(items, ({ nth }) => nth * 10),
    ),
  ).toEqual(['10', '20']);
});

/** Returns the elements that PostgreSQL reads from arrays that are sent together. */
const rowsOf = async (arrays: readonly Buffer[]): Promise<(string | null)[][]> => {
  const { values, inRows } = byType(arrays);
  const told = inRows.map(({ sql }) => `ARRAY(SELECT (${sql})::text)`).join(', ');
  const sql = `WITH sent AS (SELECT $1::integer[], $2::bigint[], $3::bytea[], $4::uuid[], $5::text[]) SELECT ${told} FROM sent`;
  return (await client.query({ text: sql, values, rowMode: 'array' })).rows[0] ?? [];
};

test('arrays of one type are concatenated, and each finds its elements', async () => {
  const lying = { bytes: () => Buffer.from('00ff10', 'hex'), ends: [1, 1, 3] };
  const arrays = [
    bigints([1, null], same),
    integers([7, 8], same),
    bigints([] as number[], same),
    texts(['a', '', 'ä'], same),
    bigints([2 ** 40, 2 ** 40 + 1], same),
    byteas(lying),
  ];
  expect(byType(arrays).values.map((value) => value === null)).toEqual([false, false, false, true, false]);
  expect(await rowsOf(arrays)).toEqual([
    ...[['1', null], ['7', '8'], [], ['a', '', 'ä']],
    ...[
      [String(2 ** 40), String(2 ** 40 + 1)],
      ['\\x00', '\\x', '\\xff10'],
    ],
  ]);
});

test('some elements are picked, and make an array of their own', async () => {
  const array = texts(['a', '', 'ä', 'dd', 'e'], same);
  expect(pick(array, [0, 2, 3])).toEqual(texts(['a', 'ä', 'dd'], same));
  expect(pick(bigints([1, null, 3], same), [1, 2])).toEqual(bigints([null, 3], same));
  expect(pick(array, [4])).toEqual(texts(['e'], same));
});

test('elements that are all equal are sent once', async () => {
  const lying = { bytes: () => Buffer.from('ff10ff10', 'hex'), ends: [2, 4] };
  const arrays = [bigints([5, 5, 5], same), bigints([null, null], same), integers([7], same), byteas(lying)];
  const { values, inRows } = byType(arrays);
  expect(inRows.map(({ isValue }) => isValue)).toEqual([true, true, true, true]);
  expect(values[1]).toEqual(bigints([5, null], same));
  expect(await rowsOf(arrays)).toEqual([['5'], [null], ['7'], ['\\xff10']]);
});

test('elements that only look alike are all sent', async () => {
  // The bytes of the first element repeat those of the array: its length, then the same again.
  const bytes = Buffer.concat([Buffer.from([0, 0, 0, 12]), Buffer.from([1, 2, 3, 4])]);
  const lying = { bytes: () => Buffer.concat([bytes.subarray(4), bytes, bytes.subarray(4)]), ends: [12, 16] };
  expect(byType([byteas(lying)]).inRows[0]?.isValue).toBe(false);
  expect(await rowsOf([byteas(lying)])).toEqual([['\\x010203040000000c01020304', '\\x01020304']]);
});
