import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newDatabase } from '../../../../test/fixtures/postgres/databases.ts';
import { bigints, byteas, integers, texts, uuids } from './arrays.ts';

let client: pg.Client;
beforeAll(async () => {
  client = new pg.Client(await newDatabase());
  await client.connect();
});
afterAll(() => client.end());

const same = <Value>(value: Value): Value => value;

/** What PostgreSQL makes of an array, each of its values as text. */
const toldBy = async (type: string, array: Buffer): Promise<(string | null)[]> => {
  const { told } = (await client.query(`SELECT ($1::${type}[])::text[] AS told`, [array])).rows[0];
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
  const short = ['', 'a', 'NULL', '{"}\\,', "'", "\\'; --", '\\x1F', '\u001f0a\n', 'ä€🙂'];
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
