import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newMigratedDatabase } from '../../../../test/fixtures/postgres/databases.ts';
import { type ConnectionPool, openPool } from './connection.ts';
import { joinReads, textOf } from './joined-reads.ts';

let pool: ConnectionPool;
beforeAll(async () => {
  pool = openPool(await newMigratedDatabase(), 1);
});
afterAll(() => pool.close());

test('several statements become one, each with parameters of its own besides the account', () => {
  const { sql, tables } = joinReads(
    [
      'SELECT contact FROM contact_name WHERE account = $1 AND "contactUUID" = $2',
      'SELECT c.contact FROM contact c JOIN "user" AS u ON u.account = $1 WHERE c.account = $1 AND u."user" % 10 = $3 AND c.contact = $2',
      'SELECT account FROM contact_name WHERE account = $1 AND contact_name.contact = $2 AND contact IS DISTINCT FROM $3',
    ],
    [2, 3, 3],
  );
  expect(tables).toEqual(['"contact_name"', '"contact"', '"user"']);
  expect(sql.split(', (SELECT coalesce')).toEqual([
    expect.stringContaining(
      'FROM (SELECT contact FROM %1$s AS "contact_name" WHERE account = $1 AND "contactUUID" = $2)',
    ),
    expect.stringContaining(
      'FROM %2$s c JOIN %3$s AS u ON u.account = $1 WHERE c.account = $1 AND u."user" %% 10 = $4 AND c.contact = $3)',
    ),
    expect.stringContaining(
      'FROM %1$s AS "contact_name" WHERE account = $1 AND contact_name.contact = $5 AND contact IS DISTINCT FROM $6)',
    ),
  ]);
});

test('other texts, other tables and other numbers of reads have other keys', () => {
  const text = 'SELECT one.account FROM contact AS one WHERE one.account = $1';
  const keys = [[text], [text, text], [`${text} LIMIT 1`], [text.replace('contact', '"user"')]].map(
    (texts) => joinReads(texts, [1, 1]).key,
  );
  expect(new Set(keys).size).toBe(4);
});

test('a statement about a table that is not an account’s is refused', () => {
  expect(() => joinReads(['SELECT 1 FROM token WHERE account = $1'], [1])).toThrow('token is not a table of accounts');
  expect(() => joinReads(['SELECT 1 FROM contact JOIN "position" ON true'], [1])).toThrow('position');
});

test('PostgreSQL reads the texts of values as those values', async () => {
  const db = await pool.take(0);
  const value = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('NULL', '{}', '"', '\\', ' ', ','));
  const sql =
    'SELECT $1::text AS one, $2::text[] AS all, $3::bigint[] AS numbers, $4::bytea[] AS bytes, $5::text[] AS given';
  try {
    await fc.assert(
      fc.asyncProperty(
        value,
        fc.array(fc.option(value)),
        fc.array(fc.maxSafeInteger()),
        fc.array(fc.uint8Array()),
        async (one, all, numbers, bytes) => {
          const free = (text: string) => text.replaceAll('\0', '');
          const sent = {
            one: free(one),
            all: all.map((text) => text && free(text)),
            numbers,
            bytes: bytes.map((each) => Buffer.from(each)),
          };
          const { given, ...read } = await db.one<typeof sent & { given: (string | null)[] }>(sql, [
            ...Object.values(sent).map(textOf),
            textOf([sent.one, null, textOf(sent.all)]),
          ]);
          expect({ ...read, numbers: read.numbers.map(Number) }).toEqual(sent);
          expect(given).toEqual([sent.one, null, textOf(sent.all)]);
        },
      ),
    );
  } finally {
    db.release(false);
  }
});
