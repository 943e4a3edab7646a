import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../../../test/fixtures/command.ts';
import { asking, newDatabase, pretendOff } from '../../../../test/fixtures/postgres/databases.ts';
import { StoreUnusable } from '../../unusable.ts';
import {
  type ConnectionPool,
  isConflict,
  isNotNow,
  openListener,
  openPool,
  type TakenConnection,
} from './connection.ts';

test('a connection waits for its commits to be synced, whatever the database is set to', async () => {
  const databaseURL = await newDatabase();
  const [{ name } = { name: '' }] = await asking<{ name: string }>(databaseURL, 'SELECT current_database() AS name');
  await asking(databaseURL, `ALTER DATABASE ${name} SET synchronous_commit = off`);
  const pool = openPool(databaseURL, 1);
  const db = await pool.take();
  expect(await db.script('SHOW synchronous_commit')).toEqual([[{ synchronous_commit: 'on' }]]);
  db.release(false);
  await pool.close();
});

test('no statement is compiled, however dear a plan seems', async () => {
  const databaseURL = await newDatabase();
  // Settings in a URL take the place of ours.
  const url = new URL(databaseURL);
  url.searchParams.set('options', '-c enable_seqscan=off -c jit=on');
  const pool = openPool(String(url), 1);
  const db = await pool.take();
  expect(await db.script('SHOW jit; SHOW enable_seqscan')).toEqual([[{ jit: 'off' }], [{ enable_seqscan: 'off' }]]);
  db.release(false);
  await pool.close();
});

test.each(['PGPASSWORD', 'PGPASSFILE'])('the password of a URL without one is that of %s', async (variable) => {
  const password = `by ${variable}`;
  const file = join(temporaryFolder(), 'passwords');
  writeFileSync(file, `elsewhere:*:*:me:another\n127.0.0.1:*:none:me:${password}\n`, { mode: 0o600 });
  vi.stubEnv('PGPASSWORD', variable === 'PGPASSWORD' ? password : undefined);
  vi.stubEnv('PGPASSFILE', variable === 'PGPASSFILE' ? file : undefined);
  const sent: string[] = [];
  // AuthenticationCleartextPassword, then the client's PasswordMessage: a letter, a length, and text that ends with NUL.
  const server = createServer((socket) =>
    socket.once('data', () => {
      socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
      socket.once('data', (message) => {
        sent.push(message.subarray(5, -1).toString());
        socket.destroy();
      });
    }),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const pool = openPool(`postgres://me@127.0.0.1:${port}/none`, 1);
  await expect(pool.take()).rejects.toThrow();
  expect(sent[0]).toBe(password);
  await pool.close();
  server.close();
  vi.unstubAllEnvs();
});

test.each([
  ['fsync', /fsync = off: turn it on/],
  ['synchronous_commit', /cannot commit synchronously/],
])('a database that has %s off, whatever it is told, is not served', async (setting, says) => {
  const databaseURL = await newDatabase();
  await pretendOff(databaseURL, setting);
  const pool = openPool(databaseURL, 1);
  const taking = pool.take();
  await expect(taking).rejects.toThrow(StoreUnusable);
  await expect(taking).rejects.toThrow(says);
  await pool.close();
});

describe('a connection that is lost', () => {
  let databaseURL: string;
  let pool: ConnectionPool;
  beforeAll(async () => {
    databaseURL = await newDatabase();
    pool = openPool(databaseURL, 1);
  });
  afterAll(() => pool.close());

  const processOf = async (db: TakenConnection) =>
    (await db.one<{ process: number }>('SELECT pg_backend_pid() AS process')).process;
  /** Answers when it is gone. */
  const end = async (process: number) => {
    await asking(databaseURL, `SELECT pg_terminate_backend(${process}, 10000)`);
  };

  test('while nobody uses it is not given to the next', async () => {
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

  test('while it waits for its user fails what is asked of it next, and is replaced', async () => {
    const db = await pool.take();
    const lost = await processOf(db);
    await end(lost);
    const error = await db.script('SELECT 1').catch((thrown: unknown) => thrown);
    expect(isNotNow(error)).toBe(true);
    db.release(true);
    const next = await pool.take();
    expect(await processOf(next)).not.toBe(lost);
    next.release(false);
  });
});

test('who cannot listen is told, and keeps no connection', async () => {
  const databaseURL = await newDatabase();
  const heard = () => {};
  const lost = vi.fn();
  await expect(
    openListener('postgres://nobody@%2Fnowhere/nothing', { channel: 'c', heard, lost }),
  ).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(openListener(databaseURL, { channel: 'no channel', heard, lost })).rejects.toThrow(/syntax error/);
  expect(lost).toHaveBeenCalled();
  const open = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'firsthand'";
  await expect.poll(() => asking(databaseURL, open)).toEqual([]);
});

test('each connection that is open has a slot of its own, which is free again when it is closed', async () => {
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

const withCode = (code: string) => Object.assign(new Error('said'), { code });

test.each([
  ['a conflict', withCode('40P01'), true],
  ['a server that starts', withCode('57P03'), true],
  ['a disk that is full', withCode('53100'), true],
  ['a lock that takes too long', withCode('55P03'), true],
  [
    'a database that lets nobody in',
    Object.assign(new Error('database "shop" is not currently accepting connections'), { code: '55000' }),
    true,
  ],
  [
    'a node of a cluster whose address was just changed',
    Object.assign(new Error('worker-1:5432 is a metadata node, but is out of sync'), { code: '55000' }),
    true,
  ],
  ['an object that is not ready', withCode('55000'), false],
  ['an internal error', Object.assign(new Error('cache lookup failed for type 7'), { code: 'XX000' }), false],
  ['a standby', withCode('25006'), true],
  ['nobody who listens', withCode('ECONNREFUSED'), true],
  ['no socket', withCode('ENOENT'), true],
  ['a connection that was cut', new Error('Connection terminated unexpectedly'), true],
  ['a pool that is exhausted', new Error('timeout exceeded when trying to connect'), true],
  ['a database that does not answer', new Error('Query read timeout'), true],
  ['a wrong statement', withCode('42601'), false],
  ['a key that is there', withCode('23505'), false],
  ['a value that a check refuses', withCode('23514'), false],
  ['a wrong password', withCode('28P01'), false],
  ['a mistake of ours', new TypeError('x is not a function'), false],
])('%s is, or is not, a reason to try later', (_, error, isLater) => {
  expect(isNotNow(error)).toBe(isLater);
});

test.each([
  'could not commit transaction for shard 102008 on at least one active node',
  'connection to the remote node worker-1:5432 failed with the following error: Connection refused',
  'failure on connection marked as essential: worker-1:5432',
  'server closed the connection unexpectedly',
  'terminating connection due to administrator command',
  // libpq, over TLS and TCP
  'SSL connection has been closed unexpectedly',
  'SSL SYSCALL error: EOF detected',
  'could not receive data from server: Connection reset by peer',
  'no connection to the server',
])('a cluster that has lost a worker is a reason to try later: %s', (message) => {
  expect(isNotNow(Object.assign(new Error(message), { code: 'XX000' }))).toBe(true);
});

test('an event without a partition is a reason to try later in any language of the database', async () => {
  const databaseURL = await newDatabase();
  await asking(databaseURL, 'CREATE TABLE event (day integer) PARTITION BY RANGE (day)');
  const error = await asking(databaseURL, 'INSERT INTO event VALUES (1)').catch((cause) => cause);
  expect(isNotNow(Object.assign(error, { message: 'keine Partition' }))).toBe(true);
});

test('an event cannot be deleted, and later can, while Citus moves its shard by logical replication', async () => {
  const databaseURL = await newDatabase();
  await asking(databaseURL, 'CREATE TABLE event (sequence bigint); CREATE PUBLICATION moving FOR TABLE event');
  const error = await asking(databaseURL, 'DELETE FROM event').catch((cause) => cause);
  expect(isNotNow(error)).toBe(true);
  await asking(databaseURL, 'DROP PUBLICATION moving');
  expect(await asking(databaseURL, 'DELETE FROM event')).toEqual([]);
});

test('only what gave in to another is tried again at once', () => {
  expect(['40001', '40P01', '40002', '57P03'].map((code) => isConflict(withCode(code)))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
