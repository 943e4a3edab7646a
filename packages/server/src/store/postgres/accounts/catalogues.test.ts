import { robotMark } from '@firsthand/contract/identifiers';
import { labelIDs } from '@firsthand/contract/labels';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { newMigratedDatabase } from '../../../../test/fixtures/postgres/databases.ts';
import { createSite } from '../../../../test/fixtures/site.ts';
import { openStore } from '../../open.ts';

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
