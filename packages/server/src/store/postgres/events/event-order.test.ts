// Tests that a page reads only a few rows, even of a holder with very many events, although PostgreSQL expects this
// holder to have few.
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  explainStatement,
  listPlanNodes,
  listSorts,
  type Plan,
  type RecordedStatement,
  recordStatements,
} from '../../../../test/fixtures/plans.ts';
import { newMigratedDatabase, querySQL } from '../../../../test/fixtures/postgres/databases.ts';
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
  const [month] = await querySQL<{ name: string }>(
    databaseURL,
    "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'event'::regclass",
  );
  // Simulates statistics from a time before there was a busy user, without autoanalyze.
  await querySQL(
    databaseURL,
    `ALTER TABLE ${month?.name} SET (autovacuum_enabled = false); ALTER TABLE ${month?.name} ALTER COLUMN holder SET STATISTICS 0`,
  );
  for (let batch = 0; batch < batches; batch += 1) {
    const busy = Array.from({ length: perBatch.busy }, () => ({ userUUID: laptop }));
    await site.server.log(...(batch > 0 ? visits() : []), ...busy);
  }
  await querySQL(databaseURL, `ANALYZE ${month?.name}`);
  client = new pg.Client(databaseURL);
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await store.close();
});

/** Returns the number of events that the statements read. */
const rowsRead = async (statements: readonly RecordedStatement[], generic = false): Promise<number> => {
  let rows = 0;
  for (const each of statements) {
    for (const node of listPlanNodes(await explainStatement(client, each, { analyze: true, generic }))) {
      if (!/^event_\d{4}_/.test(node['Relation Name'] ?? '')) continue;
      const perLoop = (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0);
      rows += perLoop * (node['Actual Loops'] ?? 0);
    }
  }
  return rows;
};

const page = (query: object) => () => store.getEvents({ account: site.account, order: 'desc', limit: 50, ...query });
const aboutEvents = ({ text }: RecordedStatement) => /\bFROM event\b/.test(text);
/**
 * The maximum number of rows read for 50 events: two groups of rows, because the events may be on both sides of a
 * boundary.
 */
const maxRows = { holder: 2 * 2 ** 10, account: 2 * 2 ** 8 };

test.each<[string, number, object]>([
  ['the busy user’s newest events', maxRows.holder, { userUUID: laptop }],
  ['the busy user’s first events', maxRows.holder, { userUUID: laptop, order: 'asc' }],
  ['the busy user’s events before a cursor', maxRows.holder, { userUUID: laptop, beyond: 30_000 }],
  ['the busy user’s events after a cursor', maxRows.holder, { userUUID: laptop, order: 'asc', beyond: 30_000 }],
  ['the account’s newest events', maxRows.account, {}],
  ['the account’s events after a cursor', maxRows.account, { order: 'asc', beyond: 30_000 }],
  ['another user’s newest events', batches, { userUUID: 'visitor-number-7' }],
])('reads %s from at most %i rows', async (_, maxRead, query) => {
  const statements = (await recordStatements(page(query))).filter(aboutEvents);
  for (const generic of [false, true]) {
    const rows = await rowsRead(statements, generic);
    expect(rows).toBeGreaterThanOrEqual(50);
    expect(rows).toBeLessThanOrEqual(maxRead);
  }
});

test('would read all of the busy user’s events without the statement’s settings', async () => {
  const statements = (await recordStatements(page({ userUUID: laptop }))).filter(aboutEvents);
  const read = await rowsRead(
    statements.map((each) => ({ ...each, settings: '' })),
    true,
  );
  expect(read).toBeGreaterThan(batches * perBatch.busy - 1);
});

test('reads each group once for a contact to which a user was linked many times', async () => {
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
    const rows = await rowsRead((await recordStatements(read)).filter(aboutEvents));
    expect(rows).toBeGreaterThanOrEqual(theirs.length);
    expect(rows).toBeLessThan(2 * 3 * rounds);
  }
});

test('deletes erased events in index order', async () => {
  const { contactUUID } = await site.server.createContact({ userUUID: laptop });
  const statements = await recordStatements(async () => {
    await site.erase(contactUUID);
    await expect.poll(async () => (await site.erase(contactUUID)).complete).toBe(true);
  });
  expect(await site.events()).toHaveLength(batches * perBatch.others);
  const plans: Plan[] = [];
  for (const each of statements.filter(aboutEvents)) plans.push(await explainStatement(client, each));
  const sorts = new Set(plans.flatMap(listSorts));
  expect([...sorts]).toEqual([expect.stringMatching(/^Incremental Sort over event_\d{4}_\d\d_holder_expr_idx$/)]);
  expect(plans.flatMap(listPlanNodes).filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
});
