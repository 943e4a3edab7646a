import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { newDatabase, newMigratedDatabase, querySQL } from '../../../../test/fixtures/postgres/databases.ts';
import { simulateCitus } from '../../../../test/fixtures/postgres/simulated-citus.ts';
import { waitForLockWaits } from '../../../../test/fixtures/postgres/sql.ts';
import { migrateStore, openStore } from '../../open.ts';
import { monthSQL, repeatsSQL } from '../days/partitions.ts';
import { accountTables } from './citus.ts';
import { listClientProcesses, lockKeys, runOnConnection } from './connection.ts';

/**
 * Tables on the coordinator. They are read before the account is known, and no request joins them with an account
 * table. They are not reference tables, because their row locks would then be taken on all machines.
 */
const localTables = [
  'account',
  'token',
  'member',
  'known_network',
  'passkey',
  'answered_challenge',
  'share_link',
  'webhook',
  'webhook_delivery',
  'webhook_audience',
  'webhook_member',
  'notification',
  'notification_mail',
  'position',
  'kept_day',
  'erased_repeat',
  'unknown_proxy',
] as const;

let databaseURL: string;
beforeAll(async () => {
  databaseURL = await newDatabase();
  await migrateStore(databaseURL, { citus: false });
  const day = 20_000;
  await querySQL(databaseURL, `${monthSQL(day)}; ${repeatsSQL(day)}`);
});

const tables = async (): Promise<string[]> => {
  const rows = await querySQL<{ relname: string }>(
    databaseURL,
    `SELECT relname FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'migration'`,
  );
  return rows.map(({ relname }) => relname).sort();
};

test('lists every table as local or distributed', async () => {
  expect([...localTables, ...accountTables].sort()).toEqual(await tables());
});

const readUniqueKeys = async () => {
  const keys = await querySQL<{ name: string; columns: string[] }>(
    databaseURL,
    `SELECT (SELECT relname FROM pg_class WHERE oid = coalesce(pg_partition_root(t.oid), t.oid)) AS name,
       (SELECT array_agg(attname::text ORDER BY nth) FROM unnest(i.indkey::integer[]) WITH ORDINALITY AS key (attnum, nth)
        JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = key.attnum) AS columns
     FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
     WHERE t.relnamespace = 'public'::regnamespace AND i.indisunique`,
  );
  return keys.filter(({ name }) => (accountTables as readonly string[]).includes(name));
};

test('has unique keys that start with the account in all account tables except event_repeat', async () => {
  const keys = await readUniqueKeys();
  const tablesWithKey = new Set(keys.map(({ name }) => name));
  expect(accountTables.filter((name) => !tablesWithKey.has(name))).toEqual(['event']);
  for (const { name, columns } of keys) {
    if (name === 'event_repeat') expect(columns).toEqual(['holder', 'key']);
    else expect(columns[0], name).toBe('account');
  }
});

test('has an account column in every account table', async () => {
  const columns = await querySQL<{ name: string }>(
    databaseURL,
    `SELECT attrelid::regclass::text AS name FROM pg_attribute WHERE attname = 'account' AND attnotnull AND attnum > 0`,
  );
  const tables = columns.map(({ name }) => name.replaceAll('"', ''));
  for (const table of accountTables) expect(tables).toContain(table);
});

test('has foreign keys only between tables on the coordinator', async () => {
  const references = await querySQL<{ from: string; to: string }>(
    databaseURL,
    `SELECT conrelid::regclass::text AS from, confrelid::regclass::text AS to FROM pg_constraint WHERE contype = 'f'`,
  );
  expect(references.length).toBeGreaterThan(0);
  for (const reference of references) for (const name of Object.values(reference)) expect(localTables).toContain(name);
});

test('includes the account in every statement on account tables', () => {
  const folder = fileURLToPath(new URL('..', import.meta.url));
  const about = new RegExp(`\\b(?:FROM|JOIN|INTO|UPDATE|USING)\\s+"?(?:${accountTables.join('|')})\\b(?! SET NULL)`);
  const texts = /`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g;
  // Excludes the files whose statements read the whole database, or one table of all accounts.
  const allAccountFiles = /^(copy\/(export|copy)|database\/citus|doctor\/doctor|days\/partitions)\.ts$/;
  const statements = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !allAccountFiles.test(file))
    .flatMap((file) =>
      (readFileSync(join(folder, file), 'utf8').match(texts) ?? [])
        .filter((text) => about.test(text))
        .map((text) => ({ file, text })),
    );
  expect(statements.length).toBeGreaterThan(100);
  expect(statements.filter(({ text }) => !/\baccount\b|ofAccount/.test(text))).toEqual([]);
});

test('refuses to distribute tables without Citus, and explains why', async () => {
  await expect(migrateStore(databaseURL, { citus: true })).rejects.toThrow(/CREATE EXTENSION citus/);
});

test('distributes each table once, no matter how often it runs, and needs a worker or an explicit option', async () => {
  await simulateCitus(databaseURL);
  const listDistributed = async () => {
    const rows = await querySQL<{ name: string }>(
      databaseURL,
      'SELECT logicalrelid::regclass::text AS name FROM pg_dist_partition',
    );
    return rows.map(({ name }) => name.replaceAll('"', '')).sort();
  };
  await expect(migrateStore(databaseURL, { citus: true })).rejects.toThrow(/no worker is registered.*citus_add_node/);
  expect(await listDistributed()).toEqual([]);
  expect(await migrateStore(databaseURL, { citus: true, withoutWorkers: true })).toEqual({
    workers: 0,
    tables: accountTables,
  });
  expect(await listDistributed()).toEqual([...accountTables].sort());
  // Citus requires every unique key to include the account.
  await querySQL(databaseURL, repeatsSQL(20_001));
  const keys = await readUniqueKeys();
  expect(keys.filter(({ name }) => name === 'event_repeat')).toHaveLength(2);
  for (const { name, columns } of keys) expect(columns, name).toContain('account');
  await querySQL(
    databaseURL,
    `INSERT INTO pg_dist_node VALUES (true, true, 1), (true, true, 2);
     DELETE FROM pg_dist_partition WHERE logicalrelid = 'report_view'::regclass`,
  );
  expect(await migrateStore(databaseURL, { citus: true })).toEqual({ workers: 2, tables: ['report_view'] });
  expect(await migrateStore(databaseURL, { citus: true })).toEqual({ workers: 2, tables: [] });
});

test('refuses to distribute tables while a server is connected, at the start and after taking the lock', async () => {
  const url = await newMigratedDatabase();
  await simulateCitus(url);
  const open = () => openStore({ databaseURL: url, role: 'server', onFatal: expect.unreachable as never });
  const spread = () => migrateStore(url, { citus: true, withoutWorkers: true });
  const before = await open();
  await expect(spread()).rejects.toThrow(/is connected to the database .*: stop all of them/);
  await before.close();
  expect(await querySQL(url, 'SELECT FROM pg_dist_partition')).toEqual([]);
  await runOnConnection(url, async (db) => {
    // The command waits for this lock after it has looked for servers, and does not count this connection as a server.
    await db.script(`SELECT pg_advisory_unlock_all(), pg_advisory_lock(${lockKeys.structure})`);
    const spreading = spread();
    await Promise.race([spreading, waitForLockWaits(url, 1)]);
    const meanwhile = await open();
    await db.script('SELECT pg_advisory_unlock_all()');
    await expect(spreading).rejects.toThrow(/is connected to the database .*: stop all of them/);
    await meanwhile.close();
  });
  expect(await querySQL(url, 'SELECT FROM pg_dist_partition')).toEqual([]);
  expect(await spread()).toMatchObject({ tables: accountTables });
  // If there is nothing to distribute, connected servers are not a problem.
  const after = await open();
  expect(await spread()).toEqual({ workers: 0, tables: [] });
  await after.close();
});

test('ends the connections of a server that connects in the meantime and assumes local tables', async () => {
  const url = await newMigratedDatabase();
  await simulateCitus(url);
  const spread = () => migrateStore(url, { citus: true, withoutWorkers: true });
  const { spreading, meanwhile, ofServer } = await runOnConnection(url, async (db) => {
    await db.script('SELECT pg_advisory_unlock_all()');
    // Blocks the distribution of the first table until this transaction commits.
    await db.script('BEGIN; LOCK TABLE pg_dist_partition IN SHARE MODE');
    const result = spread().then(String, String);
    await Promise.race([result, waitForLockWaits(url, 1)]);
    const others = await listClientProcesses(db);
    const server = await openStore({ databaseURL: url, role: 'server', onFatal: expect.unreachable as never });
    const own = (await listClientProcesses(db)).filter((pid) => !others.includes(pid));
    await db.commit();
    return { spreading: result, meanwhile: server, ofServer: own };
  });
  expect(await spreading).toMatch(
    /a server or a command connected while tables were being distributed, and its connections were ended/,
  );
  expect(ofServer.length).toBeGreaterThan(0);
  await expect
    .poll(() => querySQL(url, `SELECT pid FROM pg_stat_activity WHERE pid IN (${ofServer.join(', ')})`))
    .toEqual([]);
  await meanwhile.close();
  expect(await spread()).toEqual({ workers: 0, tables: [] });
});

test('lets the distribution of a table take longer than a server’s statement timeout', async () => {
  const url = await newMigratedDatabase();
  await simulateCitus(url);
  await querySQL(
    url,
    `CREATE OR REPLACE FUNCTION create_distributed_table(regclass, text, colocate_with text) RETURNS void LANGUAGE sql AS
       'SELECT pg_sleep(36) WHERE $1 = ''event''::regclass; INSERT INTO pg_dist_partition VALUES ($1, $2)'`,
  );
  expect(await migrateStore(url, { citus: true, withoutWorkers: true })).toMatchObject({ tables: accountTables });
});

test.each([
  [
    'when a worker does not sync its commits',
    `ALTER DATABASE @ SET pretended.answer = 'fsync off, synchronous_commit on'`,
    /a-worker:5432: fsync off/,
  ],
  ['while a copy is incomplete', 'CREATE TABLE copying ()', /a copy into this database is not complete/],
])('refuses to distribute tables %s', async (_, sql, message) => {
  const url = await newMigratedDatabase();
  await simulateCitus(url);
  const [{ name } = { name: '' }] = await querySQL<{ name: string }>(url, 'SELECT current_database() AS name');
  await querySQL(url, sql.replace('@', name));
  await expect(migrateStore(url, { citus: true, withoutWorkers: true })).rejects.toThrow(message);
  expect(await querySQL(url, 'SELECT FROM pg_dist_partition')).toEqual([]);
});

test('refuses to migrate a SQLite file', async () => {
  await expect(migrateStore('sqlite:x.db', { citus: false })).rejects.toThrow(/SQLite/);
});
