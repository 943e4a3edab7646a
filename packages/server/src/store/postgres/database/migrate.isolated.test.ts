import { expect, test, vi } from 'vitest';
import { newDatabase, newMigratedDatabase, querySQL } from '../../../../test/fixtures/postgres/databases.ts';
import type * as Migrations from '../../migrations.ts';
import { examineStore, migrateStore, openStore } from '../../open.ts';
import { lockKeys, openPool } from './connection.ts';
import { migrate } from './migrate.ts';

/** Whether to simulate the next release, which has one more migration. */
let isNext = false;
/** The minimum duration of that migration. */
let sleepSeconds = 0;
vi.mock('../../migrations.ts', async (importOriginal) => {
  const { readMigrations, findNewestMigration } = await importOriginal<typeof Migrations>();
  const number = 1_000;
  const next = () => ({ number, sql: `CREATE TABLE next (number integer); SELECT pg_sleep(${sleepSeconds})` });
  return {
    readMigrations: (folder: URL) => [...readMigrations(folder), ...(isNext ? [next()] : [])],
    findNewestMigration: (folder: URL) => (isNext ? number : findNewestMigration(folder)),
  };
});

const open = async (databaseURL: string, role: 'server' | 'command') =>
  (await openStore({ databaseURL, role, onFatal: expect.unreachable as never })).close();
const tablesOf = async (databaseURL: string) =>
  (
    await querySQL<{ tablename: string }>(databaseURL, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
  ).map(({ tablename }) => tablename);
const schemaFinding = async (databaseURL: string) => (await examineStore(databaseURL))[1];

test('updates an older schema when a server starts, not when a command runs, and doctor reports it', async () => {
  const databaseURL = await newDatabase();
  expect(await schemaFinding(databaseURL)).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/^0; .* updates it when a server starts: make a backup first/),
  });
  await open(databaseURL, 'server');
  expect(await schemaFinding(databaseURL)).toMatchObject({ ok: true });
  const before = await querySQL(databaseURL, 'SELECT number FROM migration ORDER BY number');
  isNext = true;
  try {
    await expect(open(databaseURL, 'command')).rejects.toThrow(/older schema: start a server/);
    expect(await schemaFinding(databaseURL)).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/uses 1000 and updates it/),
    });
    expect((await examineStore(databaseURL)).map(({ name }) => name)).toEqual(['PostgreSQL', 'schema', 'backup']);
    expect(await tablesOf(databaseURL)).not.toContain('next');
    await open(databaseURL, 'server');
    await open(databaseURL, 'command');
  } finally {
    isNext = false;
  }
  expect(await tablesOf(databaseURL)).toContain('next');
  const after = await querySQL(databaseURL, 'SELECT number FROM migration ORDER BY number');
  expect(after).toEqual([...before, { number: 1_000 }]);
  expect(await examineStore(databaseURL)).toEqual([
    { name: 'database', ok: false, detail: expect.stringMatching(/written by a newer Firsthand \(schema 1000/) },
  ]);
});

test('exempts a migration, and the servers that wait for it, from the usual timeouts', async () => {
  const hurried = Object.assign(new URL(await newDatabase()), { search: '?query_timeout=5000' }).href;
  await open(hurried, 'server');
  isNext = true;
  sleepSeconds = 6;
  try {
    await Promise.all([open(hurried, 'server'), open(hurried, 'server')]);
  } finally {
    isNext = false;
    sleepSeconds = 0;
  }
  expect(await tablesOf(hurried)).toContain('next');
});

test('waits for running writes, with which it could otherwise deadlock on tables', async () => {
  const databaseURL = await newDatabase();
  await open(databaseURL, 'server');
  const writer = openPool(databaseURL, 1);
  const db = await writer.take();
  await db.script(
    `BEGIN; SELECT pg_advisory_xact_lock_shared(${lockKeys.structure}); INSERT INTO kept_day VALUES (1, true)`,
  );
  isNext = true;
  try {
    const opening = open(databaseURL, 'server');
    const waiting = "SELECT 1 AS waits FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    await expect.poll(() => querySQL(databaseURL, waiting)).toEqual([{ waits: 1 }]);
    expect(await tablesOf(databaseURL)).not.toContain('next');
    await db.commit();
    await opening;
  } finally {
    isNext = false;
    db.release(true);
    await writer.close();
  }
  expect(await tablesOf(databaseURL)).toContain('next');
});

test('needs only rights on a schema, and leaves no temporary functions in the schema', async () => {
  const databaseURL = await newDatabase();
  const name = new URL(databaseURL).pathname.slice(1);
  const role = `role_of_${name}`;
  await querySQL(
    databaseURL,
    `CREATE ROLE ${role} LOGIN PASSWORD '${role}'; REVOKE ALL ON DATABASE ${name} FROM PUBLIC;
     GRANT CONNECT ON DATABASE ${name} TO ${role}; GRANT ALL ON SCHEMA public TO ${role}`,
  );
  try {
    await open(Object.assign(new URL(databaseURL), { username: role, password: role }).href, 'server');
    const functions = "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY proname";
    expect(await querySQL(databaseURL, functions)).toEqual([
      { proname: 'has_no_writer' },
      { proname: 'held_floor' },
      { proname: 'held_floors' },
      { proname: 'note_contact' },
      { proname: 'note_contacts_of_user' },
      { proname: 'note_erased_contact' },
      { proname: 'note_erased_stretch' },
      { proname: 'note_merge' },
      { proname: 'note_owner_of_merged' },
      { proname: 'note_owner_of_user' },
      { proname: 'note_undone_import' },
      { proname: 'owner_change_now' },
      { proname: 'read_event_body' },
      { proname: 'refuse_audit_change' },
      { proname: 'refuse_audit_deletion' },
    ]);
  } finally {
    await querySQL(databaseURL, `DROP OWNED BY ${role}; DROP ROLE ${role}`);
  }
});

test('leaves a database with a conflicting table unchanged', async () => {
  const databaseURL = await newDatabase();
  await querySQL(databaseURL, 'CREATE TABLE contact (theirs text)');
  await expect(open(databaseURL, 'server')).rejects.toThrow(/cannot be served: 42P07 .*"contact"/);
  expect(await tablesOf(databaseURL)).toEqual(['contact']);

  // Checks that the connection can still be used.
  const pool = openPool(databaseURL, 1);
  const db = await pool.take();
  await expect(migrate(db)).rejects.toMatchObject({ code: '42P07' });
  expect(await db.all('SELECT * FROM contact')).toEqual([]);
  db.release(false);
  await pool.close();
});

test('reports a lost connection, and leaves nothing half done', async () => {
  const databaseURL = await newDatabase();
  const [holder, pool] = [openPool(databaseURL, 1), openPool(databaseURL, 1)];
  const [other, db] = [await holder.take(), await pool.take()];
  await other.script(`SELECT pg_advisory_lock(${lockKeys.migration})`);
  const { process } = await db.one<{ process: number }>('SELECT pg_backend_pid() AS process');
  const migrating = expect(migrate(db)).rejects.toMatchObject({ code: '57P01' });
  const waiting = `SELECT 1 AS waits FROM pg_stat_activity WHERE pid = ${process} AND wait_event = 'advisory'`;
  await expect.poll(() => querySQL(databaseURL, waiting)).toEqual([{ waits: 1 }]);
  await querySQL(databaseURL, `SELECT pg_terminate_backend(${process})`);
  await migrating;
  db.release(true);
  other.release(true);
  await Promise.all([holder.close(), pool.close()]);
  expect(await tablesOf(databaseURL)).toEqual([]);
  await open(databaseURL, 'server');
});

test.each(['UPDATE audit SET time = 0', 'DELETE FROM audit', 'TRUNCATE audit'])(
  'makes the audit log append-only: %s',
  async (statement) => {
    const databaseURL = await newDatabase();
    await migrateStore(databaseURL, { citus: false });
    await querySQL(databaseURL, `INSERT INTO audit (action, subject, time) VALUES ('backup', '{}', 5)`);
    await expect(querySQL(databaseURL, statement)).rejects.toThrow('append-only');
  },
);

test('creates functions that use the same lock keys as this program', async () => {
  const [row] = await querySQL<{ sources: string }>(
    await newMigratedDatabase(),
    `SELECT string_agg(prosrc, ' ') AS sources FROM pg_proc WHERE pronamespace = current_schema()::regnamespace`,
  );
  const { accounts, floors } = lockKeys;
  expect(new Set(row?.sources.match(/\b\d{19}\b/g))).toEqual(new Set([accounts, floors]));
  // Checks upper halves, because functions look up locks by the upper half of their keys.
  for (const key of [accounts, floors]) expect(row?.sources).toContain(`= ${BigInt(key) >> 32n}`);
});
