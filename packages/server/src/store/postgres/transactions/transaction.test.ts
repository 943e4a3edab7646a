import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { newMigratedDatabase } from '../../../../test/fixtures/postgres/databases.ts';
import { createSite, type Site } from '../../../../test/fixtures/site.ts';
import { day, nextStart } from '../../../../test/fixtures/store.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { openStore } from '../../open.ts';
import type { Store } from '../../store.ts';
import { type ConnectionPool, lockKeys, openPool } from '../database/connection.ts';
import { migrate } from '../database/migrate.ts';
import { readOnce, readSnapshot, write } from './transaction.ts';

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
  (await readOnce(pool, 0, (db) => db.get<{ count: number }>('SELECT count FROM thing WHERE name = $1', [name])))
    ?.count;
const add = 'UPDATE thing SET count = count + 1 WHERE name = $1';

describe('a transaction', () => {
  test('is carried out again when it had to give in to another', async () => {
    let met = 0;
    let go = () => {};
    const both = new Promise<void>((resolve) => {
      go = resolve;
    });
    const each = (first: string, second: string) =>
      write(pool, 'beside others', 0, async (db) => {
        await db.run(add, [first]);
        met += 1;
        if (met >= 2) go();
        await both;
        await db.run(add, [second]);
      });
    await Promise.all([each('one', 'other'), each('other', 'one')]);
    expect([await countOf('one'), await countOf('other')]).toEqual([2, 2]);
    expect(met).toBeGreaterThan(2);
  });

  describe('that has a day to begin', () => {
    const time = nextStart();
    const today = Math.floor(time / day);
    const gone = 2_000_000_000;
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
      write(pool, 'beside others', of, async (db) => of.map((account) => db.of(account).dayOf(time + nth * day)));
    const daysOn = async () => {
      const sql = 'SELECT day FROM account_position WHERE account = ANY ($1::integer[]) ORDER BY account';
      const rows = await readOnce(pool, 0, (db) => db.all<{ day: number }>(sql, [accounts]));
      return rows.map((row) => row.day - today);
    };

    test('begins it for all of its accounts together', async () => {
      const [first, second, third] = accounts as [number, number, number];
      const taking = vi.spyOn(pool, 'take');
      expect(await writeOn(1, first, second, third)).toEqual([today + 1, today + 1, today + 1]);
      // For the work, for the day that is not there yet, for its partitions, for the day, and for the work again.
      expect(taking).toHaveBeenCalledTimes(5);
      expect(await daysOn()).toEqual([1, 1, 1, 0]);
    });

    test('begins it where it has not begun', async () => {
      await writeOn(2, accounts[0] as number);
      expect(await writeOn(2, ...accounts)).toEqual(accounts.map(() => today + 2));
      expect(await daysOn()).toEqual([2, 2, 2, 2]);
    });

    test('fails for an account that is gone', async () => {
      await expect(writeOn(3, accounts[0] as number, gone)).rejects.toThrow(`account ${gone} is gone`);
    });

    test('is refused soon when one of several accounts is held, and has begun it for the others', async () => {
      const [held, ...others] = accounts as [number, ...number[]];
      const holder = await pool.take();
      await holder.script(`BEGIN; SELECT pg_advisory_xact_lock_shared(${BigInt(lockKeys.accounts) + BigInt(held)})`);
      await expect(writeOn(4, ...accounts)).rejects.toMatchObject({ code: 'unavailable', cause: { code: '55P03' } });
      expect(await daysOn()).toEqual([3, 4, 4, 4]);
      // Of one account it waits as long as anything else.
      const writing = writeOn(4, held);
      expect(await writeOn(4, ...others)).toEqual(others.map(() => today + 4));
      await holder.rollBack();
      holder.release(false);
      expect(await writing).toEqual([today + 4]);
      expect(await daysOn()).toEqual([4, 4, 4, 4]);
    });

    test('waits for no more than two accounts that are held', async () => {
      const holder = await pool.take();
      const locks = accounts.map((held) => `pg_advisory_xact_lock_shared(${BigInt(lockKeys.accounts) + BigInt(held)})`);
      await holder.script(`BEGIN; SELECT ${locks.join(', ')}`);
      const taking = vi.spyOn(pool, 'take');
      await expect(writeOn(5, ...accounts)).rejects.toMatchObject({ code: 'unavailable' });
      // For the work, for all days, and for two.
      expect(taking).toHaveBeenCalledTimes(4);
      await holder.rollBack();
      holder.release(false);
    });
  });

  test('that is refused leaves nothing, and remembers nothing', async () => {
    const before = await countOf('one');
    let remembered = false;
    const work = write(pool, 'beside others', 0, async (db) => {
      await db.run(add, ['one']);
      db.whenCommitted(() => {
        remembered = true;
      });
      throw new Refusal('unknown_user');
    });
    await expect(work).rejects.toMatchObject({ code: 'unknown_user' });
    expect([await countOf('one'), remembered]).toEqual([before, false]);
  });

  test('goes on without the attempt that is refused', async () => {
    const before = (await countOf('one')) ?? 0;
    await write(pool, 'beside others', 0, async (db) => {
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

  test('is not committed when a statement of it has failed, even where nobody saw that', async () => {
    const before = await countOf('one');
    const work = write(pool, 'beside others', 0, async (db) => {
      await db.run(add, ['one']);
      await db.run('SELECT 1 / 0').catch(() => {});
    });
    await expect(work).rejects.toThrow(/answered by ROLLBACK/);
    expect(await countOf('one')).toBe(before);
  });

  test('that is refused leaves nothing of what goes on beside it', async () => {
    const before = await countOf('one');
    let goOn = () => {};
    const refused = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let late: Promise<unknown> = Promise.resolve();
    const work = write(pool, 'beside others', 0, async (db) => {
      late = refused.then(() => db.run(add, ['one']));
      late.catch(() => {});
      setImmediate(goOn);
      throw new Refusal('unknown_user');
    });
    await expect(work).rejects.toThrow(Refusal);
    await expect(late).rejects.toThrow(/whose transaction is over/);
    expect(await countOf('one')).toBe(before);
  });

  test('that gives in to others again and again is refused in the end, and may be tried later', async () => {
    const before = await countOf('one');
    let tries = 0;
    const work = write(pool, 'beside others', 0, async (db) => {
      tries += 1;
      await db.run(add, ['one']);
      await db.script("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$");
    });
    await expect(work).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
    expect([tries, await countOf('one')]).toEqual([10, before]);
  });

  test('whose attempt has a fault is undone as a whole', async () => {
    const before = await countOf('one');
    const work = write(pool, 'beside others', 0, async (db) => {
      await db.run(add, ['one']);
      await db.attempt(() => db.run('SELECT 1 / 0')).catch((error: unknown) => expect(error).toBeInstanceOf(Error));
      await db.run(add, ['one']);
    });
    await expect(work).rejects.toMatchObject({ code: '22012' });
    expect(await countOf('one')).toBe(before);
  });

  test('is judged by what has failed first, however deep that was asked', async () => {
    const deeply = async <Value>(depth: number, work: () => Promise<Value>): Promise<Value> =>
      depth > 0 ? deeply(depth - 1, work) : work();
    const failing = (code: string) => `DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '${code}'; END $$`;
    let tries = 0;
    const work = (code: string) => () =>
      write(pool, 'beside others', 0, async (db) => {
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

  test('that finds the disk full is refused for a little longer', async () => {
    const before = await countOf('one');
    const work = write(pool, 'beside others', 0, async (db) => {
      await db.run(add, ['one']);
      await db.script("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100'; END $$");
    });
    await expect(work).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 5 });
    expect(await countOf('one')).toBe(before);
  });

  test('whose connection is lost leaves nothing, and its connection is not used again', async () => {
    const before = await countOf('one');
    const single = openPool(databaseURL, 1);
    const lost = write(single, 'beside others', 0, async (db) => {
      await db.run(add, ['one']);
      await db.run('SELECT pg_terminate_backend(pg_backend_pid())');
    });
    await expect(lost).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
    expect(await countOf('one')).toBe(before);
    await write(single, 'beside others', 0, (db) => db.run(add, ['one']));
    expect(await countOf('one')).toBe((before as number) + 1);
    await single.close();
  });

  test('that is carried out alone begins when others have ended', async () => {
    const order: string[] = [];
    let end = () => {};
    const beside = write(pool, 'beside others', 0, async (db) => {
      await db.run(add, ['one']);
      order.push('beside others');
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      order.push('ended');
    });
    await expect.poll(() => order).toEqual(['beside others']);
    const alone = write(pool, 'alone', 0, async () => order.push('alone'));
    end();
    await Promise.all([beside, alone]);
    expect(order).toEqual(['beside others', 'ended', 'alone']);
  });
});

test('a read is of one moment', async () => {
  const [first, second] = await readSnapshot(pool, 'now', 0, async (db) => {
    // Two different queries: a repeated one is not sent again.
    const ask = (nth: string) =>
      db.get<{ count: number }>('SELECT count FROM thing WHERE name = $1 OR name = $2', ['one', nth]);
    const before = await ask('first');
    await write(pool, 'beside others', 0, (other) => other.run(add, ['one']));
    return [before, await ask('second')];
  });
  expect(second).toEqual(first);
});

test('a connection on which a read did not end well is not used again', async () => {
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

test('a database that is not there is a mistake of the settings: nobody is told to try later', async () => {
  const wrong = openPool(databaseURL.replace(/[^/]+$/, 'no_such_database'), 1);
  await expect(readOnce(wrong, 0, async () => {})).rejects.toMatchObject({ code: '3D000' });
  await wrong.close();
});

test('without a database the answer is that nothing can be kept now', async () => {
  const away = openPool('postgres://nobody@%2Fnowhere/nothing', 1);
  await expect(write(away, 'beside others', 0, async () => {})).rejects.toMatchObject({ code: 'unavailable' });
  await expect(readOnce(away, 0, async () => {})).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
  await away.close();
});
