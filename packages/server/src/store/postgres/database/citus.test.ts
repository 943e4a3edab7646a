import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { untilWaiting } from '../../../../test/fixtures/postgres/asking.ts';
import { asking, newDatabase, newMigratedDatabase } from '../../../../test/fixtures/postgres/databases.ts';
import { pretendCitus } from '../../../../test/fixtures/postgres/pretended-citus.ts';
import { migrateStore, openStore } from '../../open.ts';
import { monthSQL, repeatsSQL } from '../days/partitions.ts';
import { accountTables, localTables } from './citus.ts';
import { listServing, lockKeys, onOneConnection } from './connection.ts';

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
  expect([...localTables, ...accountTables].sort()).toEqual(await tables());
});

const readUniqueKeys = async () => {
  const keys = await asking<{ name: string; columns: string[] }>(
    databaseURL,
    `SELECT (SELECT relname FROM pg_class WHERE oid = coalesce(pg_partition_root(t.oid), t.oid)) AS name,
       (SELECT array_agg(attname::text ORDER BY nth) FROM unnest(i.indkey::integer[]) WITH ORDINALITY AS key (attnum, nth)
        JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = key.attnum) AS columns
     FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
     WHERE t.relnamespace = 'public'::regnamespace AND i.indisunique`,
  );
  return keys.filter(({ name }) => (accountTables as readonly string[]).includes(name));
};

test('every unique key of a table of accounts begins with the account, but those of repeats, which are unique without it', async () => {
  const ofAccounts = await readUniqueKeys();
  const having = new Set(ofAccounts.map(({ name }) => name));
  expect(accountTables.filter((name) => !having.has(name))).toEqual(['event']);
  for (const { name, columns } of ofAccounts) {
    if (name === 'event_repeat') expect(columns).toEqual(['holder', 'key']);
    else expect(columns[0], name).toBe('account');
  }
});

test('every row of a table of accounts says whose it is', async () => {
  const columns = await asking<{ name: string }>(
    databaseURL,
    `SELECT attrelid::regclass::text AS name FROM pg_attribute WHERE attname = 'account' AND attnotnull AND attnum > 0`,
  );
  const having = columns.map(({ name }) => name.replaceAll('"', ''));
  for (const table of accountTables) expect(having).toContain(table);
});

test('only tables of the coordinator are referred to, and only by such', async () => {
  const references = await asking<{ from: string; to: string }>(
    databaseURL,
    `SELECT conrelid::regclass::text AS from, confrelid::regclass::text AS to FROM pg_constraint WHERE contype = 'f'`,
  );
  expect(references.length).toBeGreaterThan(0);
  for (const reference of references) for (const name of Object.values(reference)) expect(localTables).toContain(name);
});

test('every statement about tables of accounts names the account', () => {
  const folder = fileURLToPath(new URL('..', import.meta.url));
  const about = new RegExp(`\\b(?:FROM|JOIN|INTO|UPDATE|USING)\\s+"?(?:${accountTables.join('|')})\\b(?! SET NULL)`);
  const texts = /`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g;
  // These are about all of a database, or one table of all accounts.
  const ofAll = /^(copy\/(export|copy)|database\/citus|doctor\/doctor|days\/partitions)\.ts$/;
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !ofAll.test(file))
    .flatMap((file) =>
      (readFileSync(join(folder, file), 'utf8').match(texts) ?? [])
        .filter((text) => about.test(text))
        .map((text) => ({ file, text })),
    );
  expect(found.length).toBeGreaterThan(100);
  expect(found.filter(({ text }) => !/\baccount\b|ofAccount/.test(text))).toEqual([]);
});

test('without Citus nothing is spread, and it is said why', async () => {
  await expect(migrateStore(databaseURL, { citus: true })).rejects.toThrow(/CREATE EXTENSION citus/);
});

test('with it, each table is spread once, however often that is asked, and not without workers unless it is told so', async () => {
  await pretendCitus(databaseURL);
  const spread = async () => {
    const rows = await asking<{ name: string }>(
      databaseURL,
      'SELECT logicalrelid::regclass::text AS name FROM pg_dist_partition',
    );
    return rows.map(({ name }) => name.replaceAll('"', '')).sort();
  };
  await expect(migrateStore(databaseURL, { citus: true })).rejects.toThrow(/no worker is registered.*citus_add_node/);
  expect(await spread()).toEqual([]);
  expect(await migrateStore(databaseURL, { citus: true, withoutWorkers: true })).toEqual({
    workers: 0,
    tables: accountTables,
  });
  expect(await spread()).toEqual([...accountTables].sort());
  // Citus wants the account in every unique key.
  await asking(databaseURL, repeatsSQL(20_001));
  const keys = await readUniqueKeys();
  expect(keys.filter(({ name }) => name === 'event_repeat')).toHaveLength(2);
  for (const { name, columns } of keys) expect(columns, name).toContain('account');
  await asking(
    databaseURL,
    `INSERT INTO pg_dist_node VALUES (true, true, 1), (true, true, 2);
     DELETE FROM pg_dist_partition WHERE logicalrelid = 'report_view'::regclass`,
  );
  expect(await migrateStore(databaseURL, { citus: true })).toEqual({ workers: 2, tables: ['report_view'] });
  expect(await migrateStore(databaseURL, { citus: true })).toEqual({ workers: 2, tables: [] });
});

test('nothing is spread while a server is connected, at first or when the lock of all writers is taken', async () => {
  const url = await newMigratedDatabase();
  await pretendCitus(url);
  const open = () => openStore({ databaseURL: url, role: 'server', onFatal: expect.unreachable as never });
  const spread = () => migrateStore(url, { citus: true, withoutWorkers: true });
  const before = await open();
  await expect(spread()).rejects.toThrow(/is connected to the database .*: stop all of them/);
  await before.close();
  expect(await asking(url, 'SELECT FROM pg_dist_partition')).toEqual([]);
  await onOneConnection(url, async (db) => {
    // Spreading waits for this lock, after it has looked for servers. This connection is no server.
    await db.script(`SELECT pg_advisory_unlock_all(), pg_advisory_lock(${lockKeys.structure})`);
    const spreading = spread();
    await Promise.race([spreading, untilWaiting(url, 1)]);
    const meanwhile = await open();
    await db.script('SELECT pg_advisory_unlock_all()');
    await expect(spreading).rejects.toThrow(/is connected to the database .*: stop all of them/);
    await meanwhile.close();
  });
  expect(await asking(url, 'SELECT FROM pg_dist_partition')).toEqual([]);
  expect(await spread()).toMatchObject({ tables: accountTables });
  // With nothing to spread, servers go on.
  const after = await open();
  expect(await spread()).toEqual({ workers: 0, tables: [] });
  await after.close();
});

test('the connections of a server that connects while tables are spread are ended, because it does not know that they are', async () => {
  const url = await newMigratedDatabase();
  await pretendCitus(url);
  const spread = () => migrateStore(url, { citus: true, withoutWorkers: true });
  const { spreading, meanwhile, ofServer } = await onOneConnection(url, async (db) => {
    await db.script('SELECT pg_advisory_unlock_all()');
    // The first table is spread when this ends.
    await db.script('BEGIN; LOCK TABLE pg_dist_partition IN SHARE MODE');
    const begun = spread().then(String, String);
    await Promise.race([begun, untilWaiting(url, 1)]);
    const others = await listServing(db);
    const server = await openStore({ databaseURL: url, role: 'server', onFatal: expect.unreachable as never });
    const own = (await listServing(db)).filter((pid) => !others.includes(pid));
    await db.commit();
    return { spreading: begun, meanwhile: server, ofServer: own };
  });
  expect(await spreading).toMatch(
    /a server or a command connected while tables were spread, and its connections were ended/,
  );
  expect(ofServer.length).toBeGreaterThan(0);
  await expect
    .poll(() => asking(url, `SELECT pid FROM pg_stat_activity WHERE pid IN (${ofServer.join(', ')})`))
    .toEqual([]);
  await meanwhile.close();
  expect(await spread()).toEqual({ workers: 0, tables: [] });
});

test('a table may take longer to be spread than a server would wait for a statement', async () => {
  const url = await newMigratedDatabase();
  await pretendCitus(url);
  await asking(
    url,
    `CREATE OR REPLACE FUNCTION create_distributed_table(regclass, text, colocate_with text) RETURNS void LANGUAGE sql AS
       'SELECT pg_sleep(36) WHERE $1 = ''event''::regclass; INSERT INTO pg_dist_partition VALUES ($1, $2)'`,
  );
  expect(await migrateStore(url, { citus: true, withoutWorkers: true })).toMatchObject({ tables: accountTables });
});

test.each([
  [
    'over a worker that does not sync',
    `ALTER DATABASE @ SET pretended.answer = 'fsync off, synchronous_commit on'`,
    /a-worker:5432: fsync off/,
  ],
  ['while it is copied into', 'CREATE TABLE copying ()', /a copy into this database is not complete/],
])('nothing is spread %s', async (_, sql, message) => {
  const url = await newMigratedDatabase();
  await pretendCitus(url);
  const [{ name } = { name: '' }] = await asking<{ name: string }>(url, 'SELECT current_database() AS name');
  await asking(url, sql.replace('@', name));
  await expect(migrateStore(url, { citus: true, withoutWorkers: true })).rejects.toThrow(message);
  expect(await asking(url, 'SELECT FROM pg_dist_partition')).toEqual([]);
});

test('a file of SQLite has no such command', async () => {
  await expect(migrateStore('sqlite:x.db', { citus: false })).rejects.toThrow(/SQLite/);
});
