// Tests that moving an account's shards to another node, before or during a transaction, preserves the order of the
// account's events.
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { newDatabase } from '../fixtures/postgres/databases.ts';
import { countLockWaits } from '../fixtures/postgres/sql.ts';
import { createFedAccount, expectAgreement } from '../fixtures/reports/fed-account.ts';
import { createSite, type Site } from '../fixtures/site.ts';
import { listWorkers, moveShards } from './tools/shard-moves.ts';

let databaseURL: string;
let store: Store;
beforeAll(async () => {
  databaseURL = await newDatabase();
  store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
});
afterAll(() => store.close());

const placesOf = ({ account }: Site) => listWorkers(databaseURL, account);
const move = ({ account }: Site) => moveShards(databaseURL, account);

test('lets a reader continue after each move without a reset, and returns the owner changes', async () => {
  const site = await createSite(store);
  const fed = createFedAccount(store, site.account);
  const places = new Set<string>();
  for (let round = 0; round < 4; round += 1) {
    const userUUID = `visitor-of-round-${round}`;
    const { contactUUID } = await site.server.createContact({ userUUID: null, address: `${round}@example.com` });
    await site.server.log({ userUUID }, { userUUID });
    await expectAgreement(fed, site);
    await site.link(userUUID, contactUUID);
    await expectAgreement(fed, site);
    expect(Object.values(await site.owners({ userUUID }))).toEqual([contactUUID, contactUUID]);
    places.add((await placesOf(site))[0]?.name ?? '');
    await move(site);
  }
  expect(places.size).toBe(2);
  expect(fed.resets()).toBe(1);
});

test('does not move an account’s shards while an open transaction might still write', async () => {
  const site = await createSite(store);
  await site.server.log({ eventUUID: 'event-first' });
  const before = await placesOf(site);
  const slow = new pg.Client(databaseURL);
  await slow.connect();
  try {
    await slow.query('BEGIN');
    await slow.query('SELECT * FROM begin_writing($1, false, NULL)', [site.account]);
    const drawn = (await slow.query("SELECT nextval('event_order') AS sequence")).rows[0].sequence;
    let isMoved = false;
    const moving = move(site).then(() => {
      isMoved = true;
    });
    // Waits until the move is complete or waits for a lock.
    await expect.poll(() => isMoved || countLockWaits(databaseURL)).not.toBe(0);
    await wait(2_000);
    expect(isMoved).toBe(false);
    expect(await placesOf(site)).toEqual(before);
    await slow.query(
      `INSERT INTO event SELECT holder, $2::bigint, "user", "eventTime", account, day, "eventID", body FROM event WHERE account = $1`,
      [site.account, drawn],
    );
    await slow.query('UPDATE account_day SET "lastSequence" = $2::bigint WHERE account = $1', [site.account, drawn]);
    await slow.query('COMMIT');
    await moving;
    expect(await placesOf(site)).toEqual([...before].reverse());
    expect((await site.events()).map(({ eventUUID }) => eventUUID)).toEqual(['event-first', 'event-first']);
  } finally {
    await slow.end();
  }
});
