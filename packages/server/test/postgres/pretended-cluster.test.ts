// Commits of several accounts by the statements for a cluster, on a PostgreSQL that pretends to have Citus.
import { expect, test } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { asking, newMigratedDatabase } from '../fixtures/postgres/databases.ts';
import { pretendCluster } from '../fixtures/postgres/pretended-citus.ts';
import { createSite, type Site } from '../fixtures/site.ts';
import { nextStart } from '../fixtures/store.ts';

const count = 40;

/** How many commits of events there were. */
const commitsOf = async (store: Store): Promise<number> => {
  const { commits } = await store.measure();
  return (commits?.seconds.counts ?? []).reduce((sum, each) => sum + each, 0);
};

test('accounts that share a commit each have what they were sent, once', async () => {
  const databaseURL = await newMigratedDatabase();
  await pretendCluster(databaseURL);
  const store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
  try {
    const time = nextStart();
    const sites: Site[] = [];
    for (let nth = 0; nth < count; nth += 1) sites.push(await createSite(store, { time }));
    const logAll = (eventUUID: string) =>
      Promise.all(
        sites.map(({ server }, nth) =>
          server.log({ eventUUID, userUUID: 'user-of-all' }, { userUUID: `user-of-${nth}` }),
        ),
      );
    const kept = { kept: true };
    // The first begins each account's day.
    expect(await logAll('event-first')).toEqual(sites.map(() => [kept, kept]));
    const before = await commitsOf(store);
    expect(await logAll('event-second')).toEqual(sites.map(() => [kept, kept]));
    const repeated = await logAll('event-second');
    expect(repeated).toEqual(sites.map(() => [{ kept: false, duplicate: true }, kept]));
    expect((await commitsOf(store)) - before).toBeLessThan(count / 2);
    for (const [nth, site] of sites.entries()) {
      const events = await site.events();
      const named = events.filter(({ userUUID }) => userUUID === 'user-of-all');
      expect(named.map(({ eventUUID }) => eventUUID)).toEqual(['event-first', 'event-second']);
      expect(events).toHaveLength(named.length + 3);
      expect(await site.events({ userUUID: `user-of-${nth}` })).toHaveLength(3);
      expect(await site.count()).toBe(5);
    }
    expect(await asking(databaseURL, 'SELECT FROM shard_call')).toEqual([]);
  } finally {
    await store.close();
  }
});

test('repeats make few transactions run twice, however many are sent', async () => {
  const databaseURL = await newMigratedDatabase();
  await pretendCluster(databaseURL);
  const store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
  try {
    const { server } = await createSite(store, { time: nextStart() });
    const log = (eventUUID: string) => server.log({ eventUUID });
    // The first begins the day, and lists the event.
    await log('event-first');
    /** Each try of a transaction draws a number for its event. */
    const triesWhile = async (work: () => Promise<void>): Promise<number> => {
      const drawn = async () =>
        Number((await asking<{ n: string }>(databaseURL, 'SELECT last_value AS n FROM event_order'))[0]?.n);
      const before = await drawn();
      await work();
      return (await drawn()) - before;
    };
    const repeat = async () => expect(await log('event-first')).toEqual([{ kept: false, duplicate: true }]);
    const logNew = async (nth: number) => expect(await log(`event-of-${nth}`)).toEqual([{ kept: true }]);
    expect(await triesWhile(repeat)).toBe(2);
    expect(
      await triesWhile(async () => {
        for (let nth = 0; nth < 150; nth += 1) await repeat();
      }),
    ).toBe(150);
    expect(
      await triesWhile(async () => {
        for (let nth = 0; nth < 150; nth += 1) await logNew(nth);
      }),
    ).toBe(150);
    // The server assumes again that events are new.
    expect(await triesWhile(repeat)).toBe(2);
    expect(await log('event-second')).toEqual([{ kept: true }]);
  } finally {
    await store.close();
  }
});
