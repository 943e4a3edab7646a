import { robotMark } from '@firsthand/contract/identifiers';
import { labelIDs } from '@firsthand/contract/labels';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { newMigratedDatabase } from '../../../../test/fixtures/postgres/databases.ts';
import { createSite } from '../../../../test/fixtures/site.ts';
import { openStore } from '../../open.ts';
import { toListedIDs } from '../../rules/accounts/catalogue-rules.ts';
import { createCatalogueCache, maxIDs } from './catalogues.ts';

test("an event with the server's robot mark and labels takes as many statements as one without", async () => {
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
  const isOfCatalogues = ([asked]: unknown[]) => JSON.stringify(asked).includes('catalogues');
  const count = async (attributes: readonly (readonly [string, string])[]) => {
    query.mockClear();
    await browser.log({ attributes });
    return query.mock.calls.filter(isOfCatalogues).length;
  };
  expect(await count(mark)).toBe(await count([]));
});

test('accounts that fill their catalogues make others be forgotten, so that the cache does not grow', () => {
  const idsOfEach = 1_000;
  const rows = Array.from({ length: idsOfEach }, (_, nth) => ({
    ...{ kind: 'tag' as const, id: `tag-${nth}`, name: '', browser: true, byBrowser: true, mergedInto: null },
  }));
  const settings = { strict: false, browserCatalogue: false, nextEventID: 1, hasEvents: () => false };
  const known = { version: 1, ids: toListedIDs(settings, rows) };
  const room = maxIDs / idsOfEach;
  const heldOf = (count: number) => {
    const cache = createCatalogueCache();
    const accounts = Array.from({ length: count }, (_, nth) => nth);
    for (const account of accounts) cache.set(account, known);
    return accounts.filter((account) => cache.get(account) !== undefined).length;
  };
  expect(heldOf(room)).toBe(room);
  expect(heldOf(room + 1)).toBe(1);
  expect(heldOf(2 * room)).toBe(room);
});
