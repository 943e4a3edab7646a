// Commits of several accounts by the statements for a cluster, on a PostgreSQL that pretends to have Citus.
import pg from 'pg';
import { expect, test } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { untilWaiting } from '../fixtures/postgres/asking.ts';
import { asking, newMigratedDatabase } from '../fixtures/postgres/databases.ts';
import { pretendCluster } from '../fixtures/postgres/pretended-citus.ts';
import { createSite, type Site } from '../fixtures/site.ts';
import { day, newEvent, nextStart } from '../fixtures/store.ts';

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

/** Opens so many servers of a new database. */
const openServers = async (count: number) => {
  const databaseURL = await newMigratedDatabase();
  await pretendCluster(databaseURL);
  const open = () => openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
  return { databaseURL, servers: await Promise.all(Array.from({ length: count }, open)) };
};

test('a server that remembers the state of an account stores and refuses nothing by rules that another has changed', async () => {
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

    // The clock of the other is a day ahead.
    const { token } = server;
    const tomorrow = { account, token, browser: false, receivedTime: time + day, events: [newEvent({ eventID: 6 })] };
    expect(await other.logEvents(tomorrow)).toEqual(kept);
    expect(await log(6)).toEqual(kept);
    const rows = await asking<{ day: number }>(databaseURL, 'SELECT day FROM event ORDER BY sequence');
    const [first] = rows as [{ day: number }];
    expect(rows.map((row) => row.day - first.day)).toEqual([0, 0, 0, 0, 0, 0, 1, 1]);

    await other.updateAccount({ account, time, strict: false, catalogues: {}, contacts: [] });
    expect(await log(7)).toEqual(kept);
  } finally {
    for (const store of servers) await store.close();
  }
});

/** Returns a function that returns how many transactions begin during work, also those that are rolled back, and how many states they read. */
const countingBeginnings = async (databaseURL: string) => {
  await asking(
    databaseURL,
    `CREATE SEQUENCE begun;
     CREATE SEQUENCE states;
     ALTER FUNCTION begin_on_shards RENAME TO begin_on_shards_as_before;
     CREATE FUNCTION begin_on_shards(ours integer[], shards bigint[], unknown integer[], alone boolean, floor bigint, patience text) RETURNS text
     LANGUAGE plpgsql AS $$ BEGIN
       PERFORM nextval('begun');
       PERFORM nextval('states') FROM unnest(unknown);
       RETURN begin_on_shards_as_before(ours, shards, unknown, alone, floor, patience);
     END $$`,
  );
  const read = async () => {
    const sql = "SELECT nextval('begun')::integer AS begun, nextval('states')::integer AS states";
    return (await asking<{ begun: number; states: number }>(databaseURL, sql))[0] as { begun: number; states: number };
  };
  return async (work: () => Promise<unknown>): Promise<{ begun: number; states: number }> => {
    const before = await read();
    await work();
    const after = await read();
    return { begun: after.begun - before.begun - 1, states: after.states - before.states - 1 };
  };
};

test('states that are remembered are not read, until a transaction finds that one has changed', async () => {
  const { databaseURL, servers } = await openServers(2);
  const [one, other] = servers as [Store, Store];
  try {
    const site = await createSite(one, { time: nextStart() });
    const log = async () => expect(await site.server.log({ eventID: 5 })).toEqual([{ kept: true }]);
    for (const _ of [1, 2, 3]) await log();
    const countWhile = await countingBeginnings(databaseURL);
    expect(await countWhile(log)).toEqual({ begun: 1, states: 0 });

    const { account, time } = site;
    await other.updateAccount({ account, time, strict: true, catalogues: {}, contacts: [] });
    expect(await countWhile(log)).toEqual({ begun: 2, states: 1 });
    const often = async () => {
      for (let nth = 0; nth < 110; nth += 1) await log();
    };
    expect(await countWhile(often)).toEqual({ begun: 110, states: 100 });
  } finally {
    for (const store of servers) await store.close();
  }
});

test('accounts that are gone, though their states are remembered, hold up no others', async () => {
  const { databaseURL, servers } = await openServers(1);
  const [store] = servers as [Store];
  try {
    const time = nextStart();
    const sites: Site[] = [];
    for (let nth = 0; nth < 6; nth += 1) sites.push(await createSite(store, { time }));
    const logAll = () => Promise.allSettled(sites.map(({ server }) => server.log({})));
    for (const _ of [1, 2, 3]) await logAll();
    const gone = sites.slice(0, 4).map(({ account }) => account);
    await asking(databaseURL, `DELETE FROM account_position WHERE account IN (${gone})`);
    const before = await asking(databaseURL, 'SELECT FROM event');
    const settled = await logAll();
    expect(settled.map(({ status }) => status)).toEqual([...gone.map(() => 'rejected'), 'fulfilled', 'fulfilled']);
    expect(await asking(databaseURL, 'SELECT FROM event')).toHaveLength(before.length + 2);
  } finally {
    await store.close();
  }
});

test('an event whose user another transaction holds comes after what that one stores', async () => {
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
    // The first on that day: the row of the user is to be updated.
    const logged = server.logAt(tomorrow, { userUUID: 'user-held', eventUUID: 'event-2' });
    await untilWaiting(databaseURL, 1);
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
