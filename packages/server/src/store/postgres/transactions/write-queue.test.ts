import { describe, expect, test } from 'vitest';
import { newEvent } from '../../../../test/fixtures/store.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { EventBatch, EventOutcome } from '../../store.ts';
import { createWriteQueue } from './write-queue.ts';

const batchOf = (count: number): EventBatch => ({
  account: 1,
  token: 1,
  browser: false,
  receivedTime: 0,
  events: Array.from({ length: count }, () => newEvent()),
});

/** A keeper that keeps when it is told to; `fails` says of which commits it doesn't. */
const createKeeper = (fails: (batches: readonly EventBatch[]) => Error | undefined = () => undefined) => {
  const commits: number[][] = [];
  const waiting: { readonly nth: number; readonly resolve: () => void }[] = [];
  const keep = async (batches: readonly EventBatch[]): Promise<EventOutcome[][]> => {
    commits.push(batches.map(({ events }) => events.length));
    const nth = commits.length - 1;
    await new Promise<void>((resolve) => waiting.push({ nth, resolve }));
    const error = fails(batches);
    if (error) throw error;
    return batches.map(({ events }) => events.map(() => ({ kept: true })));
  };
  /** Ends all commits that are under way, or that with a number. */
  const goOn = async (nth?: number) => {
    for (const { resolve } of nth === undefined ? waiting.splice(0) : waiting.filter((each) => each.nth === nth))
      resolve();
    await new Promise(setImmediate);
  };
  return { keep, commits, goOn };
};

const turn = () => new Promise(setImmediate);

/** Until the places of accounts are found, and what waits is committed. */
const settle = async () => {
  for (let nth = 0; nth < 3; nth += 1) await turn();
};

/** lock_not_available */
const late = new Refusal('unavailable', { cause: Object.assign(new Error(), { code: '55P03' }) });

const maxAccounts = 32;
const maxUnderWay = 4;

describe('batches', () => {
  test('that arrive while commits are under way go together into the next', async () => {
    const { keep, commits, goOn } = createKeeper();
    const ask = createWriteQueue(keep);
    const asked: Promise<EventOutcome[]>[] = [];
    for (let nth = 0; nth < maxUnderWay + 3; nth += 1) {
      asked.push(ask(batchOf(1 + nth)));
      await turn();
    }
    expect(commits).toEqual([[1], [2], [3], [4]]);
    await goOn();
    expect(commits.slice(maxUnderWay)).toEqual([[5, 6, 7]]);
    await goOn();
    expect((await Promise.all(asked)).map(({ length }) => length)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test('that are many are spread over the connections that are free', async () => {
    const { keep, commits, goOn } = createKeeper();
    const ask = createWriteQueue(keep);
    const asked = [3_000, 3_000, 900, 5_000].map((count) => ask(batchOf(count)));
    await turn();
    expect(commits).toEqual([[3_000], [3_000, 900], [5_000]]);
    await goOn();
    expect(await Promise.all(asked)).toHaveLength(4);
  });

  test('of many accounts take turns, and those of one account go together', async () => {
    const { keep, commits, goOn } = createKeeper();
    const ask = createWriteQueue(keep);
    const of = (account: number, count: number) => ask({ ...batchOf(count), account });
    // The first take all connections.
    const asked = Array.from({ length: maxUnderWay }, (_, nth) => of(nth, 3_000));
    await turn();
    asked.push(of(8, 3_000), of(8, 3_000), of(9, 2), of(8, 1), of(10, 3), of(9, 4));
    await goOn();
    await settle();
    expect(commits.slice(maxUnderWay)).toEqual([[3_000], [2, 4, 3, 3_000, 1]]);
    await goOn();
    expect(await Promise.all(asked)).toHaveLength(maxUnderWay + 6);
  });

  test('without events are answered', async () => {
    const { keep, goOn } = createKeeper();
    const asked = [createWriteQueue(keep)(batchOf(0))];
    await settle();
    await goOn();
    expect(await Promise.all(asked)).toEqual([[]]);
  });

  test.each([
    ['one PostgreSQL', maxAccounts, false],
    ['a cluster', 1, true],
  ])('on %s, of up to %i accounts are in one commit', async (_, most, isSpread) => {
    const { keep, commits, goOn } = createKeeper();
    const ask = createWriteQueue(keep, { isSpread });
    const asked = Array.from({ length: most + 1 }, (_, account) => ask({ ...batchOf(1), account }));
    await settle();
    await goOn();
    await settle();
    await goOn();
    expect(commits.map(({ length }) => length)).toEqual([most, 1]);
    expect(await Promise.all(asked)).toHaveLength(most + 1);
  });

  test('are tried one by one when their commit has a fault, which stays with the one that has it', async () => {
    const fault = new TypeError('of one of them');
    const { keep, commits, goOn } = createKeeper((batches) =>
      batches.some(({ events }) => events.length === 2) ? fault : undefined,
    );
    const ask = createWriteQueue(keep);
    const settling = Promise.allSettled([1, 2, 3].map((count) => ask(batchOf(count))));
    for (let commit = 0; commit < 4; commit += 1) {
      await turn();
      await goOn();
    }
    const settled = await settling;
    expect(commits).toEqual([[1, 2, 3], [1], [2], [3]]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(settled[1]).toMatchObject({ reason: fault });
  });

  test('of other accounts are stored when one account must wait too long for a lock', async () => {
    const { keep, commits, goOn } = createKeeper((batches) =>
      batches.some(({ account }) => account === 2) ? late : undefined,
    );
    const ask = createWriteQueue(keep);
    const sent = [
      [1, 10],
      [2, 20],
      [2, 21],
      [3, 30],
    ] as const;
    const settling = Promise.allSettled(sent.map(([account, count]) => ask({ ...batchOf(count), account })));
    for (let commit = 0; commit < 4; commit += 1) {
      await turn();
      await goOn();
    }
    expect(commits).toEqual([[10, 20, 21, 30], [10], [20, 21], [30]]);
    const settled = await settling;
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
  });

  test('are refused soon when all accounts must wait too long for one lock', async () => {
    const { keep, commits, goOn } = createKeeper(() => late);
    const ask = createWriteQueue(keep);
    const settling = Promise.allSettled(
      Array.from({ length: maxAccounts }, (_, account) => ask({ ...batchOf(1), account })),
    );
    for (let commit = 0; commit < 4; commit += 1) {
      await turn();
      await goOn();
    }
    expect((await settling).every(({ status }) => status === 'rejected')).toBe(true);
    expect(commits.map(({ length }) => length)).toEqual([maxAccounts, 1, 1]);
  });

  test('of other accounts are tried when one has a fault, and two are late', async () => {
    const { keep, commits, goOn } = createKeeper((batches) => {
      if (batches.some(({ account }) => account === 4)) return new TypeError('of one of them');
      return batches.some(({ account }) => account < 3) ? late : undefined;
    });
    const ask = createWriteQueue(keep);
    const settling = Promise.allSettled([1, 2, 3, 4].map((account) => ask({ ...batchOf(1), account })));
    for (let commit = 0; commit < 5; commit += 1) {
      await settle();
      await goOn();
    }
    expect((await settling).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'rejected']);
    expect(commits).toHaveLength(5);
  });

  test('are all refused when the database is away', async () => {
    const { keep, commits, goOn } = createKeeper(() => new Refusal('unavailable'));
    const ask = createWriteQueue(keep);
    const settling = Promise.allSettled([ask(batchOf(1)), ask(batchOf(1))]);
    await turn();
    await goOn();
    expect((await settling).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(commits).toHaveLength(1);
  });
});
