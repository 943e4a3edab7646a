// Statements about sent rows, on a PostgreSQL that pretends to have Citus: odd and even accounts are in two shards, each of which is the table itself.
import type pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { newMigratedDatabase } from '../../../../test/fixtures/postgres/databases.ts';
import { pretendCluster } from '../../../../test/fixtures/postgres/pretended-citus.ts';
import { createSite } from '../../../../test/fixtures/site.ts';
import { nextStart } from '../../../../test/fixtures/store.ts';
import { openStore } from '../../open.ts';
import { bigints, byteas, texts, uuids } from './arrays.ts';
import { onOneConnection, type TakenConnection } from './connection.ts';
import { aboutRows, inserting } from './row-statements.ts';
import { readRows, type SpreadConnection, writeIfAllReturned, writeRows } from './sent-rows.ts';

let databaseURL: string;
/** Statements run on the machine of this account. */
let account: number;
beforeAll(async () => {
  databaseURL = await newMigratedDatabase();
  await pretendCluster(databaseURL);
  const store = await openStore({ databaseURL, role: 'beside', onFatal: expect.unreachable as never });
  ({ account } = await createSite(store, { time: nextStart() }));
  await store.close();
});

type Connected = SpreadConnection & Pick<TakenConnection, 'script'>;
const connected = (work: (db: Connected) => Promise<void>) =>
  onOneConnection(databaseURL, (db) => work({ ...db, account, shardOf: (one) => one % 2 }));

interface Row {
  readonly account: number;
  readonly number: number | null;
  readonly text: string;
  readonly bytes: string;
  readonly uuid: string;
}
const echoing = (isPrepared: boolean) =>
  aboutRows(
    [
      ['number', 'bigint'],
      ['text', 'text'],
      ['bytes', 'bytea'],
      ['uuid', 'uuid'],
    ],
    ({ given, count }) =>
      `SELECT account, "number", "text", encode("bytes", 'hex') AS bytes, "uuid"::text, ${count} AS count FROM ${given}`,
    { isPrepared },
  );
const echo = (db: Connected, isPrepared: boolean, rows: readonly Row[]) => {
  const bytes = rows.map((row) => Buffer.from(row.bytes, 'hex'));
  let end = 0;
  const ends = bytes.map(({ length }) => {
    end += length;
    return end;
  });
  return readRows<Row & { count: number }>(db, {
    statement: echoing(isPrepared),
    accounts: rows.map(({ account }) => account),
    columns: [
      bigints(rows, ({ number }) => number),
      texts(rows, ({ text }) => text),
      byteas({ bytes: () => Buffer.concat(bytes), ends }),
      uuids(rows, ({ uuid }) => Buffer.from(uuid.replaceAll('-', ''), 'hex').toString('latin1')),
    ],
  });
};

const awkward = [
  '',
  'NULL',
  '{"}\\,',
  "'; DROP TABLE account; --",
  "\\'",
  'ä€🙂',
  '%1$s %s %',
  '$1',
  '\n\t\u001f\u001e',
  '\\x1F\\"',
];
const rowsOf = (count: number): Row[] =>
  Array.from({ length: count }, (_, nth) => ({
    account: 1 + ((nth * 7) % 5),
    number: [null, 2 ** 40 + nth, nth - Number.MAX_SAFE_INTEGER][nth % 3] as number | null,
    text: awkward[nth % awkward.length] as string,
    bytes: ['', '00', '5c7800ff', '27225c'][nth % 4] as string,
    uuid: `00112233-4455-6677-8899-${String(nth).padStart(12, '0')}`,
  }));
/** By shard, in the order in which they were sent. */
const ordered = (rows: readonly Row[]): Row[] =>
  [0, 1].flatMap((shard) => rows.filter((row) => row.account % 2 === shard));

const preparedIn = async (db: Connected): Promise<number> => {
  const sql = "SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'shard\\_%'";
  return (await db.one<{ count: number }>(sql)).count;
};

describe.each([
  ['prepared', true],
  ['planned each time', false],
])('statements that are %s', (_, isPrepared) => {
  // Three of five rows are in one shard: of 26 it has 16, which are read by their places, and of 426 it has 256, the most that are prepared.
  test.each([1, 2, 3, 9, 26, 27, 33, 426, 427])('get %i rows as they were sent', async (count) => {
    await connected(async (db) => {
      const rows = rowsOf(count);
      const told = await echo(db, isPrepared, rows);
      expect(told.map(({ count, ...row }) => row)).toEqual(ordered(rows));
      for (const row of told)
        expect(row.count).toBe(rows.filter(({ account }) => account % 2 === row.account % 2).length);
    });
  });
});

test('values arrive unchanged while standard_conforming_strings is off', async () => {
  await connected(async (db) => {
    await db.script('SET standard_conforming_strings = off');
    const rows = rowsOf(40);
    const told = await echo(db, true, rows);
    expect(told.map(({ count, ...row }) => row)).toEqual(ordered(rows));
  });
});

test('a session prepares a statement for a shard once for one row, once for few, and once for more', async () => {
  const manyOf = (count: number, account: number) => rowsOf(count).map((row) => ({ ...row, account }));
  await connected(async (db) => {
    for (const [odd, even, prepared] of [
      [1, 0, 1],
      [1, 1, 2],
      [2, 1, 3],
      [3, 2, 4],
      [16, 3, 4],
      [17, 2, 5],
      [256, 17, 6],
      [5, 20, 6],
    ] as const) {
      await echo(db, true, [...manyOf(odd, 1), ...manyOf(even, 2)]);
      expect(await preparedIn(db)).toBe(prepared);
    }
  });
});

test('a statement of many rows for a shard is not prepared, nor one of many bytes', async () => {
  await connected(async (db) => {
    await echo(db, true, rowsOf(427));
    expect(await preparedIn(db)).toBe(0);
    const [row] = rowsOf(1) as [Row];
    await echo(db, true, [{ ...row, bytes: '5c'.repeat(200_000) }]);
    expect(await preparedIn(db)).toBe(0);
    await echo(db, true, rowsOf(426));
    expect(await preparedIn(db)).toBe(2);
  });
});

test('what a transaction has prepared that was rolled back can be executed', async () => {
  await connected(async (db) => {
    await db.script('BEGIN');
    await echo(db, true, rowsOf(2));
    await db.script('ROLLBACK');
    expect(await echo(db, true, rowsOf(2))).toHaveLength(2);
    expect(await preparedIn(db)).toBe(1);
  });
});

const names = inserting('user_name', [
  ['userUUID', 'text'],
  ['user', 'bigint'],
]);

test('several statements are one command, and each writes its rows', async () => {
  const changed = inserting('contact_changed', [
    ['contact', 'bigint'],
    ['change', 'bigint'],
  ]);
  await connected(async (db) => {
    const accounts = [1, 2, 3];
    const numbers = () => bigints(accounts, (account) => account);
    await db.script('BEGIN');
    await writeRows(
      db,
      {
        statement: names,
        accounts,
        columns: [texts(accounts, (account) => `user-${account}`), numbers()],
      },
      { statement: changed, accounts, columns: [numbers(), numbers()] },
    );
    const told = 'SELECT account, "userUUID", "user" FROM user_name ORDER BY account';
    expect(await db.all(told)).toEqual(
      accounts.map((account) => ({ account, userUUID: `user-${account}`, user: account })),
    );
    expect(await db.all('SELECT account, contact, change FROM contact_changed ORDER BY account')).toEqual(
      accounts.map((account) => ({ account, contact: account, change: account })),
    );
    expect(await preparedIn(db)).toBe(2);
    await db.script('ROLLBACK');
  });
});

const errorOf = (work: Promise<unknown>): Promise<pg.DatabaseError> =>
  work.then(
    () => expect.fail('it has not failed'),
    (error) => error,
  );

/** Looks into all that PostgreSQL writes into its log of a row that is there already. */
const expectNoValues = ({ code, message, detail, hint, where, internalQuery }: pg.DatabaseError) => {
  expect(code).toBe('23505');
  const logged = JSON.stringify([message, detail, hint, where, internalQuery]);
  expect(logged).toContain('user_name_pkey');
  for (const value of ['user-of-1', String(2 ** 40)]) expect(logged).not.toContain(value);
};

test.each([
  ['prepared', true],
  ['planned each time', false],
])('the error of a command that fails, %s, has none of its values', async (_, isPrepared) => {
  await connected(async (db) => {
    const accounts = [1, 1, 3];
    const columns = [texts(accounts, (account) => `user-of-${account}`), bigints(accounts, () => 2 ** 40)];
    const failing = writeRows(db, { statement: { ...names, isPrepared }, accounts, columns });
    expectNoValues(await errorOf(failing));
  });
});

test('the error of a statement that returns rows has none of its values', async () => {
  const returning = inserting(
    'user_name',
    [
      ['userUUID', 'text'],
      ['user', 'bigint'],
    ],
    { end: 'RETURNING "user"' },
  );
  await connected(async (db) => {
    const accounts = [1, 1, 3];
    const columns = [texts(accounts, (account) => `user-of-${account}`), bigints(accounts, () => 2 ** 40)];
    const failing = readRows(db, { statement: returning, accounts, columns });
    expectNoValues(await errorOf(failing));
  });
});

test('statements are not taken for carried out when the trigger of shard_call is off', async () => {
  await connected(async (db) => {
    await db.script('BEGIN');
    await db.script('ALTER TABLE shard_call DISABLE TRIGGER USER');
    const columns = [texts([1], () => 'user-of-1'), bigints([1], () => 1)];
    const writing = writeRows(db, { statement: names, accounts: [1], columns });
    await expect(writing).rejects.toThrow('its trigger did not run the statements');
    await db.script('ROLLBACK');
  });
});

test.each([
  ['prepared', true],
  ['planned each time', false],
])('a command reports whether its last statement, %s, has stored all its rows', async (_, isPrepared) => {
  const changed = inserting('contact_changed', [
    ['contact', 'bigint'],
    ['change', 'bigint'],
  ]);
  const newNames = inserting(
    'user_name',
    [
      ['userUUID', 'text'],
      ['user', 'bigint'],
    ],
    { end: 'ON CONFLICT DO NOTHING RETURNING 1 AS stored' },
  );
  await connected(async (db) => {
    const accounts = [1, 2, 3];
    let change = 0;
    const store = (...sent: readonly number[]) => {
      change += 1;
      const numbers = bigints(sent, (number) => number);
      return writeIfAllReturned(
        db,
        { statement: changed, accounts, columns: [numbers, bigints(sent, () => change)] },
        {
          statement: { ...newNames, isPrepared },
          accounts,
          columns: [texts(sent, (number) => `user-${number}`), numbers],
        },
      );
    };
    await db.script('BEGIN');
    expect(await store(1, 2, 3)).toBe(true);
    expect(await store(4, 5, 6)).toBe(true);
    expect(await db.all('SELECT contact FROM contact_changed ORDER BY contact')).toEqual(
      [1, 2, 3, 4, 5, 6].map((contact) => ({ contact })),
    );
    expect(await db.all('SELECT FROM shard_call')).toEqual([]);
    for (const sent of [
      [1, 8, 9],
      [8, 2, 9],
      [8, 9, 3],
    ]) {
      await db.script('SAVEPOINT before');
      expect(await store(...sent)).toBe(false);
      await db.script('ROLLBACK TO before');
    }
    await db.script('ROLLBACK');
  });
});
