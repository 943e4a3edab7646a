import { robotMark } from '@firsthand/contract/identifiers';
import { labelIDs } from '@firsthand/contract/labels';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { newMigratedDatabase } from '../../../../test/fixtures/postgres/databases.ts';
import { createSite } from '../../../../test/fixtures/site.ts';
import { openStore } from '../../open.ts';
import { toAccountCatalogues } from '../../rules/accounts/catalogue-rules.ts';
import { createCatalogueCache, maxIDs } from './catalogues.ts';

test("runs no more statements for an event with the server's bot mark and labels than for one without", async () => {
  const databaseURL = await newMigratedDatabase();
  const store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
  onTestFinished(() => store.close());
  const { browser } = await createSite(store, { browserCatalogue: true });
  const mark = [
    [robotMark.attrID, robotMark.attrValue],
    [labelIDs.country, 'NZ'],
  ] as const;
  await browser.log({}, { attributes: mark });
  const query = vi.spyOn(pg.Client.prototype, 'query');
  onTestFinished(() => query.mockRestore());
  const isOfCatalogues = ([statement]: unknown[]) => JSON.stringify(statement).includes('catalogues');
  const count = async (attributes: readonly (readonly [string, string])[]) => {
    query.mockClear();
    await browser.log({ attributes });
    return query.mock.calls.filter(isOfCatalogues).length;
  };
  expect(await count(mark)).toBe(await count([]));
});

test('clears the cache when it would contain too many IDs', () => {
  const idsPerAccount = 1_000;
  const rows = Array.from({ length: idsPerAccount }, (_, nth) => ({
    ...{ kind: 'tag' as const, id: `tag-${nth}`, name: '', browser: true, byBrowser: true, mergedInto: null },
  }));
  const settings = { strict: false, browserCatalogue: false, nextEventID: 1, hasEvents: () => false };
  const entry = { version: 1, ids: toAccountCatalogues(settings, rows) };
  const capacity = maxIDs / idsPerAccount;
  const countCached = (count: number) => {
    const cache = createCatalogueCache();
    const accounts = Array.from({ length: count }, (_, nth) => nth);
    for (const account of accounts) cache.set(account, entry);
    return accounts.filter((account) => cache.get(account) !== undefined).length;
  };
  expect(countCached(capacity)).toBe(capacity);
  expect(countCached(capacity + 1)).toBe(1);
  expect(countCached(2 * capacity)).toBe(capacity);
});
