// Tests races between the statements of two writes, such as an erasure and another write, by delaying a statement.
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, expect, test, vi } from 'vitest';
import { newMigratedDatabase, querySQL } from '../../../../test/fixtures/postgres/databases.ts';
import { waitForLockWaits } from '../../../../test/fixtures/postgres/sql.ts';
import { createSite } from '../../../../test/fixtures/site.ts';
import {
  ann,
  ben,
  contactChange,
  expectRefusal,
  laptop,
  newContact,
  newEvent,
  newID,
  phone,
  tablet,
} from '../../../../test/fixtures/store.ts';
import { soon } from '../../../../test/fixtures/timeouts.ts';
import { openStore } from '../../open.ts';
import type { Store } from '../../store.ts';
import { lockKeys } from '../database/connection.ts';

const openStores: Store[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(openStores.splice(0).map((store) => store.close()));
});

const openServers = async (databaseURL: string): Promise<[Store, Store]> => {
  const open = async () => {
    const store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
    openStores.push(store);
    return store;
  };
  return [await open(), await open()];
};

const setUp = async () => {
  const databaseURL = await newMigratedDatabase();
  const [store, other] = await openServers(databaseURL);
  return { databaseURL, other, site: await createSite(store) };
};

/**
 * Delays the next statement that matches, after skipping `skip` others, until `release`. `blocked` resolves when the
 * statement waits.
 */
const delayStatement = (pattern: RegExp, skip = 0) => {
  let block = () => {};
  let release = () => {};
  const blocked = new Promise<void>((resolve) => {
    block = resolve;
  });
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  let left = skip;
  let isDone = false;
  const spy = vi.spyOn(pg.Client.prototype, 'query') as unknown as { mockImplementation(mock: typeof query): void };
  spy.mockImplementation(function (this: unknown, ...args) {
    const [statement] = args as [string | { text?: string }];
    const text = typeof statement === 'string' ? statement : (statement.text ?? '');
    if (isDone || !pattern.test(text)) return query.apply(this, args);
    if (left > 0) {
      left -= 1;
      return query.apply(this, args);
    }
    isDone = true;
    block();
    return released.then(() => query.apply(this, args));
  });
  return { blocked, release: () => release() };
};

/** Runs work on a separate connection. */
const withConnection = async <Value>(
  databaseURL: string,
  work: (client: pg.Client) => Promise<Value>,
): Promise<Value> => {
  const client = new pg.Client(databaseURL);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

const expectNoDeadlock = async (databaseURL: string) => {
  // Waits because backends report their statistics only once a second.
  await wait(1_100);
  const counted = 'SELECT deadlocks::integer FROM pg_stat_database WHERE datname = current_database()';
  expect(await querySQL(databaseURL, counted)).toEqual([{ deadlocks: 0 }]);
};

const complete = (erase: () => Promise<{ complete: boolean }>) =>
  vi.waitFor(async () => expect((await erase()).complete).toBe(true), { ...soon, interval: 5 });

test('does not complete an erasure that starts while an earlier one is being completed', async () => {
  const { databaseURL, site } = await setUp();
  const { contactUUID } = await site.server.createContact({ address: ann, userUUID: laptop });
  await site.server.log({ userUUID: laptop });
  const { contactUUID: earlier } = await site.server.createContact({ address: ben, userUUID: phone });
  const { blocked, release } = delayStatement(/UPDATE erasure SET complete = true/);
  await site.erase(earlier);
  await blocked;
  await site.erase(contactUUID);
  release();
  await complete(() => site.erase(contactUUID));
  expect(await querySQL(databaseURL, 'SELECT 1 FROM event')).toEqual([]);
});

test.each([
  ['its name', /FROM contact_name WHERE account = \$1 AND "contactUUID" = \$2/, 0],
  ['its row', /^SELECT \* FROM contact WHERE account = \$1 AND contact = ANY/, 0],
  ['the rows of the contact’s merges', /^SELECT \* FROM contact WHERE account = \$1 AND contact = ANY/, 1],
] as const)(
  'returns one receipt for concurrent erasures of a contact when the second waits before it reads %s',
  async (_, pattern, skip) => {
    const { other, site } = await setUp();
    const { contactUUID } = await site.server.createContact({ address: ann, userUUID: laptop });
    const { blocked, release } = delayStatement(pattern, skip);
    const second = other.eraseContact({ account: site.account, contactUUID, time: site.time });
    await blocked;
    const { erasedTime } = await site.erase(contactUUID);
    release();
    expect(await second).toMatchObject({ contactUUID, erasedTime });
  },
);

test('refuses a change to a merged contact that is erased in the meantime', async () => {
  const { site } = await setUp();
  const { contactUUID } = await site.server.createContact({ address: ann, userUUID: laptop });
  const { contactUUID: merged } = await site.server.createContact({ address: ben, userUUID: phone });
  await site.merge(contactUUID, merged);
  const { blocked, release } = delayStatement(/^SELECT \* FROM contact WHERE account = \$1 AND contact = ANY/, 1);
  const changing = site.update({ contactUUID: merged, fields: { contactTitle: 'Dr' } });
  await blocked;
  await site.erase(contactUUID);
  release();
  await expectRefusal(changing, 'erased_contact');
});

test('makes the replay of a refused request wait for the erasure of its contact, without a deadlock', async () => {
  const { databaseURL, site } = await setUp();
  const { account, server, store, time } = site;
  const { contactUUID } = await site.server.createContact({ address: ann, userUUID: laptop });
  await store.addRefused({
    account,
    token: server.token,
    time,
    sender: 0,
    requests: [
      { operation: 'updateContact', input: { contactUUID }, address: null, code: 'invalid_field', message: '' },
    ],
  });
  const [{ refused }] = (await querySQL(databaseURL, 'SELECT refused::integer FROM refused_request')) as [
    { refused: number },
  ];
  await withConnection(databaseURL, async (client) => {
    await client.query('BEGIN; SELECT 1 FROM statement FOR UPDATE');
    const erasing = site.erase(contactUUID);
    await waitForLockWaits(databaseURL, 1);
    const request = { account, ...contactChange({ contactUUID, time, fields: { contactTitle: 'Dr' } }) };
    const replaying = store.replayRefused({ refused, write: 'updateContact', request });
    await waitForLockWaits(databaseURL, 2);
    await client.query('COMMIT');
    await erasing;
    // Expects no response, because the request was erased with the contact.
    expect(await replaying).toBeUndefined();
  });
  await expectNoDeadlock(databaseURL);
});

test('does not deadlock with writes that register new IDs', async () => {
  const { databaseURL, other, site } = await setUp();
  const { account, server, time } = site;
  const { contactUUID } = await site.server.createContact({ address: ann, userUUID: laptop });
  await site.server.log({ userUUID: tablet, contactUUID });
  await withConnection(databaseURL, async (client) => {
    await client.query(`BEGIN; SELECT 1 FROM account_position WHERE account = ${account} FOR NO KEY UPDATE`);
    const creating = site.server.createContact({ userUUID: newID('visitor-of-ann'), address: ann, tags: ['new'] });
    await waitForLockWaits(databaseURL, 1);
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

test('leaves no event that refers to the contact by a handle', async () => {
  const { databaseURL, other, site } = await setUp();
  const { account, browser, time } = site;
  const { contactUUID: handle } = await site.browser.createContact({ address: ann, userUUID: phone });
  const { contactUUID } = await site.server.createContact({ address: ann, userUUID: laptop });
  await site.browser.log({ userUUID: phone, contactUUID: handle });
  const { blocked, release } = delayStatement(/nextval\('event_order'\)::text/);
  const events = [newEvent({ eventTime: time, userUUID: null, contactUUID: handle })];
  const logging = other.logEvents({ account, token: browser.token, browser: true, receivedTime: time, events });
  await blocked;
  const erasing = site.erase(contactUUID);
  await Promise.race([erasing, wait(300)]);
  release();
  await Promise.all([logging, erasing]);
  await complete(() => site.erase(contactUUID));
  expect(await querySQL(databaseURL, 'SELECT 1 FROM event')).toEqual([]);
});

test('is not starved by a sequence of overlapping writes to its contact', async () => {
  const { databaseURL, site } = await setUp();
  const { contactUUID } = await site.server.createContact({ address: ann, userUUID: laptop });
  let isErased = false;
  await withConnection(databaseURL, (one) =>
    withConnection(databaseURL, async (another) => {
      // Takes the locks that events referring to the contact take.
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

test('erases a request whose claim was deleted to make room for newer claims', async () => {
  const { databaseURL, site } = await setUp();
  const requestUUID = newID('request');
  const request = { address: ann, userUUID: phone, requestUUID };
  await site.browser.createContact(request);
  const { contactUUID } = await site.server.createContact({ address: ann, userUUID: laptop });
  for (let nth = 0; nth < 120; nth += 1)
    await site.browser.createContact({ address: `${newID('other')}@example.com`, userUUID: phone });
  await site.erase(contactUUID);
  expect(await querySQL(databaseURL, 'SELECT 1 FROM request_repeat WHERE contact = 1')).toEqual([]);
  await expectRefusal(site.browser.createContact(request), 'erased_contact');
});

test('erases the values that imports stored about the contact, and its keys from what they stored about an earlier contact', async () => {
  const { databaseURL, site } = await setUp();
  const { store, account, time, server } = site;
  const caller = { account, token: server.token, browser: false };
  const former = await server.createContact({ address: ann, externalID: 'customer-1', userUUID: null });
  const created = { kind: 'contacts', importName: 'a.csv', fingerprint: 'a'.repeat(64) } as const;
  const { importID } = await store.createImport({ account, importID: newID('import'), ...created, time });
  const contact = { ...newContact({ address: ben, externalID: 'customer-1' }), ...caller, verified: true };
  await store.addToImport({
    ...{ ...caller, importID, kind: 'contacts', position: 0, records: 1, isLast: true, receivedTime: time },
    ...{ defaultProfileID: 'customer', replaces: true, steps: [{ contact }] },
  });
  const storedChanges = async () =>
    (await querySQL<{ changes: string }>(databaseURL, 'SELECT changes FROM import_contact')).map(
      ({ changes }) => changes,
    );
  const successor = await server.createContact({ address: ann, userUUID: null });
  expect(await storedChanges()).toEqual([expect.stringContaining(ann)]);
  await site.erase(successor.contactUUID);
  expect(await storedChanges()).toEqual([expect.not.stringContaining(ann)]);
  await site.erase(former.contactUUID);
  expect(await storedChanges()).toEqual([]);
});

test('does not accept a claim that is dropped in the meantime', async () => {
  const { databaseURL, site } = await setUp();
  const { contactUUID: handle } = await site.browser.createContact({ address: ann, userUUID: phone });
  const { blocked, release } = delayStatement(/^SELECT "user" FROM "user" .*FOR NO KEY UPDATE$/);
  const accepting = site.acceptClaim(handle);
  const refused = expectRefusal(accepting, 'unknown_claim', 'claimID');
  await blocked;
  // Deletes the claim, as the server does when the user exceeds the claim limit.
  await querySQL(databaseURL, 'DELETE FROM statement_place; DELETE FROM statement; DELETE FROM contact_user');
  await querySQL(databaseURL, 'DELETE FROM claim_name; DELETE FROM claim');
  release();
  await refused;
});

test('creates a contact with an external ID that another contact loses in the meantime', async () => {
  const { other, site } = await setUp();
  const { contactUUID: handle } = await site.browser.createContact({
    address: ann,
    externalID: 'u-1',
    userUUID: phone,
  });
  await site.acceptClaim(handle);
  const { blocked, release } = delayStatement(
    /^SELECT \* FROM contact WHERE account = \$1 AND contact = \$2 FOR NO KEY/,
  );
  const changes = { address: undefined, externalID: 'u-1', userUUID: null };
  const creating = site.server.createContact(changes);
  await blocked;
  await other.voidClaim({ account: site.account, claimID: handle, restore: false, time: site.time });
  release();
  const { contactUUID, exists } = await creating;
  expect(exists).toBe(false);
  expect(await site.server.createContact(changes)).toMatchObject({ exists: true, contactUUID });
});
