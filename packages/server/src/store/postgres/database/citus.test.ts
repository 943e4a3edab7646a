import { beforeAll, expect, test } from 'vitest';
import { asking, newDatabase } from '../../../../test/fixtures/postgres/databases.ts';
import { migrateStore } from '../../open.ts';
import { monthSQL, repeatsSQL } from '../events/days.ts';
import { distributedTables, referenceTables } from './citus.ts';

let databaseURL: string;
beforeAll(async () => {
  databaseURL = await newDatabase();
  await migrateStore(databaseURL, { citus: false });
  const day = 20_000;
  await asking(databaseURL, `${monthSQL(day)}; ${repeatsSQL(day)}`);
});

const tables = async (): Promise<string[]> => {
  const rows = await asking<{ relname: string }>(
    databaseURL,
    `SELECT relname FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'migration'`,
  );
  return rows.map(({ relname }) => relname).sort();
};

test('every table has its place', async () => {
  expect([...referenceTables, ...Object.keys(distributedTables)].sort()).toEqual(await tables());
});

test('every unique key of a table that is spread has the column that says where, and it is the first of the table', async () => {
  const keys = await asking<{ name: string; columns: string[]; first: string }>(
    databaseURL,
    `SELECT (SELECT relname FROM pg_class WHERE oid = coalesce(pg_partition_root(t.oid), t.oid)) AS name,
       (SELECT array_agg(attname::text) FROM pg_attribute WHERE attrelid = t.oid AND attnum = ANY (i.indkey)) AS columns,
       (SELECT attname FROM pg_attribute WHERE attrelid = t.oid AND attnum = 1) AS first
     FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
     WHERE t.relnamespace = 'public'::regnamespace AND i.indisunique`,
  );
  expect(keys.map(({ name }) => name)).toContain('event_repeat');
  for (const { name, columns, first } of keys) {
    const column = distributedTables[name as keyof typeof distributedTables];
    if (column === undefined) continue;
    expect(columns, name).toContain(column);
    expect(first, name).toBe(column);
  }
});

test('only tables that lie everywhere are referred to, and only by such', async () => {
  const references = await asking<{ from: string; to: string }>(
    databaseURL,
    `SELECT conrelid::regclass::text AS from, confrelid::regclass::text AS to FROM pg_constraint WHERE contype = 'f'`,
  );
  expect(references.length).toBeGreaterThan(0);
  for (const reference of references)
    for (const name of Object.values(reference)) expect(referenceTables).toContain(name);
});

test('without Citus nothing is spread, and it is said why', async () => {
  await expect(migrateStore(databaseURL, { citus: true })).rejects.toThrow(/CREATE EXTENSION citus/);
});

test('with it, each table is spread once, however often that is asked', async () => {
  // What Citus has, as far as it is asked.
  await asking(
    databaseURL,
    `CREATE TABLE pg_dist_partition (logicalrelid regclass, partkey text);
     CREATE FUNCTION create_distributed_table(regclass, text) RETURNS void LANGUAGE sql
       AS 'INSERT INTO pg_dist_partition VALUES ($1, $2)';
     CREATE FUNCTION create_reference_table(regclass) RETURNS void LANGUAGE sql
       AS 'INSERT INTO pg_dist_partition VALUES ($1, NULL)'`,
  );
  await migrateStore(databaseURL, { citus: true });
  await migrateStore(databaseURL, { citus: true });
  const spread = await asking<{ name: string }>(
    databaseURL,
    'SELECT logicalrelid::regclass::text AS name FROM pg_dist_partition',
  );
  const expected = (await tables()).filter((name) => name !== 'pg_dist_partition');
  expect(spread.map(({ name }) => name.replaceAll('"', '')).sort()).toEqual(expected);
});

test('a file of SQLite has no such command', async () => {
  await expect(migrateStore('sqlite:x.db', { citus: false })).rejects.toThrow(/SQLite/);
});
