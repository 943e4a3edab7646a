import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../../../test/fixtures/command.ts';
import { newDatabase, querySQL, simulateSettingOff } from '../../../../test/fixtures/postgres/databases.ts';
import { StoreUnusable } from '../../unusable.ts';
import {
  type ConnectionPool,
  type HeldConnection,
  isConflict,
  isTransient,
  openListener,
  openPool,
} from './connection.ts';

test('waits for commits to be synced even if the database’s default is asynchronous', async () => {
  const databaseURL = await newDatabase();
  const [{ name } = { name: '' }] = await querySQL<{ name: string }>(databaseURL, 'SELECT current_database() AS name');
  await querySQL(databaseURL, `ALTER DATABASE ${name} SET synchronous_commit = off`);
  const pool = openPool(databaseURL, 1);
  const db = await pool.take();
  expect(await db.script('SHOW synchronous_commit')).toEqual([[{ synchronous_commit: 'on' }]]);
  db.release(false);
  await pool.close();
});

test('turns JIT compilation off', async () => {
  const databaseURL = await newDatabase();
  // Options in a URL override the pool's options.
  const url = new URL(databaseURL);
  url.searchParams.set('options', '-c enable_seqscan=off -c jit=on');
  const pool = openPool(String(url), 1);
  const db = await pool.take();
  expect(await db.script('SHOW jit; SHOW enable_seqscan')).toEqual([[{ jit: 'off' }], [{ enable_seqscan: 'off' }]]);
  db.release(false);
  await pool.close();
});

test.each(['PGPASSWORD', 'PGPASSFILE'])('takes the password from %s when the URL has none', async (variable) => {
  const password = `by ${variable}`;
  const file = join(temporaryFolder(), 'passwords');
  writeFileSync(file, `elsewhere:*:*:me:another\n127.0.0.1:*:none:me:${password}\n`, { mode: 0o600 });
  vi.stubEnv('PGPASSWORD', variable === 'PGPASSWORD' ? password : undefined);
  vi.stubEnv('PGPASSFILE', variable === 'PGPASSFILE' ? file : undefined);
  const passwords: string[] = [];
  // Requests the password in clear text (AuthenticationCleartextPassword). The client's PasswordMessage is a letter, a
  // length, and text that ends with NUL.
  const server = createServer((socket) =>
    socket.once('data', () => {
      socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
      socket.once('data', (message) => {
        passwords.push(message.subarray(5, -1).toString());
        socket.destroy();
      });
    }),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const pool = openPool(`postgres://me@127.0.0.1:${port}/none`, 1);
  await expect(pool.take()).rejects.toThrow();
  expect(passwords[0]).toBe(password);
  await pool.close();
  server.close();
  vi.unstubAllEnvs();
});

test.each([
  ['fsync', /fsync = off: turn it on/],
  ['synchronous_commit', /cannot commit synchronously/],
])('rejects a database that cannot turn %s on', async (setting, message) => {
  const databaseURL = await newDatabase();
  await simulateSettingOff(databaseURL, setting);
  const pool = openPool(databaseURL, 1);
  const taking = pool.take();
  await expect(taking).rejects.toThrow(StoreUnusable);
  await expect(taking).rejects.toThrow(message);
  await pool.close();
});

describe('a lost connection', () => {
  let databaseURL: string;
  let pool: ConnectionPool;
  beforeAll(async () => {
    databaseURL = await newDatabase();
    pool = openPool(databaseURL, 1);
  });
  afterAll(() => pool.close());

  const processOf = async (db: HeldConnection) =>
    (await db.one<{ process: number }>('SELECT pg_backend_pid() AS process')).process;
  /** Terminates a backend, and waits until it has ended. */
  const end = async (process: number) => {
    await querySQL(databaseURL, `SELECT pg_terminate_backend(${process}, 10000)`);
  };

  test('is not used again if it was lost while idle', async () => {
    const db = await pool.take();
    const lost = await processOf(db);
    db.release(false);
    await end(lost);
    await expect
      .poll(async () => {
        const next = await pool.take();
        const process = await processOf(next).catch(() => lost);
        next.release(process === lost);
        return process;
      })
      .not.toBe(lost);
  });

  test('fails the next statement of a transaction that used it, and is replaced', async () => {
    const db = await pool.take();
    const lost = await processOf(db);
    await end(lost);
    const error = await db.script('SELECT 1').catch((thrown: unknown) => thrown);
    expect(isTransient(error)).toBe(true);
    db.release(true);
    const next = await pool.take();
    expect(await processOf(next)).not.toBe(lost);
    next.release(false);
  });
});

test('rejects and closes the connection when it cannot listen', async () => {
  const databaseURL = await newDatabase();
  const onNotification = () => {};
  const onLost = vi.fn();
  await expect(
    openListener('postgres://nobody@%2Fnowhere/nothing', { channel: 'c', onNotification, onLost }),
  ).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(openListener(databaseURL, { channel: 'no channel', onNotification, onLost })).rejects.toThrow(
    /syntax error/,
  );
  expect(onLost).toHaveBeenCalled();
  const open = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'firsthand'";
  await expect.poll(() => querySQL(databaseURL, open)).toEqual([]);
});

test('gives each open connection its own slot, and frees the slot when the connection closes', async () => {
  const databaseURL = await newDatabase();
  const [one, other] = [openPool(databaseURL, 3), openPool(databaseURL, 3)];
  const taken = await Promise.all([one.take(), one.take(), other.take(), other.take()]);
  expect(taken.map(({ slot }) => slot).sort()).toEqual([1, 2, 3, 4]);
  const [first] = taken;
  first?.release(true);
  await expect
    .poll(async () => {
      const again = await other.take();
      again.release(true);
      return again.slot;
    })
    .toBe(first?.slot);
  for (const db of taken.slice(1)) db.release(false);
  await Promise.all([one.close(), other.close()]);
});

const withCode = (code: string) => Object.assign(new Error('failed'), { code });

test.each([
  ['a conflict', withCode('40P01'), true],
  ['a server that is starting', withCode('57P03'), true],
  ['a full disk', withCode('53100'), true],
  ['a lock timeout', withCode('55P03'), true],
  [
    'a database that accepts no connections',
    Object.assign(new Error('database "shop" is not currently accepting connections'), { code: '55000' }),
    true,
  ],
  [
    'a cluster node whose address has just changed',
    Object.assign(new Error('worker-1:5432 is a metadata node, but is out of sync'), { code: '55000' }),
    true,
  ],
  ['an object that is not ready', withCode('55000'), false],
  ['an internal error', Object.assign(new Error('cache lookup failed for type 7'), { code: 'XX000' }), false],
  ['a standby', withCode('25006'), true],
  ['a refused connection', withCode('ECONNREFUSED'), true],
  ['a missing socket', withCode('ENOENT'), true],
  ['a terminated connection', new Error('Connection terminated unexpectedly'), true],
  ['an exhausted pool', new Error('timeout exceeded when trying to connect'), true],
  ['a database that does not answer', new Error('Query read timeout'), true],
  ['a syntax error', withCode('42601'), false],
  ['a unique violation', withCode('23505'), false],
  ['a check violation', withCode('23514'), false],
  ['a wrong password', withCode('28P01'), false],
  ['a bug in this program', new TypeError('x is not a function'), false],
])('classifies %s as transient or not', (_, error, expected) => {
  expect(isTransient(error)).toBe(expected);
});

test.each([
  'could not commit transaction for shard 102008 on at least one active node',
  'connection to the remote node worker-1:5432 failed with the following error: Connection refused',
  'failure on connection marked as essential: worker-1:5432',
  'server closed the connection unexpectedly',
  'terminating connection due to administrator command',
  // libpq's messages, over TLS and TCP.
  'SSL connection has been closed unexpectedly',
  'SSL SYSCALL error: EOF detected',
  'could not receive data from server: Connection reset by peer',
  'no connection to the server',
])('treats a lost worker as transient: %s', (message) => {
  expect(isTransient(Object.assign(new Error(message), { code: 'XX000' }))).toBe(true);
});

test('treats a missing partition as transient, regardless of the message’s language', async () => {
  const databaseURL = await newDatabase();
  await querySQL(databaseURL, 'CREATE TABLE event (day integer) PARTITION BY RANGE (day)');
  const error = await querySQL(databaseURL, 'INSERT INTO event VALUES (1)').catch((cause) => cause);
  expect(isTransient(Object.assign(error, { message: 'keine Partition' }))).toBe(true);
});

test('treats a deletion that Citus blocks while it moves a shard by logical replication as transient', async () => {
  const databaseURL = await newDatabase();
  await querySQL(databaseURL, 'CREATE TABLE event (sequence bigint); CREATE PUBLICATION moving FOR TABLE event');
  const error = await querySQL(databaseURL, 'DELETE FROM event').catch((cause) => cause);
  expect(isTransient(error)).toBe(true);
  await querySQL(databaseURL, 'DROP PUBLICATION moving');
  expect(await querySQL(databaseURL, 'DELETE FROM event')).toEqual([]);
});

test('retries only serialization failures and deadlocks immediately', () => {
  expect(['40001', '40P01', '40002', '57P03'].map((code) => isConflict(withCode(code)))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
