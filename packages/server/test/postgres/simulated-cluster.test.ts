// Tests the cluster's SQL statements on a PostgreSQL database that simulates Citus.
import pg from 'pg';
import { expect, test } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { newMigratedDatabase, querySQL } from '../fixtures/postgres/databases.ts';
import { simulateCluster } from '../fixtures/postgres/simulated-citus.ts';
import { waitForLockWaits } from '../fixtures/postgres/sql.ts';
import { createSite, type Site } from '../fixtures/site.ts';
import { day, newEvent, nextStart } from '../fixtures/store.ts';

const count = 40;

test('stores concurrent events of many accounts once, and each in its own account', async () => {
  const databaseURL = await newMigratedDatabase();
  await simulateCluster(databaseURL);
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
    // Logs a first event, which starts the account's day.
    expect(await logAll('event-first')).toEqual(sites.map(() => [kept, kept]));
    expect(await logAll('event-second')).toEqual(sites.map(() => [kept, kept]));
    const repeated = await logAll('event-second');
    expect(repeated).toEqual(sites.map(() => [{ kept: false, duplicate: true }, kept]));
    for (const [nth, site] of sites.entries()) {
      const events = await site.events();
      const named = events.filter(({ userUUID }) => userUUID === 'user-of-all');
      expect(named.map(({ eventUUID }) => eventUUID)).toEqual(['event-first', 'event-second']);
      expect(events).toHaveLength(named.length + 3);
      expect(await site.events({ userUUID: `user-of-${nth}` })).toHaveLength(3);
      expect(await site.count()).toBe(5);
    }
  } finally {
    await store.close();
  }
});

/** Opens servers on a new database. */
const openServers = async (count: number) => {
  const databaseURL = await newMigratedDatabase();
  await simulateCluster(databaseURL);
  const open = () => openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
  return { databaseURL, servers: await Promise.all(Array.from({ length: count }, open)) };
};

test('applies catalogue rules that another server has changed', async () => {
  const { databaseURL, servers } = await openServers(2);
  const [one, other] = servers as [Store, Store];
  try {
    const site = await createSite(one, { time: nextStart() });
    const { account, server, time } = site;
    const kept = [{ kept: true }];
    const log = (eventID: number) => server.log({ eventID });
    for (const _ of [1, 2, 3]) expect(await log(5)).toEqual(kept);

    const event = [{ id: '5', remove: true, force: true }, { id: '6' }];
    await other.updateAccount({ account, time, strict: true, catalogues: { event }, contacts: [] });
    expect(await log(5)).toMatchObject([{ refused: 'unknown_id' }]);
    for (const _ of [1, 2, 3]) expect(await log(6)).toEqual(kept);

    // Uses the other server, whose clock is a day ahead.
    const { token } = server;
    const tomorrow = { account, token, browser: false, receivedTime: time + day, events: [newEvent({ eventID: 6 })] };
    expect(await other.logEvents(tomorrow)).toEqual(kept);
    expect(await log(6)).toEqual(kept);
    const rows = await querySQL<{ day: number }>(databaseURL, 'SELECT day FROM event ORDER BY sequence');
    const [first] = rows as [{ day: number }];
    expect(rows.map((row) => row.day - first.day)).toEqual([0, 0, 0, 0, 0, 0, 1, 1]);

    await other.updateAccount({ account, time, strict: false, catalogues: {}, contacts: [] });
    expect(await log(7)).toEqual(kept);
  } finally {
    for (const store of servers) await store.close();
  }
});

test('draws an event’s sequence only after it has waited for the lock on the event’s user', async () => {
  const { databaseURL, servers } = await openServers(1);
  const [store] = servers as [Store];
  const holder = new pg.Client(databaseURL);
  await holder.connect();
  try {
    const { server, time, events } = await createSite(store, { time: nextStart() });
    const tomorrow = time + day;
    await server.log({ userUUID: 'user-held', eventUUID: 'event-1' });
    for (const _ of [1, 2]) await server.logAt(tomorrow, { userUUID: 'user-of-tomorrow' });

    await holder.query(`BEGIN; SELECT FROM "user" FOR NO KEY UPDATE`);
    // Logs the user's first event on that day, which updates the user's row.
    const logged = server.logAt(tomorrow, { userUUID: 'user-held', eventUUID: 'event-2' });
    await waitForLockWaits(databaseURL, 1);
    const [drawn] = (await holder.query<{ n: string }>("SELECT nextval('event_order') AS n")).rows;
    await holder.query('COMMIT');
    expect(await logged).toEqual([{ kept: true }]);
    const [, second] = await events({ userUUID: 'user-held' });
    expect(second?.sequence).toBeGreaterThan(Number(drawn?.n));
  } finally {
    await holder.end();
    await store.close();
  }
});
