// A holder with very many events, of whom PostgreSQL expects as few as of the others: no more is read than a page takes.
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Asked, askedBy, nodesOf, type Plan, planOf, sortsIn } from '../../../../test/fixtures/plans.ts';
import { asking, newMigratedDatabase } from '../../../../test/fixtures/postgres/databases.ts';
import { createSite, type Site } from '../../../../test/fixtures/site.ts';
import { laptop, phone } from '../../../../test/fixtures/store.ts';
import { openStore } from '../../open.ts';
import type { Store } from '../../store.ts';

const batches = 64;
const perBatch = { busy: 900, others: 100 };

let databaseURL: string;
let store: Store;
let site: Site;
let client: pg.Client;
beforeAll(async () => {
  databaseURL = await newMigratedDatabase();
  store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
  site = await createSite(store);
  const visits = () => Array.from({ length: perBatch.others }, (_, nth) => ({ userUUID: `visitor-number-${nth}` }));
  await site.server.log(...visits());
  const [month] = await asking<{ name: string }>(
    databaseURL,
    "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'event'::regclass",
  );
  // As when all that it knows of holders is from before there was a busy one; nor does it look for itself meanwhile.
  await asking(
    databaseURL,
    `ALTER TABLE ${month?.name} SET (autovacuum_enabled = false); ALTER TABLE ${month?.name} ALTER COLUMN holder SET STATISTICS 0`,
  );
  for (let batch = 0; batch < batches; batch += 1) {
    const busy = Array.from({ length: perBatch.busy }, () => ({ userUUID: laptop }));
    await site.server.log(...(batch > 0 ? visits() : []), ...busy);
  }
  await asking(databaseURL, `ANALYZE ${month?.name}`);
  client = new pg.Client(databaseURL);
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await store.close();
});

/** How many events were looked at in the plans of what was asked. */
const rowsRead = async (asked: readonly Asked[], generic = false): Promise<number> => {
  let rows = 0;
  for (const each of asked) {
    for (const node of nodesOf(await planOf(client, each, { analyze: true, generic }))) {
      if (!/^event_\d{4}_/.test(node['Relation Name'] ?? '')) continue;
      const perLoop = (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0);
      rows += perLoop * (node['Actual Loops'] ?? 0);
    }
  }
  return rows;
};

const page = (query: object) => () => store.getEvents({ account: site.account, order: 'desc', limit: 50, ...query });
const aboutEvents = ({ text }: Asked) => /\bFROM event\b/.test(text);
/** What is read of an order to have 50: two groups, where they lie on both sides of the end of one. */
const most = { holder: 2 * 2 ** 10, account: 2 * 2 ** 8 };

test.each<[string, number, object]>([
  ['the busy user’s newest events', most.holder, { userUUID: laptop }],
  ['the busy user’s first events', most.holder, { userUUID: laptop, order: 'asc' }],
  ['the busy user’s events before a cursor', most.holder, { userUUID: laptop, beyond: 30_000 }],
  ['the busy user’s events after a cursor', most.holder, { userUUID: laptop, order: 'asc', beyond: 30_000 }],
  ['the account’s newest events', most.account, {}],
  ['the account’s events after a cursor', most.account, { order: 'asc', beyond: 30_000 }],
  ['another user’s newest events', batches, { userUUID: 'visitor-number-7' }],
])('%s: no more than %i are read', async (_, maxRead, query) => {
  const asked = (await askedBy(page(query))).filter(aboutEvents);
  for (const generic of [false, true]) {
    const rows = await rowsRead(asked, generic);
    expect(rows).toBeGreaterThanOrEqual(50);
    expect(rows).toBeLessThanOrEqual(maxRead);
  }
});

test('without what is set for it, PostgreSQL would read all of the busy user', async () => {
  const asked = (await askedBy(page({ userUUID: laptop }))).filter(aboutEvents);
  const read = await rowsRead(
    asked.map((each) => ({ ...each, settings: '' })),
    true,
  );
  expect(read).toBeGreaterThan(batches * perBatch.busy - 1);
});

test('a contact who had a user again and again: what lies in one group is read once', async () => {
  const other = await createSite(store, { time: site.time });
  const [{ contactUUID }, { contactUUID: another }] = [
    await other.server.createContact({ address: 'one@example.com' }),
    await other.server.createContact({ address: 'another@example.com' }),
  ];
  const rounds = 60;
  for (let round = 0; round < rounds; round += 1) {
    await other.link(phone, contactUUID);
    await other.server.log({ userUUID: phone }, { userUUID: phone });
    await other.link(phone, another);
    await other.server.log({ userUUID: phone });
  }
  const { account } = other;
  const theirs = (await other.events({ userUUID: phone })).filter((event) => event.contactUUID === contactUUID);
  expect(theirs).toHaveLength(2 * rounds);
  for (const order of ['asc', 'desc'] as const) {
    const expected = order === 'asc' ? theirs : theirs.toReversed();
    const read = async () => {
      const { events } = await store.getEvents({ account, order, limit: 1_000, contactUUID });
      expect(events).toEqual(expected);
    };
    const rows = await rowsRead((await askedBy(read)).filter(aboutEvents));
    expect(rows).toBeGreaterThanOrEqual(theirs.length);
    expect(rows).toBeLessThan(2 * 3 * rounds);
  }
});

test('what is erased is read and deleted in order as well', async () => {
  const { contactUUID } = await site.server.createContact({ userUUID: laptop });
  const asked = await askedBy(async () => {
    await site.erase(contactUUID);
    await expect.poll(async () => (await site.erase(contactUUID)).complete).toBe(true);
  });
  expect(await site.events()).toHaveLength(batches * perBatch.others);
  const plans: Plan[] = [];
  for (const each of asked.filter(aboutEvents)) plans.push(await planOf(client, each));
  const sorts = new Set(plans.flatMap(sortsIn));
  expect([...sorts]).toEqual([expect.stringMatching(/^Incremental Sort over event_\d{4}_\d\d_holder_expr_idx$/)]);
  expect(plans.flatMap(nodesOf).filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
});
