import { expect, onTestFinished, test } from 'vitest';
import { newMigratedDatabase, querySQL } from '../../../../test/fixtures/postgres/databases.ts';
import { createSite } from '../../../../test/fixtures/site.ts';
import { removeSampleShop } from '../../../sample-shop/account.ts';
import { fillSampleShop } from '../../../sample-shop/fill.ts';
import { openStore } from '../../open.ts';

test('leaves no rows of a deleted account', async () => {
  const databaseURL = await newMigratedDatabase();
  const store = await openStore({ databaseURL, role: 'server', onFatal: () => {} });
  onTestFinished(() => store.close());
  // `kept_day` lists the days of all accounts. In this test, these are the days on which the shop's events arrived.
  const names = await querySQL<{ name: string }>(
    databaseURL,
    `SELECT c.relname AS name FROM pg_class c WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND c.relnamespace = current_schema()::regnamespace AND c.relname NOT IN ('audit', 'kept_day')`,
  );
  const counts = names.map(({ name }) => `SELECT '${name}' AS name, count(*)::integer AS rows FROM "${name}"`);
  const rows = async () => {
    const counted = await querySQL<{ name: string; rows: number }>(databaseURL, counts.join(' UNION ALL '));
    return Object.fromEntries(counted.map(({ name, rows }) => [name, rows]));
  };
  const isIndexed = async () => (await rows()).contact_changed === 0;

  const site = await createSite(store, { time: Date.now() - 40 * 86_400_000 });
  await site.browser.logAt(Date.now(), {}, {}, {});
  await site.server.createContact();
  await expect.poll(isIndexed).toBe(true);
  const before = await rows();
  await fillSampleShop(store, { events: 2_000 });
  expect((await rows()).statement).toBeGreaterThan(40);
  await expect.poll(isIndexed).toBe(true);

  expect(await removeSampleShop(store)).toMatchObject({ deletedEvents: 2_000 });
  await expect.poll(rows).toEqual(before);
  const left = await querySQL(databaseURL, 'SELECT account FROM audit WHERE account NOT IN (0, 1)');
  expect(left).toEqual([]);
});
