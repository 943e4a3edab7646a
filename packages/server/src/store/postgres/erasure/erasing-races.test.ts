// What goes wrong between two statements of an erasure and of another write, each made to happen by holding one back.
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, expect, test, vi } from 'vitest';
import { soon } from '../../../../test/fixtures/patience.ts';
import { untilWaiting } from '../../../../test/fixtures/postgres/asking.ts';
import { asking, newMigratedDatabase } from '../../../../test/fixtures/postgres/databases.ts';
import { createSite } from '../../../../test/fixtures/site.ts';
import {
  ann,
  ben,
  contactChange,
  expectRefusal,
  laptop,
  newEvent,
  newID,
  phone,
  tablet,
} from '../../../../test/fixtures/store.ts';
import { openStore } from '../../open.ts';
import type { Store } from '../../store.ts';
import { lockKeys } from '../database/connection.ts';

const opened: Store[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

const openServers = async (databaseURL: string): Promise<[Store, Store]> => {
  const open = async () => {
    const store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
    opened.push(store);
    return store;
  };
  return [await open(), await open()];
};

const setUp = async () => {
  const databaseURL = await newMigratedDatabase();
  const [store, other] = await openServers(databaseURL);
  return { databaseURL, other, site: await createSite(store) };
};

/** Holds back the next statement like this, after so many others like it, until `goOn`. */
const holdBack = (like: RegExp, others = 0) => {
  let reach = () => {};
  let goOn = () => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const allowed = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const query = pg.Client.prototype.query as (...given: unknown[]) => unknown;
  let left = others;
  let isDone = false;
  const spied = vi.spyOn(pg.Client.prototype, 'query') as unknown as { mockImplementation(made: typeof query): void };
  spied.mockImplementation(function (this: unknown, ...given) {
    const [asked] = given as [string | { text?: string }];
    const text = typeof asked === 'string' ? asked : (asked.text ?? '');
    if (isDone || !like.test(text)) return query.apply(this, given);
    if (left > 0) {
      left -= 1;
      return query.apply(this, given);
    }
    isDone = true;
    reach();
    return allowed.then(() => query.apply(this, given));
  });
  return { reached, goOn: () => goOn() };
};

/** On a connection of its own, for the time of the work. */
const beside = async <Value>(databaseURL: string, work: (client: pg.Client) => Promise<Value>): Promise<Value> => {
  const client = new pg.Client(databaseURL);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

const expectNoDeadlock = async (databaseURL: string) => {
  // Backends tell of what they have counted once a second.
  await wait(1_100);
  const counted = 'SELECT deadlocks::integer FROM pg_stat_database WHERE datname = current_database()';
  expect(await asking(databaseURL, counted)).toEqual([{ deadlocks: 0 }]);
};

const complete = (erase: () => Promise<{ complete: boolean }>) =>
  vi.waitFor(async () => expect((await erase()).complete).toBe(true), { ...soon, interval: 5 });

test('one that begins while another is found to be complete is not complete with it', async () => {
  const { databaseURL, site } = await setUp();
  const { contactUUID } = await site.server.createContact({ address: ann, userUUID: laptop });
  await site.server.log({ userUUID: laptop });
  const { contactUUID: earlier } = await site.server.createContact({ address: ben, userUUID: phone });
  const { reached, goOn } = holdBack(/UPDATE erasure SET complete = true/);
  await site.erase(earlier);
  await reached;
  await site.erase(contactUUID);
  goOn();
  await complete(() => site.erase(contactUUID));
  expect(await asking(databaseURL, 'SELECT 1 FROM event')).toEqual([]);
});

test.each([
  ['its name', /FROM contact_name WHERE account = \$1 AND "contactUUID" = \$2/, 0],
  ['its row', /^SELECT \* FROM contact WHERE account = \$1 AND contact = ANY/, 0],
  ['what it was merged with', /^SELECT \* FROM contact WHERE account = \$1 AND contact = ANY/, 1],
] as const)(
  'a contact that is erased twice at once has one receipt, whether or not %s is found',
  async (_, like, others) => {
    const { other, site } = await setUp();
    const { contactUUID } = await site.server.createContact({ address: ann, userUUID: laptop });
    const { reached, goOn } = holdBack(like, others);
    const second = other.eraseContact({ account: site.account, contactUUID, time: site.time });
    await reached;
    const { erasedTime } = await site.erase(contactUUID);
    goOn();
    expect(await second).toMatchObject({ contactUUID, erasedTime });
  },
);

test('a change of a merged contact that is erased meanwhile is refused', async () => {
  const { site } = await setUp();
  const { contactUUID } = await site.server.createContact({ address: ann, userUUID: laptop });
  const { contactUUID: merged } = await site.server.createContact({ address: ben, userUUID: phone });
  await site.merge(contactUUID, merged);
  const { reached, goOn } = holdBack(/^SELECT \* FROM contact WHERE account = \$1 AND contact = ANY/, 1);
  const changing = site.update({ contactUUID: merged, fields: { contactTitle: 'Dr' } });
  await reached;
  await site.erase(contactUUID);
  goOn();
  await expectRefusal(changing, 'erased_contact');
});

test('a refused request that is sent again for a contact that is erased waits for the erasure, and not the erasure for it', async () => {
  const { databaseURL, site } = await setUp();
  const { account, server, store, time } = site;
  const { contactUUID } = await site.server.createContact({ address: ann, userUUID: laptop });
  await store.keepRefused({
    account,
    token: server.token,
    time,
    sender: 0,
    requests: [
      { operation: 'updateContact', input: { contactUUID }, address: null, code: 'invalid_field', message: '' },
    ],
  });
  const [{ refused }] = (await asking(databaseURL, 'SELECT refused::integer FROM refused_request')) as [
    { refused: number },
  ];
  await beside(databaseURL, async (client) => {
    await client.query('BEGIN; SELECT 1 FROM statement FOR UPDATE');
    const erasing = site.erase(contactUUID);
    await untilWaiting(databaseURL, 1);
    const request = { account, ...contactChange({ contactUUID, time, fields: { contactTitle: 'Dr' } }) };
    const replaying = store.replayRefused({ refused, write: 'updateContact', request });
    await untilWaiting(databaseURL, 2);
    await client.query('COMMIT');
    await erasing;
    // It went with the contact.
    expect(await replaying).toBeUndefined();
  });
  await expectNoDeadlock(databaseURL);
});

test('writes with new IDs and an erasure don’t wait for each other', async () => {
  const { databaseURL, other, site } = await setUp();
  const { account, server, time } = site;
  const { contactUUID } = await site.server.createContact({ address: ann, userUUID: laptop });
  await site.server.log({ userUUID: tablet, contactUUID });
  await beside(databaseURL, async (client) => {
    await client.query(`BEGIN; SELECT 1 FROM account_position WHERE account = ${account} FOR NO KEY UPDATE`);
    const creating = site.server.createContact({ userUUID: newID('visitor-of-ann'), address: ann, tags: ['new'] });
    await untilWaiting(databaseURL, 1);
    const events = [newEvent({ eventTime: time, userUUID: null, contactUUID, eventID: 77 })];
    const logging = other.logEvents({ account, token: server.token, browser: false, receivedTime: time, events });
    await wait(200);
    const erasing = site.erase(contactUUID);
    await wait(200);
    await client.query('COMMIT');
    await Promise.all([creating, logging, erasing]);
  });
  await expectNoDeadlock(databaseURL);
});

test('an event that names a contact by a handle is not kept after its erasure', async () => {
  const { databaseURL, other, site } = await setUp();
  const { account, browser, time } = site;
  const { contactUUID: handle } = await site.browser.createContact({ address: ann, userUUID: phone });
  const { contactUUID } = await site.server.createContact({ address: ann, userUUID: laptop });
  await site.browser.log({ userUUID: phone, contactUUID: handle });
  const { reached, goOn } = holdBack(/nextval\('event_order'\)::text/);
  const events = [newEvent({ eventTime: time, userUUID: null, contactUUID: handle })];
  const logging = other.logEvents({ account, token: browser.token, browser: true, receivedTime: time, events });
  await reached;
  const erasing = site.erase(contactUUID);
  await Promise.race([erasing, wait(300)]);
  goOn();
  await Promise.all([logging, erasing]);
  await complete(() => site.erase(contactUUID));
  expect(await asking(databaseURL, 'SELECT 1 FROM event')).toEqual([]);
});

test('an erasure has its turn while others write to its contact one after the other', async () => {
  const { databaseURL, site } = await setUp();
  const { contactUUID } = await site.server.createContact({ address: ann, userUUID: laptop });
  let isErased = false;
  await beside(databaseURL, (one) =>
    beside(databaseURL, async (another) => {
      // As events that name the contact do.
      const hold = (client: pg.Client) =>
        client.query(
          `BEGIN; SELECT pg_advisory_xact_lock_shared(${lockKeys.contacts} + contact % 64) FROM contact;
           SELECT 1 FROM contact FOR KEY SHARE`,
        );
      await hold(one);
      const erasing = site.erase(contactUUID).then(() => {
        isErased = true;
      });
      let [holder, next] = [one, another];
      for (let turn = 0; turn < 2_000 && !isErased; turn += 1) {
        const holding = hold(next);
        await Promise.race([holding, wait(20)]);
        await holder.query('COMMIT');
        await holding;
        [holder, next] = [next, holder];
      }
      expect(isErased).toBe(true);
      await holder.query('COMMIT');
      await erasing;
    }),
  );
});

test('a request whose claim has given way goes with its contact', async () => {
  const { databaseURL, site } = await setUp();
  const requestUUID = newID('request');
  const request = { address: ann, userUUID: phone, requestUUID };
  await site.browser.createContact(request);
  const { contactUUID } = await site.server.createContact({ address: ann, userUUID: laptop });
  for (let nth = 0; nth < 120; nth += 1)
    await site.browser.createContact({ address: `${newID('other')}@example.com`, userUUID: phone });
  await site.erase(contactUUID);
  expect(await asking(databaseURL, 'SELECT 1 FROM request_repeat WHERE contact = 1')).toEqual([]);
  await expectRefusal(site.browser.createContact(request), 'erased_contact');
});
