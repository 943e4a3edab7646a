import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { newMigratedDatabase } from '../../../../test/fixtures/postgres/databases.ts';
import { createSite, type Site } from '../../../../test/fixtures/site.ts';
import { day, nextStart } from '../../../../test/fixtures/store.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { openStore } from '../../open.ts';
import type { Store } from '../../store.ts';
import { type ConnectionPool, lockKeys, openPool } from '../database/connection.ts';
import { migrate } from '../database/migrate.ts';
import { readSnapshot, readWithoutSnapshot, write } from './transaction.ts';

let databaseURL: string;
let pool: ConnectionPool;
beforeAll(async () => {
  databaseURL = await newMigratedDatabase();
  pool = openPool(databaseURL, 4);
  const db = await pool.take();
  await migrate(db);
  await db.script('CREATE TABLE thing (name text PRIMARY KEY, count integer NOT NULL)');
  await db.script("INSERT INTO thing VALUES ('one', 0), ('other', 0)");
  db.release(false);
});
afterAll(() => pool.close());

const countOf = async (name: string) =>
  (
    await readWithoutSnapshot(pool, 0, (db) =>
      db.get<{ count: number }>('SELECT count FROM thing WHERE name = $1', [name]),
    )
  )?.count;
const add = 'UPDATE thing SET count = count + 1 WHERE name = $1';

describe('a transaction', () => {
  test('runs again after a deadlock', async () => {
    let runs = 0;
    let go = () => {};
    const both = new Promise<void>((resolve) => {
      go = resolve;
    });
    const each = (first: string, second: string) =>
      write(pool, 'shared', 0, async (db) => {
        await db.run(add, [first]);
        runs += 1;
        if (runs >= 2) go();
        await both;
        await db.run(add, [second]);
      });
    await Promise.all([each('one', 'other'), each('other', 'one')]);
    expect([await countOf('one'), await countOf('other')]).toEqual([2, 2]);
    expect(runs).toBeGreaterThan(2);
  });

  describe('on a new day', () => {
    const time = nextStart();
    const today = Math.floor(time / day);
    const deleted = 2_000_000_000;
    let store: Store;
    let accounts: number[];
    beforeAll(async () => {
      store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
      const sites: Site[] = [];
      for (let nth = 0; nth < 4; nth += 1) sites.push(await createSite(store, { time }));
      for (const { server } of sites) await server.logAt(time, {});
      accounts = sites.map(({ account }) => account);
    });
    afterAll(() => store.close());
    afterEach(() => void vi.restoreAllMocks());

    const writeOn = (nth: number, ...of: readonly number[]) =>
      write(pool, 'shared', of, async (db) => of.map((account) => db.forAccount(account).dayOf(time + nth * day)));
    const daysOn = async () => {
      const sql = 'SELECT day FROM account_position WHERE account = ANY ($1::integer[]) ORDER BY account';
      const rows = await readWithoutSnapshot(pool, 0, (db) => db.all<{ day: number }>(sql, [accounts]));
      return rows.map((row) => row.day - today);
    };

    test('starts the day for all of the transaction’s accounts together', async () => {
      const [first, second, third] = accounts as [number, number, number];
      const taking = vi.spyOn(pool, 'take');
      expect(await writeOn(1, first, second, third)).toEqual([today + 1, today + 1, today + 1]);
      // Expects these statements: the work, the unprepared day, its partitions, the day, and the work again.
      expect(taking).toHaveBeenCalledTimes(5);
      expect(await daysOn()).toEqual([1, 1, 1, 0]);
    });

    test('starts the day only for those of its accounts that have not started it', async () => {
      await writeOn(2, accounts[0] as number);
      expect(await writeOn(2, ...accounts)).toEqual(accounts.map(() => today + 2));
      expect(await daysOn()).toEqual([2, 2, 2, 2]);
    });

    test('fails for a deleted account', async () => {
      await expect(writeOn(3, accounts[0] as number, deleted)).rejects.toThrow(`account ${deleted} was deleted`);
    });

    test('is refused quickly if one of several accounts is locked, but starts the day for the others', async () => {
      const [locked, ...others] = accounts as [number, ...number[]];
      const holder = await pool.take();
      await holder.script(`BEGIN; SELECT pg_advisory_xact_lock_shared(${BigInt(lockKeys.accounts) + BigInt(locked)})`);
      await expect(writeOn(4, ...accounts)).rejects.toMatchObject({ code: 'unavailable', cause: { code: '55P03' } });
      expect(await daysOn()).toEqual([3, 4, 4, 4]);
      // A transaction with a single account waits for the default lock timeout.
      const writing = writeOn(4, locked);
      expect(await writeOn(4, ...others)).toEqual(others.map(() => today + 4));
      await holder.rollBack();
      holder.release(false);
      expect(await writing).toEqual([today + 4]);
      expect(await daysOn()).toEqual([4, 4, 4, 4]);
    });

    test('waits for at most two locked accounts', async () => {
      const holder = await pool.take();
      const locks = accounts.map(
        (account) => `pg_advisory_xact_lock_shared(${BigInt(lockKeys.accounts) + BigInt(account)})`,
      );
      await holder.script(`BEGIN; SELECT ${locks.join(', ')}`);
      const taking = vi.spyOn(pool, 'take');
      await expect(writeOn(5, ...accounts)).rejects.toMatchObject({ code: 'unavailable' });
      // Expects these statements: the work, the day for all accounts, and the days for two single accounts.
      expect(taking).toHaveBeenCalledTimes(4);
      await holder.rollBack();
      holder.release(false);
    });
  });

  test('rolls back if it is refused, and does not call commit callbacks', async () => {
    const before = await countOf('one');
    let isCalled = false;
    const work = write(pool, 'shared', 0, async (db) => {
      await db.run(add, ['one']);
      db.whenCommitted(() => {
        isCalled = true;
      });
      throw new Refusal('unknown_user');
    });
    await expect(work).rejects.toMatchObject({ code: 'unknown_user' });
    expect([await countOf('one'), isCalled]).toEqual([before, false]);
  });

  test('continues after a refused attempt, without the attempt’s writes', async () => {
    const before = (await countOf('one')) ?? 0;
    await write(pool, 'shared', 0, async (db) => {
      await db.run(add, ['one']);
      const refused = db.attempt(async () => {
        await db.run(add, ['one']);
        throw new Refusal('unknown_user');
      });
      await expect(refused).rejects.toThrow(Refusal);
      await db.attempt(() => db.run(add, ['one']));
    });
    expect(await countOf('one')).toBe(before + 2);
  });

  test('does not commit after a failed statement, even if the work ignores the error', async () => {
    const before = await countOf('one');
    const work = write(pool, 'shared', 0, async (db) => {
      await db.run(add, ['one']);
      await db.run('SELECT 1 / 0').catch(() => {});
    });
    await expect(work).rejects.toThrow(/COMMIT with ROLLBACK/);
    expect(await countOf('one')).toBe(before);
  });

  test('rejects statements that parallel work sends after a refusal', async () => {
    const before = await countOf('one');
    let resume = () => {};
    const refused = new Promise<void>((resolve) => {
      resume = resolve;
    });
    let late: Promise<unknown> = Promise.resolve();
    const work = write(pool, 'shared', 0, async (db) => {
      late = refused.then(() => db.run(add, ['one']));
      late.catch(() => {});
      setImmediate(resume);
      throw new Refusal('unknown_user');
    });
    await expect(work).rejects.toThrow(Refusal);
    await expect(late).rejects.toThrow(/after the end of its transaction/);
    expect(await countOf('one')).toBe(before);
  });

  test('is refused as unavailable after too many conflicts', async () => {
    const before = await countOf('one');
    let tries = 0;
    const work = write(pool, 'shared', 0, async (db) => {
      tries += 1;
      await db.run(add, ['one']);
      await db.script("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$");
    });
    await expect(work).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
    expect([tries, await countOf('one')]).toEqual([10, before]);
  });

  test('rolls back as a whole when an attempt fails with an error', async () => {
    const before = await countOf('one');
    const work = write(pool, 'shared', 0, async (db) => {
      await db.run(add, ['one']);
      await db.attempt(() => db.run('SELECT 1 / 0')).catch((error: unknown) => expect(error).toBeInstanceOf(Error));
      await db.run(add, ['one']);
    });
    await expect(work).rejects.toMatchObject({ code: '22012' });
    expect(await countOf('one')).toBe(before);
  });

  test('is classified by its first error, no matter how deep in the call stack the error occurred', async () => {
    const deeply = async <Value>(depth: number, work: () => Promise<Value>): Promise<Value> =>
      depth > 0 ? deeply(depth - 1, work) : work();
    const failing = (code: string) => `DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '${code}'; END $$`;
    let tries = 0;
    const work = (code: string) => () =>
      write(pool, 'shared', 0, async (db) => {
        tries += 1;
        const fails = deeply(10, () => (tries === 1 ? db.script(failing(code)) : db.script('SELECT 1')));
        await Promise.all([fails, db.run(add, ['one'])]);
      });
    await expect(work('55P03')()).rejects.toMatchObject({ code: 'unavailable', cause: { code: '55P03' } });
    tries = 0;
    const before = await countOf('one');
    await work('40001')();
    expect([tries, await countOf('one')]).toEqual([2, (before as number) + 1]);
  });

  test('is refused with a longer Retry-After when the disk is full', async () => {
    const before = await countOf('one');
    const work = write(pool, 'shared', 0, async (db) => {
      await db.run(add, ['one']);
      await db.script("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100'; END $$");
    });
    await expect(work).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 5 });
    expect(await countOf('one')).toBe(before);
  });

  test('rolls back when its connection is lost, and does not reuse the connection', async () => {
    const before = await countOf('one');
    const single = openPool(databaseURL, 1);
    const lost = write(single, 'shared', 0, async (db) => {
      await db.run(add, ['one']);
      await db.run('SELECT pg_terminate_backend(pg_backend_pid())');
    });
    await expect(lost).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
    expect(await countOf('one')).toBe(before);
    await write(single, 'shared', 0, (db) => db.run(add, ['one']));
    expect(await countOf('one')).toBe((before as number) + 1);
    await single.close();
  });

  test('waits for other transactions to end if it is exclusive', async () => {
    const order: string[] = [];
    let end = () => {};
    const first = write(pool, 'shared', 0, async (db) => {
      await db.run(add, ['one']);
      order.push('shared');
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      order.push('ended');
    });
    await expect.poll(() => order).toEqual(['shared']);
    const second = write(pool, 'exclusive', 0, async () => order.push('exclusive'));
    end();
    await Promise.all([first, second]);
    expect(order).toEqual(['shared', 'ended', 'exclusive']);
  });
});

test('reads from a single snapshot', async () => {
  const [first, second] = await readSnapshot(pool, 'now', 0, async (db) => {
    const readCount = (nth: string) =>
      db.get<{ count: number }>('SELECT count FROM thing WHERE name = $1 OR name = $2', ['one', nth]);
    const before = await readCount('first');
    await write(pool, 'shared', 0, (other) => other.run(add, ['one']));
    return [before, await readCount('second')];
  });
  expect(second).toEqual(first);
});

test('does not reuse a connection after a read that could not commit', async () => {
  const single = openPool(databaseURL, 1);
  const process = 'SELECT pg_backend_pid() AS process';
  const first = await readSnapshot(single, 'now', 0, async (db) => {
    const answer = await db.one<{ process: number }>(process);
    await db.run('SELECT 1 / 0').catch(() => {});
    return answer;
  });
  const second = await readSnapshot(single, 'now', 0, (db) => db.one<{ process: number }>(process));
  expect(await readSnapshot(single, 'now', 0, (db) => db.one(process))).toEqual(second);
  expect(second).not.toEqual(first);
  await single.close();
});

test('does not treat a missing database as transient', async () => {
  const wrong = openPool(databaseURL.replace(/[^/]+$/, 'no_such_database'), 1);
  await expect(readWithoutSnapshot(wrong, 0, async () => {})).rejects.toMatchObject({ code: '3D000' });
  await wrong.close();
});

test('refuses reads and writes as unavailable without a server', async () => {
  const away = openPool('postgres://nobody@%2Fnowhere/nothing', 1);
  await expect(write(away, 'shared', 0, async () => {})).rejects.toMatchObject({ code: 'unavailable' });
  await expect(readWithoutSnapshot(away, 0, async () => {})).rejects.toMatchObject({
    code: 'unavailable',
    retryAfterSeconds: 1,
  });
  await away.close();
});
