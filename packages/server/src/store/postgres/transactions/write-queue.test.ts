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

/** Creates a store whose commits wait until `finish`. `fails` returns a commit's error, if any. */
const createFakeStore = (fails: (batches: readonly EventBatch[]) => Error | undefined = () => undefined) => {
  const commits: number[][] = [];
  const waiting: { readonly nth: number; readonly resolve: () => void }[] = [];
  const store = async (batches: readonly EventBatch[]): Promise<EventOutcome[][]> => {
    commits.push(batches.map(({ events }) => events.length));
    const nth = commits.length - 1;
    await new Promise<void>((resolve) => waiting.push({ nth, resolve }));
    const error = fails(batches);
    if (error) throw error;
    return batches.map(({ events }) => events.map(() => ({ kept: true })));
  };
  /** Finishes all running commits, or only the one with this index. */
  const finish = async (nth?: number) => {
    for (const { resolve } of nth === undefined ? waiting.splice(0) : waiting.filter((each) => each.nth === nth))
      resolve();
    await new Promise(setImmediate);
  };
  return { store, commits, finish };
};

const turn = () => new Promise(setImmediate);

/** Waits until the queue has started all commits that it can start. */
const settle = async () => {
  for (let nth = 0; nth < 3; nth += 1) await turn();
};

/** lock_not_available */
const late = new Refusal('unavailable', { cause: Object.assign(new Error(), { code: '55P03' }) });

const maxAccounts = 32;
const maxConcurrentCommits = 4;

describe('batches', () => {
  test('are collected into the next commit while other commits run', async () => {
    const { store, commits, finish } = createFakeStore();
    const log = createWriteQueue(store);
    const outcomes: Promise<EventOutcome[]>[] = [];
    for (let nth = 0; nth < maxConcurrentCommits + 3; nth += 1) {
      outcomes.push(log(batchOf(1 + nth)));
      await turn();
    }
    expect(commits).toEqual([[1], [2], [3], [4]]);
    await finish();
    expect(commits.slice(maxConcurrentCommits)).toEqual([[5, 6, 7]]);
    await finish();
    expect((await Promise.all(outcomes)).map(({ length }) => length)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test('are distributed across the free connections when they are large', async () => {
    const { store, commits, finish } = createFakeStore();
    const log = createWriteQueue(store);
    const outcomes = [3_000, 3_000, 900, 5_000].map((count) => log(batchOf(count)));
    await turn();
    expect(commits).toEqual([[3_000], [3_000, 900], [5_000]]);
    await finish();
    expect(await Promise.all(outcomes)).toHaveLength(4);
  });

  test('of one account are stored together, while accounts take turns', async () => {
    const { store, commits, finish } = createFakeStore();
    const log = createWriteQueue(store);
    const of = (account: number, count: number) => log({ ...batchOf(count), account });
    // Stores batches that occupy all connections.
    const outcomes = Array.from({ length: maxConcurrentCommits }, (_, nth) => of(nth, 3_000));
    await turn();
    outcomes.push(of(8, 3_000), of(8, 3_000), of(9, 2), of(8, 1), of(10, 3), of(9, 4));
    await finish();
    await settle();
    expect(commits.slice(maxConcurrentCommits)).toEqual([[3_000], [2, 4, 3, 3_000, 1]]);
    await finish();
    expect(await Promise.all(outcomes)).toHaveLength(maxConcurrentCommits + 6);
  });

  test('resolve even if they have no events', async () => {
    const { store, finish } = createFakeStore();
    const outcomes = [createWriteQueue(store)(batchOf(0))];
    await settle();
    await finish();
    expect(await Promise.all(outcomes)).toEqual([[]]);
  });

  test.each([
    ['one PostgreSQL', maxAccounts, false],
    ['a cluster', 1, true],
  ])('share a commit on %s with those of up to %i accounts', async (_, perCommit, isDistributed) => {
    const { store, commits, finish } = createFakeStore();
    const log = createWriteQueue(store, { isDistributed });
    const outcomes = Array.from({ length: perCommit + 1 }, (_, account) => log({ ...batchOf(1), account }));
    await settle();
    await finish();
    await settle();
    await finish();
    expect(commits.map(({ length }) => length)).toEqual([perCommit, 1]);
    expect(await Promise.all(outcomes)).toHaveLength(perCommit + 1);
  });

  test('are retried one by one after an error, which only the faulty batch gets', async () => {
    const fault = new TypeError('faulty batch');
    const { store, commits, finish } = createFakeStore((batches) =>
      batches.some(({ events }) => events.length === 2) ? fault : undefined,
    );
    const log = createWriteQueue(store);
    const settling = Promise.allSettled([1, 2, 3].map((count) => log(batchOf(count))));
    for (let commit = 0; commit < 4; commit += 1) {
      await turn();
      await finish();
    }
    const settled = await settling;
    expect(commits).toEqual([[1, 2, 3], [1], [2], [3]]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(settled[1]).toMatchObject({ reason: fault });
  });

  test('of other accounts are stored if one account times out waiting for a lock', async () => {
    const { store, commits, finish } = createFakeStore((batches) =>
      batches.some(({ account }) => account === 2) ? late : undefined,
    );
    const log = createWriteQueue(store);
    const requests = [
      [1, 10],
      [2, 20],
      [2, 21],
      [3, 30],
    ] as const;
    const settling = Promise.allSettled(requests.map(([account, count]) => log({ ...batchOf(count), account })));
    for (let commit = 0; commit < 4; commit += 1) {
      await turn();
      await finish();
    }
    expect(commits).toEqual([[10, 20, 21, 30], [10], [20, 21], [30]]);
    const settled = await settling;
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
  });

  test('are refused quickly if all accounts time out waiting for a lock', async () => {
    const { store, commits, finish } = createFakeStore(() => late);
    const log = createWriteQueue(store);
    const settling = Promise.allSettled(
      Array.from({ length: maxAccounts }, (_, account) => log({ ...batchOf(1), account })),
    );
    for (let commit = 0; commit < 4; commit += 1) {
      await turn();
      await finish();
    }
    expect((await settling).every(({ status }) => status === 'rejected')).toBe(true);
    expect(commits.map(({ length }) => length)).toEqual([maxAccounts, 1, 1]);
  });

  test('of other accounts are tried if one batch is faulty and two time out', async () => {
    const { store, commits, finish } = createFakeStore((batches) => {
      if (batches.some(({ account }) => account === 4)) return new TypeError('faulty batch');
      return batches.some(({ account }) => account < 3) ? late : undefined;
    });
    const log = createWriteQueue(store);
    const settling = Promise.allSettled([1, 2, 3, 4].map((account) => log({ ...batchOf(1), account })));
    for (let commit = 0; commit < 5; commit += 1) {
      await settle();
      await finish();
    }
    expect((await settling).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'rejected']);
    expect(commits).toHaveLength(5);
  });

  test('are all refused if the database is unavailable', async () => {
    const { store, commits, finish } = createFakeStore(() => new Refusal('unavailable'));
    const log = createWriteQueue(store);
    const settling = Promise.allSettled([log(batchOf(1)), log(batchOf(1))]);
    await turn();
    await finish();
    expect((await settling).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(commits).toHaveLength(1);
  });
});
