// The newest events of a contact or a user are read without a transaction, unless the account has a writer.
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import type { EventQuery, Store } from '../../src/store/store.ts';
import { soon } from '../fixtures/patience.ts';
import { asking, newDatabase } from '../fixtures/postgres/databases.ts';
import { createSite, type Site } from '../fixtures/site.ts';
import { day } from '../fixtures/store.ts';
import { logRemoteCommands, sentWhile } from './tools/remote-commands.ts';

let databaseURL: string;
let store: Store;
let site: Site;
beforeAll(async () => {
  databaseURL = await newDatabase();
  await logRemoteCommands(databaseURL);
  store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
});
afterAll(() => store.close());
beforeEach(async () => {
  site = await createSite(store);
});

const newest = (query: Partial<EventQuery>) =>
  store.getEvents({ account: site.account, order: 'desc', limit: 100, ...query });
const namesOf = async (query: Partial<EventQuery>) => (await newest(query)).events.map(({ eventUUID }) => eventUUID);

/** Prepares the statements on each connection, and caches the names of events. */
const prepare = (query: Partial<EventQuery>) => Promise.all(Array.from({ length: 40 }, () => newest(query)));

/** A contact with a user, each with events. */
const makePerson = async (name: string) => {
  const userUUID = `user-of-${name}`;
  const { contactUUID } = await site.server.createContact({ userUUID, address: `${name}@example.com` });
  await site.server.log(
    { eventUUID: `${name}-first`, userUUID },
    { eventUUID: `${name}-direct`, userUUID, contactUUID },
    { eventUUID: `${name}-last`, userUUID },
  );
  return { userUUID, contactUUID };
};
const eventsOf = (name: string) => [`${name}-last`, `${name}-direct`, `${name}-first`];

/** How many commands read_together carries out for a page, when everything is prepared, with those that begin a transaction. */
const commandsFor = async (query: Partial<EventQuery>) => {
  await prepare(query);
  const { sent } = await sentWhile(() => newest(query));
  const begins = sent.filter(({ text }) => text.startsWith('BEGIN'));
  return { together: sent.filter(({ text }) => text.includes('read_together(')).length, begins: begins.length };
};
/** Waits until the maintenance of the account has written. */
const expectBrief = (query: Partial<EventQuery>, together: number) =>
  expect.poll(() => commandsFor(query), soon).toEqual({ together, begins: 0 });

test('a page of a contact, or of a user, is two commands', async () => {
  const { userUUID, contactUUID } = await makePerson('ada');
  for (const query of [{ contactUUID }, { userUUID }, { contactUUID, userUUID }]) {
    expect(await namesOf(query)).toEqual(eventsOf('ada'));
    await expectBrief(query, 2);
  }
});

test('a page of several months has a command for each, and one of many users or of filters has no more', async () => {
  const { userUUID, contactUUID } = await makePerson('ada');
  const month = 31 * day;
  await site.server.logAt(site.time + month, { eventUUID: 'month-1', userUUID });
  await site.server.logAt(site.time + 2 * month, { eventUUID: 'month-2', contactUUID });
  expect(await namesOf({ contactUUID })).toEqual(['month-2', 'month-1', ...eventsOf('ada')]);
  await expectBrief({ contactUUID }, 4);
  for (let nth = 0; nth < 9; nth += 1) {
    await site.link(`another-user-${nth}`, contactUUID);
    await site.server.logAt(site.time + 2 * month, { eventUUID: `other-${nth}`, userUUID: `another-user-${nth}` });
  }
  // By a user who was never linked to the contact.
  const bob = await makePerson('bob');
  await site.server.logAt(site.time + 2 * month, { eventUUID: 'direct', userUUID: bob.userUUID, contactUUID });
  expect((await newest({ contactUUID })).events).toEqual((await site.events({ contactUUID })).toReversed());
  await expectBrief({ contactUUID }, 5);
  expect((await newest({ contactUUID, attrID: 'size' })).events).toEqual([]);
  await expectBrief({ contactUUID, eventID: 1 }, 5);
  await expectBrief({ contactUUID, from: site.time + month }, 4);
});

test('a page of a contact that is merged is read in one snapshot', async () => {
  const [ada, bob] = [await makePerson('ada'), await makePerson('bob')];
  await site.merge(ada.contactUUID, bob.contactUUID);
  expect((await commandsFor({ contactUUID: ada.contactUUID })).begins).toBeGreaterThan(0);
  expect(await namesOf({ contactUUID: bob.contactUUID })).toEqual([...eventsOf('bob'), ...eventsOf('ada')]);
});

test('the newest first, events have the same owners and reasons as in ascending order', async () => {
  const people = [await makePerson('ada'), await makePerson('bob'), await makePerson('cyd')];
  const [ada, bob, cyd] = people.map(({ contactUUID }) => contactUUID) as [string, string, string];
  const { contactUUID: claimID } = await site.browser.createContact({
    userUUID: 'user-of-a-claim',
    address: 'ada@example.com',
    newHandle: 'handle-of-a-claim',
  });
  await site.server.log({ eventUUID: 'claimed', userUUID: 'user-of-a-claim' });
  await site.unlink('user-of-bob');
  await site.server.log({ eventUUID: 'of-nobody', userUUID: 'user-of-bob' });
  await site.link('user-of-bob', cyd);
  await site.server.log({ eventUUID: 'of-another', userUUID: 'user-of-bob', contactUUID: ada });
  await site.merge(cyd, bob);
  const queries = [
    ...[ada, bob, cyd].map((contactUUID) => ({ contactUUID })),
    ...['ada', 'bob', 'cyd', 'a-claim', 'nobody'].map((name) => ({ userUUID: `user-of-${name}` })),
    { contactUUID: cyd, userUUID: 'user-of-bob' },
    { contactUUID: cyd, userUUID: 'user-of-ada' },
  ];
  const compare = async () => {
    for (const query of queries) {
      const inOrder = await site.events(query);
      expect((await newest(query)).events).toEqual(inOrder.toReversed());
      expect(await site.events({ order: 'desc', limit: 1, ...query })).toEqual(inOrder.toReversed());
    }
  };
  await compare();
  expect((await newest({ userUUID: 'user-of-a-claim' })).events).toMatchObject([{ why: { claimID } }]);
  for (const change of [site.acceptClaim, site.voidClaim, site.restoreClaim]) {
    await change(claimID);
    await compare();
  }
  await site.erase(ada);
  queries.shift();
  await compare();
});

test.each(['"quoted"', '\\', 'NULL', '{a,b}', '%1$s', "it's $1", 'é \u{1f642}', ' '])(
  'the external ID %j is sent as it is',
  async (externalID) => {
    const { contactUUID } = await site.server.createContact({
      externalID,
      address: undefined,
      userUUID: 'user-of-an-id',
    });
    await site.server.log({ eventUUID: 'of-an-id', contactUUID, userUUID: 'user-of-an-id' });
    expect(await namesOf({ externalID })).toEqual(['of-an-id']);
  },
);

test('a contact that is not there, or was erased, is refused', async () => {
  const { contactUUID } = await makePerson('ada');
  await expect(newest({ contactUUID: 'no-such-contact' })).rejects.toMatchObject({ code: 'unknown_contact' });
  await expect(newest({ externalID: 'no-such-id' })).rejects.toMatchObject({ field: 'contactExternalID' });
  await site.erase(contactUUID);
  await expect(newest({ contactUUID })).rejects.toMatchObject({ code: 'erased_contact' });
  expect(await namesOf({ userUUID: 'no-such-user' })).toEqual([]);
  const gone = { account: 1_000_000, contactUUID };
  await expect(newest(gone)).rejects.toMatchObject({ code: 'unknown_contact' });
});

test('while the account has a writer, a page is read in one snapshot, with all that was acknowledged', async () => {
  const { contactUUID, userUUID } = await makePerson('ada');
  await prepare({ contactUUID });
  const writer = new pg.Client(databaseURL);
  await writer.connect();
  await writer.query('BEGIN');
  await writer.query('SELECT * FROM begin_writing($1, $1, false, false, NULL, 0)', [[site.account]]);
  await site.server.log({ eventUUID: 'ada-later', userUUID });
  const { sent } = await sentWhile(async () => {
    const page = await newest({ contactUUID });
    expect(page.events.map(({ eventUUID }) => eventUUID)).toEqual(['ada-later', ...eventsOf('ada')]);
    // A client that continues from `through` receives the later event again, because of the writer.
    expect(page.through).toBeLessThan(page.events[0]?.sequence as number);
  });
  expect(sent.some(({ text }) => text.startsWith('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ'))).toBe(true);
  await writer.query('ROLLBACK');
  await writer.end();
});

test('after a page is read, no lock is kept that a writer would wait for', async () => {
  const { contactUUID } = await makePerson('ada');
  const reading = Array.from({ length: 50 }, () => newest({ contactUUID }));
  await Promise.all(reading);
  const held = await asking(
    databaseURL,
    `SELECT result FROM run_command_on_workers($$
       SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock'
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND classid::bigint = 872415232 AND objid::bigint = ${site.account} $$)`,
  );
  expect(held).toEqual([{ result: '0' }, { result: '0' }]);
});

test('a session of a machine keeps a limited number of prepared statements', async () => {
  const client = new pg.Client(databaseURL);
  await client.connect();
  const read = async (key: string, sql: string) => {
    const call = `SELECT read_together($1, max(tableoid), $2, $3, '{}', '{1}', false) AS value FROM account_position WHERE account = $1`;
    return (await client.query(call, [site.account, key, sql])).rows[0].value;
  };
  try {
    // In a transaction, Citus uses the same session of the machine.
    await client.query('BEGIN');
    const counts: number[] = [];
    for (let nth = 0; nth < 600; nth += 1) {
      expect(await read(`key${nth}`, `SELECT json_build_array($1::integer, ${nth})`)).toEqual([1, nth]);
      if (nth % 50 === 0)
        counts.push(
          await read(`count${nth}`, 'SELECT to_json(count(*) + $1::integer - 1) FROM pg_prepared_statements'),
        );
    }
    expect(Math.max(...counts)).toBeGreaterThan(200);
    expect(Math.max(...counts)).toBeLessThan(270);
    expect(await read('key599', null as never)).toEqual([1, 599]);
    expect(await read('key0', null as never)).toBe(null);
    await client.query('ROLLBACK');
    expect(await read('key599', 'SELECT json_build_array($1::integer)')).toEqual([1, 599]);
    // One that a transaction has removed, whatever became of it, is prepared again.
    await client.query('BEGIN');
    for (let nth = 1_000; nth < 1_300; nth += 1) await read(`key${nth}`, 'SELECT json_build_array($1::integer)');
    await client.query('ROLLBACK');
    expect(await read('key599', null as never)).toBe(null);
    expect(await read('key599', 'SELECT json_build_array($1::integer)')).toEqual([1]);
    expect(await read('key599', null as never)).toEqual([1]);
  } finally {
    await client.end();
  }
});

describe('between the two commands', () => {
  /** Does something else before the second is sent. */
  const readAround = async (query: Partial<EventQuery>, meanwhile: () => Promise<unknown>) => {
    const send = pg.Client.prototype.query as (...args: unknown[]) => Promise<unknown>;
    let commands = 0;
    const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(async function (
      this: pg.Client,
      ...args: unknown[]
    ) {
      const [{ text = '' }] = args as [{ text?: string }];
      if (text.includes('read_together')) {
        commands += 1;
        if (commands === 2) await meanwhile();
      }
      return send.apply(this, args);
    } as never);
    try {
      return await newest(query);
    } finally {
      spy.mockRestore();
    }
  };
  test.each(['contact', 'user'] as const)(
    'what a user does after an unlink is no event of a page: by %s',
    async (by) => {
      const { contactUUID, userUUID } = await makePerson('ada');
      const query = by === 'contact' ? { contactUUID } : { userUUID };
      await prepare(query);
      const before = await newest(query);
      const page = await readAround(query, async () => {
        await site.unlink(userUUID);
        await site.server.log({ eventUUID: 'ada-later', userUUID });
      });
      expect(page).toEqual(before);
      expect(await namesOf({ userUUID })).toEqual(['ada-later', ...eventsOf('ada')]);
    },
  );

  test('erased events are hidden', async () => {
    const { contactUUID, userUUID } = await makePerson('ada');
    await prepare({ contactUUID });
    const page = await readAround({ contactUUID }, () => site.erase(contactUUID));
    expect(page.events).toEqual([]);
    expect(await namesOf({ userUUID })).toEqual([]);
  });

  test('a page of an account that is deleted has no events', async () => {
    const { contactUUID } = await makePerson('ada');
    await prepare({ contactUUID });
    const { account, time } = site;
    const page = await readAround({ contactUUID }, () => store.deleteAccount({ account, time, most: 1_000 }));
    expect(page.events).toEqual([]);
  });
});
