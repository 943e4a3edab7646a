import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { newEvent } from '../../../../test/fixtures/store.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { EventBatch, EventOutcome } from '../../store.ts';
import type { Place, Places } from '../database/machines.ts';
import { mostAccounts } from './lanes.ts';
import { createWriteQueue, createWriteQueues, mostUnderWay, type Waiting, type WriteQueue } from './write-queue.ts';

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
  /** How long each commit waits for locks. */
  const patience: (number | undefined)[] = [];
  const waiting: { readonly nth: number; readonly resolve: () => void }[] = [];
  const keep = async (batches: readonly EventBatch[], { patienceMilliseconds }: Waiting): Promise<EventOutcome[][]> => {
    patience.push(patienceMilliseconds);
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
  return { keep, commits, patience, goOn };
};

const turn = () => new Promise(setImmediate);

/** Until the places of accounts are found, and what waits is committed. */
const settle = async () => {
  for (let nth = 0; nth < 3; nth += 1) await turn();
};

/** lock_not_available */
const late = new Refusal('not_kept', { cause: Object.assign(new Error(), { code: '55P03' }) });

const evenAndOdd = (account: number): Place => ({ machine: 1, shard: account % 2 });
const placesBy = (placeOf: (account: number) => Place): Places => ({
  of: async (account) => placeOf(account),
  forget() {},
});

describe('batches', () => {
  test('that arrive while commits are under way go together into the next', async () => {
    const { keep, commits, goOn } = createKeeper();
    const ask = createWriteQueue(keep);
    const asked: Promise<EventOutcome[]>[] = [];
    for (let nth = 0; nth < mostUnderWay + 3; nth += 1) {
      asked.push(ask(batchOf(1 + nth)));
      await turn();
    }
    expect(commits).toEqual([[1], [2], [3], [4]]);
    await goOn();
    expect(commits.slice(mostUnderWay)).toEqual([[5, 6, 7]]);
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
    const asked = Array.from({ length: mostUnderWay }, (_, nth) => of(nth, 3_000));
    await turn();
    asked.push(of(8, 3_000), of(8, 3_000), of(9, 2), of(8, 1), of(10, 3), of(9, 4));
    await goOn();
    await settle();
    expect(commits.slice(mostUnderWay)).toEqual([[3_000], [2, 4, 3, 3_000, 1]]);
    await goOn();
    expect(await Promise.all(asked)).toHaveLength(mostUnderWay + 6);
  });

  test('on a cluster wait for the commit of their machine that is under way, unless they are many, and share the next', async () => {
    const { keep, commits, goOn } = createKeeper();
    const ask = createWriteQueues(placesBy(evenAndOdd), keep);
    const of = (account: number, count: number) => ask({ ...batchOf(count), account });
    const asked = [of(1, 1)];
    await settle();
    asked.push(of(1, 900), of(2, 99));
    await settle();
    expect(commits).toEqual([[1]]);
    asked.push(of(1, 1));
    await settle();
    expect(commits).toEqual([[1], [900, 1, 99]]);
    asked.push(of(1, 3));
    await settle();
    expect(commits).toHaveLength(2);
    await goOn();
    await expect.poll(() => commits).toEqual([[1], [900, 1, 99], [3]]);
    await goOn();
    expect(await Promise.all(asked)).toHaveLength(5);
  });

  test('on a cluster wait for commits of their own machine only', async () => {
    const { keep, commits, goOn } = createKeeper();
    const ask = createWriteQueues(
      placesBy((account) => ({ machine: account % 2, shard: account })),
      keep,
    );
    const asked = [1, 3].map((account) => ask({ ...batchOf(account), account }));
    await settle();
    asked.push(ask({ ...batchOf(5), account: 5 }), ask({ ...batchOf(2), account: 2 }));
    await settle();
    expect(commits).toEqual([[1, 3], [2]]);
    await goOn();
    await expect.poll(() => commits.slice(2)).toEqual([[5]]);
    await goOn();
    expect(await Promise.all(asked)).toHaveLength(4);
  });

  test('on a cluster are waited for after a commit, for half of its time, until there are as many as it had', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { keep, commits, goOn } = createKeeper();
    const ask = createWriteQueues(placesBy(evenAndOdd), keep);
    const asked: Promise<EventOutcome[]>[] = [];
    const come = async (count: number) => {
      for (let nth = 0; nth < count; nth += 1) asked.push(ask(batchOf(1)));
      await settle();
      return commits.length;
    };
    const pass = async (milliseconds: number) => {
      vi.advanceTimersByTime(milliseconds);
      await settle();
      return commits.length;
    };
    const endAfter = async (milliseconds: number) => {
      await pass(milliseconds);
      await goOn();
    };
    expect(await come(3)).toBe(1);
    await endAfter(12);
    expect([await come(2), await come(1)]).toEqual([1, 2]);
    await endAfter(12);
    expect([await come(2), await pass(5), await pass(1)]).toEqual([2, 2, 3]);
    // At most so long.
    await endAfter(400);
    expect([await come(1), await pass(19), await pass(1)]).toEqual([3, 3, 4]);
    await endAfter(12);
    expect(await come(1)).toBe(5);
    await goOn();
    expect(await Promise.all(asked)).toHaveLength(10);
    expect(commits.map(({ length }) => length)).toEqual([3, 3, 2, 1, 1]);
  });

  test('on a cluster are not waited for after a commit that failed, nor when many events are there', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let error: Error | undefined;
    const { keep, commits, goOn } = createKeeper(() => error);
    const ask = createWriteQueues(placesBy(evenAndOdd), keep);
    const commitThree = async (): Promise<unknown> => {
      const settling = Promise.allSettled([ask(batchOf(1)), ask(batchOf(1)), ask(batchOf(1))]);
      await settle();
      vi.advanceTimersByTime(100);
      await goOn();
      return settling;
    };
    await commitThree();
    const many = ask(batchOf(1_000));
    await settle();
    expect(commits).toEqual([[1, 1, 1], [1_000]]);
    await goOn();
    await many;
    error = new Refusal('not_kept');
    await commitThree();
    error = undefined;
    const one = ask(batchOf(2));
    await settle();
    expect(commits.slice(2)).toEqual([[1, 1, 1], [2]]);
    await goOn();
    await one;
  });

  test('of other shards are stored soon when one shard must wait for a lock, which then has commits of its own', async () => {
    let isHeld = true;
    const { keep, commits, patience, goOn } = createKeeper((batches) =>
      isHeld && batches.some(({ account }) => account % 2 === 0) ? late : undefined,
    );
    const ask = createWriteQueues(placesBy(evenAndOdd), keep);
    const of = (account: number, count: number) => ask({ ...batchOf(count), account });
    const settling = Promise.allSettled([of(1, 10), of(2, 20), of(3, 30)]);
    await settle();
    const waiting = of(4, 40);
    for (let commit = 0; commit < 3; commit += 1) {
      await goOn();
      await settle();
    }
    // One shard after the other, and shortly; the one that is late then waits longer, with what came meanwhile.
    expect(commits).toEqual([[10, 20, 30], [10, 30], [20], [20, 40]]);
    expect(patience).toEqual([500, 100, 100, 500]);
    const others = [of(3, 31)];
    await settle();
    expect(commits.slice(4)).toEqual([[31]]);
    isHeld = false;
    await goOn();
    expect((await settling).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
    expect(await waiting).toHaveLength(40);
    expect(await Promise.all(others)).toHaveLength(1);
  });

  test('of several accounts whose shard is apart are divided soon, and each then waits as long as others', async () => {
    let isHeld = true;
    const { keep, commits, patience, goOn } = createKeeper((batches) =>
      isHeld && batches.some(({ account }) => account === 2) ? late : undefined,
    );
    const ask = createWriteQueues(placesBy(evenAndOdd), keep);
    const asked = [2, 4].map((account) => ask({ ...batchOf(account), account }));
    for (let commit = 0; commit < 2; commit += 1) {
      await settle();
      await goOn();
    }
    await settle();
    isHeld = false;
    await goOn();
    await settle();
    await goOn();
    expect(commits).toEqual([[2, 4], [2, 4], [2], [4]]);
    expect(patience).toEqual([500, 500, undefined, undefined]);
    expect(await Promise.all(asked)).toHaveLength(2);
  });

  test('of a shard that is late stay apart for five seconds after the last time', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    let isHeld = true;
    const { keep, commits, goOn } = createKeeper((batches) =>
      isHeld && batches.some(({ account }) => account === 2) ? late : undefined,
    );
    const ask = createWriteQueues(placesBy(evenAndOdd), keep);
    const of = (account: number) => ask({ ...batchOf(account), account });
    const refused = expect(of(2)).rejects.toBe(late);
    for (let commit = 0; commit < 2; commit += 1) {
      await settle();
      await goOn();
    }
    await refused;
    expect(commits).toEqual([[2], [2]]);
    isHeld = false;
    vi.advanceTimersByTime(4_999);
    const apart = [of(2), of(3)];
    await settle();
    expect(commits.slice(2)).toEqual([[2], [3]]);
    await goOn();
    await Promise.all(apart);
    vi.advanceTimersByTime(2);
    const shared = [of(2), of(3)];
    await settle();
    expect(commits.slice(4)).toEqual([[2, 3]]);
    await goOn();
    await Promise.all(shared);
    vi.useRealTimers();
  });

  test('on a cluster do not wait for a commit that takes long', async () => {
    const { keep, commits, goOn } = createKeeper();
    const ask = createWriteQueues(placesBy(evenAndOdd), keep);
    const of = (account: number) => ask({ ...batchOf(account), account });
    const asked = [of(1)];
    await settle();
    asked.push(of(2));
    await expect.poll(() => commits).toEqual([[1], [2]]);
    asked.push(of(3));
    await settle();
    expect(commits).toHaveLength(2);
    // The first still goes on.
    await goOn(1);
    expect(commits).toEqual([[1], [2], [3]]);
    await goOn();
    expect(await Promise.all(asked)).toHaveLength(3);
  });

  test('of shards that are apart leave connections to the others', async () => {
    const { keep, commits, patience, goOn } = createKeeper((batches) =>
      batches.some(({ account }) => account < 9) ? late : undefined,
    );
    const ask = createWriteQueues(
      placesBy((account) => ({ machine: 1, shard: account })),
      keep,
    );
    const of = (account: number) => ask({ ...batchOf(1), account });
    const settling = Promise.allSettled([1, 2, 3].map(of));
    // The shared commit and its parts end; those that are apart go on.
    for (let commit = 0; commit < 5; commit += 1) {
      await settle();
      for (const [nth, each] of patience.entries()) if (each !== undefined) await goOn(nth);
    }
    await settle();
    expect(patience.filter((each) => each === undefined)).toHaveLength(2);
    const before = commits.length;
    const asked = of(9);
    await settle();
    expect(commits).toHaveLength(before + 1);
    for (let commit = 0; commit < 4; commit += 1) {
      await goOn();
      await settle();
    }
    expect(await asked).toHaveLength(1);
    expect((await settling).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });

  test('are refused when they have waited too long for a shard that is apart, or too many wait', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { keep, commits, goOn } = createKeeper(() => late);
    const ask = createWriteQueues(placesBy(evenAndOdd), keep);
    const of = (count: number) => ask({ ...batchOf(count), account: 2 });
    const first = expect(of(1)).rejects.toBe(late);
    await settle();
    await goOn();
    await settle();
    expect(commits).toEqual([[1], [1]]);
    const waiting = of(4_000).catch(({ code }) => code);
    await settle();
    await expect(of(1)).rejects.toMatchObject({ code: 'not_kept' });
    vi.advanceTimersByTime(5_001);
    await goOn();
    await first;
    expect(await waiting).toBe('not_kept');
    expect(commits).toHaveLength(2);
    vi.useRealTimers();
  });

  test('of other shards are stored when a machine does not know one yet', async () => {
    const notYet = new Refusal('not_kept', { cause: Object.assign(new Error(), { code: 'FH002' }) });
    const { keep, commits, goOn } = createKeeper((batches) =>
      batches.some(({ account }) => account === 2) ? notYet : undefined,
    );
    const ask = createWriteQueues(placesBy(evenAndOdd), keep);
    const settling = Promise.allSettled([1, 2, 4].map((account) => ask({ ...batchOf(account), account })));
    for (let commit = 0; commit < 3; commit += 1) {
      await settle();
      await goOn();
    }
    expect((await settling).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(commits).toEqual([[1, 2, 4], [1], [2, 4]]);
  });

  test('of no more than so many shards are in one commit on a cluster', async () => {
    const { keep, commits, goOn } = createKeeper();
    const ask = createWriteQueues(
      placesBy((account) => ({ machine: 1, shard: account % 20 })),
      keep,
    );
    const asked = Array.from({ length: 24 }, (_, account) => ask({ ...batchOf(1), account }));
    await settle();
    await goOn();
    await settle();
    expect(commits.map(({ length }) => length)).toEqual([20, 4]);
    await goOn();
    expect(await Promise.all(asked)).toHaveLength(24);
  });

  test('whose accounts are on several machines, because some were moved, are sent to each', async () => {
    let isMoved = false;
    let forgotten = 0;
    const several = Object.assign(new Error(), { code: 'FH001' });
    const { keep, commits, goOn } = createKeeper((batches) =>
      new Set(batches.map(({ account }) => account % 2)).size > 1 ? several : undefined,
    );
    const ask = createWriteQueues(
      {
        of: async (account) => ({ machine: isMoved ? account % 2 : 1, shard: account }),
        forget: () => {
          forgotten += 1;
          isMoved = true;
        },
      },
      keep,
    );
    const asked = [1, 2, 3].map((account) => ask({ ...batchOf(account), account }));
    await settle();
    await goOn();
    await settle();
    expect(commits).toEqual([[1, 2, 3], [1, 3], [2]]);
    expect(forgotten).toBe(1);
    await goOn();
    expect(await Promise.all(asked)).toHaveLength(3);
  });

  test('whose accounts are on several machines still are stored shard by shard', async () => {
    const several = Object.assign(new Error(), { code: 'FH001' });
    const { keep, commits, goOn } = createKeeper((batches) => (batches.length > 1 ? several : undefined));
    const ask = createWriteQueues(placesBy(evenAndOdd), keep);
    const asked = [1, 2].map((account) => ask({ ...batchOf(account), account }));
    for (let commit = 0; commit < 4; commit += 1) {
      await settle();
      await goOn();
    }
    expect(commits).toEqual([[1, 2], [1, 2], [1], [2]]);
    expect(await Promise.all(asked)).toHaveLength(2);
  });

  test('without events are answered', async () => {
    const { keep, goOn } = createKeeper();
    const asked = [createWriteQueue(keep)(batchOf(0)), createWriteQueues(placesBy(evenAndOdd), keep)(batchOf(0))];
    await settle();
    await goOn();
    expect(await Promise.all(asked)).toEqual([[], []]);
  });

  type Keep = ReturnType<typeof createKeeper>['keep'];
  test.each<[string, number, (keep: Keep) => WriteQueue]>([
    ['one PostgreSQL', mostAccounts.onOne, createWriteQueue],
    ['a cluster', mostAccounts.onCluster, (keep) => createWriteQueues(placesBy(evenAndOdd), keep)],
  ])('of no more than so many accounts are in one commit, on %s', async (_, most, createAsk) => {
    const { keep, commits, goOn } = createKeeper();
    const ask = createAsk(keep);
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
      Array.from({ length: mostAccounts.onOne }, (_, account) => ask({ ...batchOf(1), account })),
    );
    for (let commit = 0; commit < 4; commit += 1) {
      await turn();
      await goOn();
    }
    expect((await settling).every(({ status }) => status === 'rejected')).toBe(true);
    expect(commits.map(({ length }) => length)).toEqual([mostAccounts.onOne, 1, 1]);
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
    const { keep, commits, goOn } = createKeeper(() => new Refusal('not_kept'));
    const ask = createWriteQueue(keep);
    const settling = Promise.allSettled([ask(batchOf(1)), ask(batchOf(1))]);
    await turn();
    await goOn();
    expect((await settling).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(commits).toHaveLength(1);
  });
});
