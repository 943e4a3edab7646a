import { expect, test } from 'vitest';
import { asking, newDatabase } from '../../../test/fixtures/postgres.ts';
import { isConflict, isNotNow, openPool } from './connection.ts';

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
  ['a standby', withCode('25006'), true],
  ['nobody who listens', withCode('ECONNREFUSED'), true],
  ['no socket', withCode('ENOENT'), true],
  ['a connection that was cut', new Error('Connection terminated unexpectedly'), true],
  ['a pool that is exhausted', new Error('timeout exceeded when trying to connect'), true],
  ['a wrong statement', withCode('42601'), false],
  ['a key that is there', withCode('23505'), false],
  ['a wrong password', withCode('28P01'), false],
  ['a mistake of ours', new TypeError('x is not a function'), false],
])('%s is, or is not, a reason to try later', (_, error, isLater) => {
  expect(isNotNow(error)).toBe(isLater);
});

test('only what gave in to another is tried again at once', () => {
  expect(['40001', '40P01', '40002', '57P03'].map((code) => isConflict(withCode(code)))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
