// Tests several servers that share one database.

import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '@firsthand/contract/limits';
import pg from 'pg';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { newDatabase, querySQL } from '../../../test/fixtures/postgres/databases.ts';
import { alterSchema, waitForLockWaits } from '../../../test/fixtures/postgres/sql.ts';
import { createSite, type Site } from '../../../test/fixtures/site.ts';
import {
  accountContact,
  ann,
  ben,
  day,
  laptop,
  newContact,
  newEvent,
  newToken,
  phone,
} from '../../../test/fixtures/store.ts';
import { soon } from '../../../test/fixtures/timeouts.ts';
import { readMigrations } from '../migrations.ts';
import { openStore } from '../open.ts';
import type { EventOutcome, NewEvent, Store, StoredEvent } from '../store.ts';
import { lockKeys, toScriptedConnection } from './database/connection.ts';
import { toBodies } from './events/event-body.ts';
import { type BeginOptions, beginWriting } from './transactions/sequencer.ts';

const times = (count: number) => Array.from({ length: count }, (_, nth) => nth);

const openStores: Store[] = [];
afterEach(async () => {
  await Promise.all(openStores.splice(0).map((store) => store.close()));
});

const open = async (databaseURL: string): Promise<Store> => {
  const store = await openStore({ databaseURL, role: 'server', onFatal: fail });
  openStores.push(store);
  return store;
};

/** Begins a transaction for an account, as a server does. */
const begin = (client: pg.Client, mode: BeginOptions['mode'], account: number) =>
  beginWriting({ ...toScriptedConnection(client), isDistributed: process.env.TEST_STORE === 'citus' }, { mode }, [
    account,
  ]);

const openServers = async (count: number): Promise<{ databaseURL: string; servers: [Store, Store, ...Store[]] }> => {
  const databaseURL = await newDatabase();
  const servers = await Promise.all(times(count).map(() => open(databaseURL)));
  return { databaseURL, servers: servers as [Store, Store, ...Store[]] };
};

/** Logs events through the given server, with the site's own caller. */
const logAt = (store: Store, { account, server }: Site, receivedTime: number, ...events: Partial<NewEvent>[]) =>
  store.logEvents({
    account,
    token: server.token,
    browser: false,
    receivedTime,
    events: events.map((event) => newEvent({ eventTime: receivedTime, ...event })),
  });

function fail(error: Error): never {
  throw error;
}

const isKept = ({ kept }: EventOutcome) => kept;

test('creates the schema only once when twenty servers start concurrently', async () => {
  const { databaseURL, servers } = await openServers(20);
  const all = readMigrations(new URL('migrations/', import.meta.url)).map(({ number }) => ({ number }));
  expect(await querySQL(databaseURL, 'SELECT number FROM migration ORDER BY number')).toEqual(all);
  const site = await createSite(servers[0]);
  for (const store of servers) expect(await store.findAccount(site.accountUUID)).toBe(site.account);
});

test('refuses a server that is older than the schema', async () => {
  const { databaseURL } = await openServers(2);
  await querySQL(databaseURL, 'INSERT INTO migration VALUES (99, now())');
  await expect(open(databaseURL)).rejects.toThrow(/newer Firsthand \(schema 99/);
});

describe('tokens', () => {
  test('stop working on all servers once one revokes them', async () => {
    const { servers } = await openServers(3);
    const site = await createSite(servers[0]);
    for (const _ of times(5)) {
      const token = newToken('server');
      await servers[0].createToken({ ...token, account: site.account });
      for (const store of servers) expect(await store.findAccess(token.hash)).toMatchObject({ tokenID: token.tokenID });
      await servers[1].revokeToken({ account: site.account, tokenID: token.tokenID, time: site.time });
      expect(await servers[1].findAccess(token.hash)).toBeUndefined();
      await vi.waitFor(
        async () => {
          for (const store of servers) expect(await store.findAccess(token.hash)).toBeUndefined();
        },
        { ...soon, interval: 10 },
      );
    }
  });

  test('stop working on a server that has lost its listening connection', async () => {
    const { databaseURL, servers } = await openServers(2);
    const site = await createSite(servers[0]);
    const token = newToken('server');
    await servers[0].createToken({ ...token, account: site.account });
    await servers[1].findAccess(token.hash);
    await querySQL(
      databaseURL,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND query ~ 'held_floors.0.' AND pid <> pg_backend_pid()`,
    );
    await querySQL(databaseURL, `UPDATE token SET "revokedTime" = 1 WHERE hash = '${token.hash}'`);
    await vi.waitFor(async () => expect(await servers[1].findAccess(token.hash)).toBeUndefined(), {
      ...soon,
      interval: 10,
    });
  });

  test('stop working just as quickly if the database was unreachable for a while before', async () => {
    const { databaseURL, servers } = await openServers(1);
    const [store] = servers;
    const site = await createSite(store);
    const [{ name } = { name: '' }] = await querySQL<{ name: string }>(
      databaseURL,
      'SELECT current_database() AS name',
    );
    const serverURL = databaseURL.replace(/[^/]+$/, 'postgres');
    const connecting = vi.spyOn(pg.Client.prototype, 'connect');
    await querySQL(serverURL, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await querySQL(serverURL, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    const waitForRetries = async () => {
      const before = connecting.mock.calls.length;
      await expect.poll(() => connecting.mock.calls.length).toBeGreaterThan(before + 2);
    };
    await waitForRetries();
    await querySQL(serverURL, `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    connecting.mockRestore();
    const listener = vi.fn();
    const stop = store.onCommit(listener);
    await querySQL(databaseURL, "SELECT nextval('event_order')");
    await vi.waitFor(() => expect(listener).toHaveBeenCalled(), soon);
    stop();
    const token = newToken('server');
    await store.createToken({ ...token, account: site.account });
    expect(await store.findAccess(token.hash)).toMatchObject({ tokenID: token.tokenID });
    await querySQL(
      databaseURL,
      `UPDATE token SET "revokedTime" = 1 WHERE hash = '${token.hash}'; NOTIFY firsthand_access`,
    );
    await vi.waitFor(async () => expect(await store.findAccess(token.hash)).toBeUndefined(), soon);
  });

  test('follow catalogue changes immediately, no matter which server makes them', async () => {
    const { servers } = await openServers(2);
    const site = await createSite(servers[0]);
    for (const store of servers) await logAt(store, site, site.time, {});
    for (const [round, strict] of [true, false, true].entries()) {
      await site.change({ strict, catalogues: { event: [{ id: '1' }] } });
      const [outcome] = await logAt(servers[1], site, site.time, { eventID: 77 + round });
      expect(outcome).toMatchObject(strict ? { refused: 'unknown_id' } : { kept: true });
      await site.change({ strict: false, catalogues: {} });
    }
  });
});

describe('an eventUUID', () => {
  test('is stored once when it is sent to two of four servers concurrently', async () => {
    const { databaseURL, servers } = await openServers(4);
    const site = await createSite(servers[0]);
    const outcomes = await Promise.all(
      times(1_000).map((nth) =>
        Promise.all(
          [nth, nth + 1 + (nth % 3)].map(async (server) => {
            const store = servers[server % 4] as Store;
            const userUUID = `visitor-number-${nth % 50}`;
            return logAt(store, site, site.time, { eventUUID: `event-number-${nth}`, userUUID });
          }),
        ),
      ),
    );
    for (const pair of outcomes) expect(pair.flat().filter(isKept)).toHaveLength(1);
    expect(await querySQL(databaseURL, 'SELECT count(*)::integer AS events FROM event')).toEqual([{ events: 1_000 }]);
    expect((await site.events()).length).toBe(1_000);
    expect((await servers[1].getAccount(site.account)).usage).toMatchObject({ users: 50, events: 1_000 });
  });

  test('is stored once when it is sent before and after midnight or the end of a month', async () => {
    const { servers } = await openServers(2);
    const site = await createSite(servers[0]);
    let midnight = Date.UTC(2031, 0, 1);
    for (const round of times(20)) {
      const eventUUID = `event-of-round-${round}`;
      const outcomes = await Promise.all([
        logAt(servers[0], site, midnight - 1, { eventUUID }),
        logAt(servers[1], site, midnight, { eventUUID }),
      ]);
      expect(outcomes.flat().filter(isKept)).toHaveLength(1);
      midnight += 10.5 * day;
      midnight -= midnight % day;
    }
    expect(await site.events()).toHaveLength(20);
  });
});

test('refuses a write that has waited five seconds for its account’s lock', async () => {
  const { databaseURL, servers } = await openServers(1);
  const site = await createSite(servers[0]);
  const other = new pg.Client(databaseURL);
  await other.connect();
  await begin(other, 'exclusive', site.account);
  try {
    await expect(logAt(servers[0], site, site.time, { eventUUID: 'event-late' })).rejects.toMatchObject({
      code: 'unavailable',
      cause: { code: '55P03' },
    });
  } finally {
    await other.end();
  }
  await logAt(servers[0], site, site.time, { eventUUID: 'event-late' });
  expect(await site.events()).toHaveLength(1);
});

test('refuses an erasure that has waited five seconds for a contact’s lock on the machine with its rows', async () => {
  const { databaseURL, servers } = await openServers(1);
  const site = await createSite(servers[0]);
  const { contactUUID } = await site.server.createContact({ address: 'ann@example.com', userUUID: null });
  const other = new pg.Client(databaseURL);
  await other.connect();
  await other.query('BEGIN');
  await other.query(
    `SELECT pg_advisory_xact_lock_shared(${lockKeys.contacts} + contact % 64) FROM contact WHERE account = $1`,
    [site.account],
  );
  try {
    await expect(site.erase(contactUUID)).rejects.toMatchObject({ code: 'unavailable', cause: { code: '55P03' } });
  } finally {
    await other.end();
  }
  await site.erase(contactUUID);
});

describe('a fleet of servers', () => {
  test('returns every event to a follower, in order, even if it is committed late', async () => {
    const { servers } = await openServers(4);
    const site = await createSite(servers[0]);
    const [follower, ...writers] = servers;
    // Logs a first event, which creates its day's tables, because all other writes wait for that.
    await logAt(follower, site, site.time, {});
    let isWriting = true;
    const writing = Promise.all(
      writers.map(async (store, writer) => {
        for (const nth of times(60)) {
          await Promise.all(
            times(1 + (nth % 5)).map((part) =>
              logAt(store, site, site.time, { userUUID: `visitor-number-${writer}-${part}` }),
            ),
          );
        }
      }),
    ).finally(() => {
      isWriting = false;
    });
    // Ignored here, because the `await` below rethrows the failure.
    writing.catch(() => {});
    const followed: StoredEvent[] = [];
    for (let beyond = 0, isLast = false; !isLast; ) {
      isLast = !isWriting;
      const page = await follower.getEvents({ account: site.account, order: 'asc', beyond, limit: 50 });
      followed.push(...page.events);
      beyond = page.through;
      if (page.next !== null) isLast = false;
    }
    await writing;
    const sequences = followed.map(({ sequence }) => sequence);
    expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
    expect(followed.map(({ eventUUID }) => eventUUID)).toEqual((await site.events()).map(({ eventUUID }) => eventUUID));
    expect(followed).toHaveLength(1 + 3 * 60 * 3);
  });

  test('waits for a transaction that has drawn a sequence but has not committed', async () => {
    const { databaseURL, servers } = await openServers(2);
    const site = await createSite(servers[0]);
    await logAt(servers[0], site, site.time, { eventUUID: 'event-first' });
    const slow = new pg.Client(databaseURL);
    await slow.connect();
    const body = toBodies([
      { ...newEvent({ eventUUID: 'event-slow' }), eventTime: site.time, receivedTime: site.time },
    ]);
    await begin(slow, 'shared', site.account);
    const drawn = (await slow.query("SELECT nextval('event_order') AS sequence")).rows[0].sequence;
    await slow.query(
      `INSERT INTO event SELECT holder, $2::bigint, "user", "eventTime", account, day, "eventID", $3::bytea FROM event WHERE account = $1`,
      [site.account, drawn, body[0]],
    );
    await slow.query('UPDATE account_day SET "lastSequence" = $2::bigint WHERE account = $1', [site.account, drawn]);
    await logAt(servers[1], site, site.time, { eventUUID: 'event-quick' });
    const newest = await servers[1].getEvents({ account: site.account, order: 'desc', limit: 1 });
    expect(newest.events.map(({ eventUUID }) => eventUUID)).toEqual(['event-quick']);
    const { account } = site;
    const following = servers[1].getEvents({ account, order: 'asc', beyond: newest.through, limit: 9 });
    await slow.query('COMMIT');
    const { events, through } = await following;
    expect(events.map(({ eventUUID }) => eventUUID)).toEqual(['event-slow', 'event-quick']);
    expect(through).toBe(events[1]?.sequence);
    await slow.end();
  });

  test('neither waits for another account’s transaction nor hides events because of it', async () => {
    const { databaseURL, servers } = await openServers(2);
    const [slow, quick] = [await createSite(servers[0]), await createSite(servers[1])];
    const other = new pg.Client(databaseURL);
    await other.connect();
    await begin(other, 'exclusive', slow.account);
    await other.query("SELECT nextval('event_order')");
    try {
      await logAt(servers[1], quick, quick.time, { eventUUID: 'event-of-quick' });
      const page = await servers[0].getEvents({ account: quick.account, order: 'asc', limit: 9 });
      expect(page.events.map(({ eventUUID }) => eventUUID)).toEqual(['event-of-quick']);
      expect(page.through).toBeGreaterThanOrEqual(page.events[0]?.sequence as number);
      // Starts a new day and a merge, each of which locks only its own account.
      await logAt(servers[1], quick, quick.time + day, { eventUUID: 'event-of-next-day' });
      const [{ contactUUID: ann }, { contactUUID: ben }] = await Promise.all([
        quick.server.createContact({ address: 'ann@example.com', userUUID: null }),
        quick.server.createContact({ address: 'ben@example.com', userUUID: null }),
      ]);
      await quick.merge(ann, ben);
      await expect(servers[0].getEvents({ account: slow.account, order: 'asc', limit: 9 })).rejects.toMatchObject({
        code: 'unavailable',
      });
    } finally {
      await other.end();
    }
    expect(await servers[0].getEvents({ account: slow.account, order: 'asc', limit: 9 })).toMatchObject({ events: [] });
  });

  test('has one eventID per name, no matter which server lists it first, even while names change', async () => {
    const { servers } = await openServers(2);
    const site = await createSite(servers[0]);
    const { account, time } = site;
    for (const round of times(15)) {
      const names = times(4).map((nth) => `name ${round}-${nth}`);
      const logging = times(8).map((nth) => {
        const inOrder = nth % 3 ? names : names.toReversed();
        const events = inOrder.map((eventName) => ({ eventID: null, eventName, userUUID: `visitor-${nth}-of-names` }));
        return logAt(servers[nth % 2] as Store, site, time, ...events, { eventID: round * 10 + (nth % 2) + 1 });
      });
      const event = [{ id: String(1_000_000 + round), name: `renamed ${round}` }];
      const renaming = servers[1].updateAccount({ account, catalogues: { event }, contacts: [], time });
      expect((await Promise.all(logging)).flat().every(isKept)).toBe(true);
      await renaming;
    }
    const { catalogues } = await servers[1].getAccount(account);
    const names = new Map(catalogues.event.map(({ id, name }) => [name, Number(id)]));
    expect(names.size).toBe(catalogues.event.length);
    const events = await site.events();
    expect(events).toHaveLength(15 * 8 * 5);
    for (const { eventID, eventName } of events) expect(eventID).toBe(names.get(eventName));
  });

  test('adds no more names for browser tokens than a single server would', async () => {
    const { servers } = await openServers(2);
    const site = await createSite(servers[0]);
    const { account, browser, time } = site;
    const maxNames = limits.eventNamesByBrowsers;
    await Promise.all(
      times(12).map((batch) => {
        const events = times(50).map((nth) => newEvent({ eventID: null, eventName: `name ${batch}-${nth}` }));
        const asker = { account, token: browser.token, browser: true };
        return (servers[batch % 2] as Store).logEvents({ ...asker, receivedTime: time, events });
      }),
    );
    expect((await servers[0].getAccount(account)).catalogues.event).toHaveLength(maxNames);
    expect(await site.events()).toHaveLength(12 * 50);
  });

  test('has one first link per user, no matter which server creates it', async () => {
    const { servers } = await openServers(2);
    const site = await createSite(servers[0]);
    for (const round of times(20)) {
      const userUUID = `visitor-of-round-${round}`;
      const created = await Promise.all(
        times(6).map((nth) =>
          (servers[nth % 2] as Store).createContact({
            account: site.account,
            token: site.server.token,
            browser: false,
            verified: true,
            userUUID,
            address: `round-${round}@example.com`,
            fields: { contactFirstname: `Ann ${nth}` },
            tags: [],
            attributes: [],
            requestUUID: null,
            newContactUUID: `contact-${round}-${nth}`,
            newHandle: `handle-${round}-${nth}`,
            time: site.time,
          }),
        ),
      );
      expect(new Set(created.map(({ contactUUID }) => contactUUID)).size).toBe(1);
      expect(created.filter(({ exists }) => !exists)).toHaveLength(1);
      const { links } = await site.server.getContact(created[0]?.contactUUID as string, 'link');
      expect(links).toMatchObject([{ userUUID }]);
    }
  });

  test('has one contact for an external ID, no matter which server creates it', async () => {
    const { servers } = await openServers(2);
    const site = await createSite(servers[0]);
    const create = (nth: number, externalID: string, address?: string) =>
      (servers[nth % 2] as Store).createContact({
        ...newContact({ externalID, address, userUUID: null, time: site.time }),
        account: site.account,
        token: site.server.token,
        browser: false,
        verified: true,
      });
    for (const round of times(10)) {
      const externalID = `customer-of-round-${round}`;
      const addresses = [undefined, `one-${round}@example.com`, `two-${round}@example.com`];
      const created = await Promise.all(times(6).map((nth) => create(nth, externalID, addresses[nth % 3])));
      expect(new Set(created.map(({ contactUUID }) => contactUUID)).size).toBe(1);
      expect(created.filter(({ exists }) => !exists)).toHaveLength(1);
      // Sends all pairs of an external ID and an address concurrently. Some are refused, but none may fail
      // unexpectedly.
      const crossing = await Promise.allSettled(
        times(8).map((nth) =>
          create(nth >> 1, `crossing-${round}-${nth & 1}`, `crossing-${round}-${(nth >> 1) & 1}@example.com`),
        ),
      );
      for (const result of crossing) {
        if (result.status === 'rejected') expect(result.reason.code).toMatch(/^(email|external_id)_taken$/);
      }
      expect(crossing.some(({ status }) => status === 'fulfilled')).toBe(true);
    }
  });
});

test('keeps data erased while other servers store events', async () => {
  const { databaseURL, servers } = await openServers(3);
  const site = await createSite(servers[0]);
  for (const round of times(5)) {
    const { contactUUID } = await site.server.createContact({ address: round % 2 ? ann : ben, userUUID: laptop });
    let isErased = false;
    const writing = servers.map(async (store) => {
      while (!isErased) await logAt(store, site, site.time, {}, { userUUID: phone }, { userUUID: null, contactUUID });
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await site.erase(contactUUID);
    const { links } = await site.server.getContact(
      (await site.server.createContact({ userUUID: phone })).contactUUID,
      'link',
    );
    isErased = true;
    await Promise.all(writing);
    const unlinked = links?.find(({ userUUID }) => userUUID === phone);
    expect(unlinked).toBeDefined();
    await vi.waitFor(async () => expect((await site.erase(contactUUID)).complete).toBe(true), soon);
    expect(await querySQL(databaseURL, 'SELECT 1 FROM event WHERE holder < 0')).toEqual([]);
    await site.erase((await site.server.createContact({ userUUID: phone })).contactUUID);
  }
});

test('notifies listeners on one server of events that another stores', async () => {
  const { servers } = await openServers(2);
  const site = await createSite(servers[0]);
  const listener = vi.fn();
  const stop = servers[1].onCommit(listener);
  await logAt(servers[0], site, site.time, {});
  await vi.waitFor(() => expect(listener).toHaveBeenCalled(), soon);
  stop();
});

test('notifies listeners on one server of an erasure on another server, which stores no event', async () => {
  const { servers } = await openServers(2);
  const site = await createSite(servers[0]);
  const { contactUUID } = await site.server.createContact({ userUUID: null });
  await site.server.log({ userUUID: null, contactUUID });
  const listener = vi.fn();
  const stop = servers[1].onCommit(listener);
  // Waits until that server has noticed all earlier commits.
  for (let before = -1; before < listener.mock.calls.length; await wait(500)) before = listener.mock.calls.length;
  listener.mockClear();
  await site.erase(contactUUID);
  await vi.waitFor(() => expect(listener).toHaveBeenCalled(), soon);
  stop();
});

test('completes an erasure that another server left unfinished', async () => {
  const { servers } = await openServers(2);
  const site = await createSite(servers[0]);
  const { contactUUID } = await site.server.createContact();
  for (let batch = 0; batch < 3; batch += 1) await site.server.log(...times(1_000).map(() => ({})));
  await site.erase(contactUUID);
  await servers[0].close();
  openStores.splice(openStores.indexOf(servers[0]), 1);
  const { account, time } = site;
  const erase = () => servers[1].eraseContact({ account, contactUUID, time });
  await vi.waitFor(async () => expect((await erase()).complete).toBe(true), { ...soon, interval: 50 });
  expect(await erase()).toMatchObject({ deletedEvents: 3_000 });
  expect((await servers[1].getAccount(account)).usage.events).toBe(0);
});

test('rejects only the faulty request in a commit, and stores the others', async () => {
  const { servers } = await openServers(1);
  const [store] = servers;
  const site = await createSite(store);
  const logged = await Promise.allSettled([
    logAt(store, site, site.time, { eventUUID: 'event-before' }),
    // Sends a request that only a bug in Firsthand itself could cause.
    logAt(store, site, site.time, { eventUUID: 'event-faulty', attributes: undefined as never }),
    logAt(store, site, site.time, { eventUUID: 'event-after' }),
  ]);
  expect(logged).toMatchObject([
    { status: 'fulfilled', value: [{ kept: true }] },
    { status: 'rejected', reason: expect.any(TypeError) },
    { status: 'fulfilled', value: [{ kept: true }] },
  ]);
  expect(Object.keys(await site.owners())).toEqual(['event-before', 'event-after']);
});

const fullDisk = `CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql
  AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100'; END $$`;

test('rolls back an account change if the disk is full, so that the change can be retried', async () => {
  const { databaseURL, servers } = await openServers(1);
  const site = await createSite(servers[0]);
  await alterSchema(
    databaseURL,
    fullDisk,
    `CREATE TRIGGER fill BEFORE INSERT ON contact FOR EACH ROW WHEN (NEW."contactEmailaddress" = '${ben}')
       EXECUTE FUNCTION fill()`,
  );
  const change = {
    accountName: 'Another name',
    contacts: [accountContact({ address: ann }), accountContact({ address: ben })],
  };
  await expect(site.change(change)).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 5 });
  expect(await servers[0].getAccount(site.account)).toMatchObject({ accountName: 'A shop', usage: { contacts: 0 } });
  await alterSchema(databaseURL, 'DROP TRIGGER fill ON contact');
  expect(await site.change(change)).toMatchObject({ contacts: [{ exists: false }, { exists: false }] });
  expect(await servers[0].getAccount(site.account)).toMatchObject({ accountName: 'Another name' });
});

test('fails health checks while the database’s disk is full', async () => {
  const { databaseURL, servers } = await openServers(1);
  const [store] = servers;
  const site = await createSite(store);
  await alterSchema(
    databaseURL,
    fullDisk,
    `CREATE FUNCTION fill_command() RETURNS event_trigger LANGUAGE plpgsql
       AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100'; END $$`,
    'CREATE TRIGGER fill BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION fill()',
    'CREATE EVENT TRIGGER fill_command ON ddl_command_start EXECUTE FUNCTION fill_command()',
  );
  await store.check();
  await expect(site.server.log({})).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 5 });
  await expect(store.check()).rejects.toMatchObject({ code: '53100' });
  await expect(store.check()).rejects.toMatchObject({ code: '53100' });
  await alterSchema(databaseURL, 'DROP EVENT TRIGGER fill_command', 'DROP TRIGGER fill ON event');
  await store.check();
  expect((await site.server.log({})).every(isKept)).toBe(true);
  expect(await querySQL(databaseURL, "SELECT 1 FROM pg_class WHERE relname = 'room'")).toEqual([]);
});

test('refuses writes beyond the backlog limit, and stores the others', async () => {
  const { servers } = await openServers(1);
  const site = await createSite(servers[0]);
  const note = 'x'.repeat(2_000);
  const large = () => times(100).map(() => ({ attributes: [['note', note]] as const }));
  const settled = await Promise.allSettled(times(60).map(() => site.server.log(...large())));
  const stored = settled.filter(({ status }) => status === 'fulfilled').length;
  expect(stored).toBeGreaterThan(5);
  expect(stored).toBeLessThan(60);
  for (const each of settled)
    if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'unavailable' });
  expect((await servers[0].getAccount(site.account)).usage.events).toBe(stored * 100);
});

test('lists an ID once, and stores the event, if another server lists the ID in the meantime', async () => {
  const { databaseURL, servers } = await openServers(2);
  const [one] = servers;
  const site = await createSite(one);
  const { account } = site;
  const other = new pg.Client(databaseURL);
  await other.connect();
  try {
    // Lists the ID between this server's two queries, as another server would.
    await other.query('BEGIN');
    await other.query('UPDATE account_position SET catalogues = catalogues + 1 WHERE account = $1', [account]);
    await other.query(
      `INSERT INTO catalogue (account, kind, id, name, browser, "byBrowser", type) VALUES ($1, 'event', '77', '77', true, false, '')`,
      [account],
    );
    const logging = logAt(one, site, site.time, { eventID: 77, attributes: [] });
    await waitForLockWaits(databaseURL, 1);
    await other.query('COMMIT');
    expect((await logging).every(isKept)).toBe(true);
  } finally {
    await other.end();
  }
  const listed = `SELECT id FROM catalogue WHERE account = ${account} AND kind = 'event' AND id = '77'`;
  expect(await querySQL(databaseURL, listed)).toHaveLength(1);
});

test('keeps and counts other senders’ refused requests when two servers fill the list concurrently', async () => {
  const { servers } = await openServers(2);
  const { account, browser, time } = await createSite(servers[0]);
  const storeRefused = (store: Store, sender: number, count: number) =>
    store.addRefused({
      account,
      token: browser.token,
      time,
      sender,
      requests: times(count).map((number) => ({
        operation: 'logEvent',
        input: { sender, number },
        address: null,
        code: 'invalid_field',
        message: '',
      })),
    });
  await storeRefused(servers[0], 0, 20);
  // Sends from each server, because each has a different number for an address.
  for (const _ of times(3))
    await Promise.all(servers.map((store, nth) => storeRefused(store, nth + 1, limits.refusedPerToken)));
  const { requests } = await servers[1].listRefused({ account, beyond: 0, limit: 20 });
  expect(requests.map(({ input }) => input)).toEqual(times(20).map((number) => ({ sender: 0, number })));
  const [count] = await servers[1].countRefused({ account });
  expect(count).toMatchObject({ listed: limits.refusedPerToken, evicted: 20 + 5 * limits.refusedPerToken });
});

describe('passkeys', () => {
  const join = async (store: Store, { account, time }: Site, nth: number) => {
    const passkey = { passkeyID: `passkey-${nth}`, passkeyName: '', credentialID: `credential-${nth}`, transports: [] };
    const invited = {
      account,
      memberID: `member-${nth}`,
      emailaddress: `ann-${nth}@shop.example`,
      hash: `code-${nth}`,
    };
    await store.inviteMember({ ...invited, kind: 'viewer', expiresTime: time + 1, time });
    await store.joinMember({
      ...{ hash: invited.hash, memberName: 'Ann', password: null, access: newToken('viewer'), time },
      passkey: { ...passkey, origin: 'https://firsthand.shop.example', publicKey: 'key', counter: 0 },
    });
    return passkey.passkeyID;
  };

  test('use a challenge only once across all servers, which share one challenge key', async () => {
    const { databaseURL, servers } = await openServers(3);
    const [first] = servers;
    const site = await createSite(first);
    const { time } = site;
    const keys = await Promise.all(servers.map((store) => store.getDatabaseKey()));
    expect(keys).toEqual(keys.map(() => keys[0]));
    const passkeys = await Promise.all(times(20).map((nth) => join(first, site, nth)));
    const useAll = (challenge: string, at: number) =>
      Promise.allSettled(
        passkeys.flatMap((passkeyID) =>
          servers.map((store) =>
            store.usePasskey({
              ...{ passkeyID, counter: 0, time: at },
              challenge: { challenge: `${challenge} ${passkeyID}`, expiresTime: at + 10 },
            }),
          ),
        ),
      );
    // In the second round, all servers delete the same expired challenges.
    for (const [nth, challenge] of ['one', 'two'].entries()) {
      const outcomes = await useAll(challenge, time + nth * 10);
      const refusals = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : []));
      expect(refusals).toEqual(Array(40).fill('invalid_token'));
    }
    expect(await querySQL(databaseURL, 'SELECT challenge FROM answered_challenge')).toHaveLength(20);
  });
});
