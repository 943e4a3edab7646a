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

const identity = <Value>(value: Value): Value => value;

/** Sends an array to PostgreSQL and returns its elements as text. */
const decode = async (type: string, array: Buffer): Promise<(string | null)[]> => {
  const { elements } = (await client.query(`SELECT ($1::${type}[])::text[] AS elements`, [array])).rows[0];
  return elements;
};

test('encodes bigints of any size and sign, and nulls', async () => {
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
  const expected = numbers.map((number) => (number === null ? null : String(number)));
  expect(await decode('bigint', bigints(numbers, identity))).toEqual(expected);
});

test('encodes 32-bit integers', async () => {
  const numbers = [0, 7, -7, 2 ** 31 - 1, -(2 ** 31)];
  expect(await decode('integer', integers(numbers, identity))).toEqual(numbers.map(String));
});

test('encodes strings of any length and script', async () => {
  const short = ['', 'a', 'NULL', '{"}\\,', "'", "\\'; --", '\\x1F', '\u001f0a\n', 'ä€🙂'];
  const written = [...short, 'x'.repeat(100_000), '🙂'.repeat(3_000)];
  expect(await decode('text', texts(written, identity))).toEqual(written);
});

test('encodes UUIDs from latin1 strings of their bytes', async () => {
  const expected = ['00112233-4455-6677-8899-aabbccddeeff', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];
  const keys = expected.map((uuid) => Buffer.from(uuid.replaceAll('-', ''), 'hex').toString('latin1'));
  expect(await decode('uuid', uuids(keys, identity))).toEqual(expected);
});

test('encodes concatenated bytes', async () => {
  const concatenated = { bytes: () => Buffer.from('00ff10', 'hex'), ends: [1, 1, 3] };
  expect(await decode('bytea', byteas(concatenated))).toEqual(['\\x00', '\\x', '\\xff10']);
});

test('encodes empty arrays', async () => {
  const none: never[] = [];
  for (const [type, array] of [
    ['bigint', bigints(none, identity)],
    ['integer', integers(none, identity)],
    ['bytea', byteas({ bytes: () => Buffer.alloc(0), ends: [] })],
    ['text', texts(none, identity)],
    ['uuid', uuids(none, identity)],
  ] as const) {
    expect(await decode(type, array)).toEqual([]);
  }
});

test('encodes the value that `toValue` returns for each item', async () => {
  const items = [{ nth: 1 }, { nth: 2 }];
  expect(
    await decode(
      'bigint',
      bigints(items, ({ nth }) => nth * 10),
    ),
  ).toEqual(['10', '20']);
});
