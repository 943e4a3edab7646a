// From a file to PostgreSQL, where a server goes on, and back into a file: what is told, and what is known again.
import { existsSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { copyStore, openStore } from '../src/store/open.ts';
import { digestAccount } from '../src/store/verifying.ts';
import { firsthand, temporaryFolder } from './command-fixture.ts';
import { newDatabase } from './fixtures/postgres.ts';
import { createSite } from './fixtures/site.ts';
import { live, pastArbitrary } from './fixtures/world.ts';

const onFatal = (error: Error) => {
  throw error;
};

test('what was copied to PostgreSQL is copied back into a file as it was', { timeout: 120_000 }, async () => {
  const folder = temporaryFolder();
  const from = `sqlite:${folder}/first.db`;
  const store = await openStore({ databaseURL: from, role: 'server', onFatal });
  const sites = [];
  for (const past of fc.sample(pastArbitrary, { numRuns: 6, seed: 9 })) {
    const site = await createSite(store);
    await live(site, past);
    sites.push(site);
  }
  const before = [];
  for (const site of sites) before.push(await digestAccount(store, site));
  await store.close();
  const between = await newDatabase();
  await copyStore({ from, to: between, tell: () => {} });
  const to = `sqlite:${folder}/second.db`;
  const said = await firsthand(['copy', '--from', between, '--to', to, '--verify'], {});
  expect(said).toMatchObject({ code: 0, stderr: '' });
  const back = await openStore({ databaseURL: to, role: 'server', onFatal });
  const after = [];
  for (const site of sites) after.push(await digestAccount(back, site));
  expect(after).toEqual(before);
  await back.close();
  expect(existsSync(`${folder}/second.db.copying`)).toBe(false);
});
