// Tests databases that already have accounts when their tables are distributed, and copies into and out of a cluster.
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { copyStore, migrateStore, openStore } from '../../src/store/open.ts';
import { digestAccount } from '../../src/store/verifying.ts';
import { temporaryDatabase } from '../fixtures/command.ts';
import { newBareDatabase, newDatabase, querySQL } from '../fixtures/postgres/databases.ts';
import { createSite, type Site } from '../fixtures/site.ts';

const open = (databaseURL: string) => openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });

/** Creates accounts with people, events and an erased contact. */
const fill = async (databaseURL: string): Promise<Site[]> => {
  const store = await open(databaseURL);
  const sites: Site[] = [];
  for (let nth = 0; nth < 3; nth += 1) {
    const site = await createSite(store);
    for (let person = 0; person < 10; person += 1) {
      const userUUID = `a-user-of-somebody-${person}`;
      const { contactUUID } = await site.server.createContact({ address: `person-${person}@example.com`, userUUID });
      const attributes: [string, string][] = [['note', randomBytes(500).toString('hex')]];
      await site.server.log({ userUUID, attributes }, { userUUID, attributes });
      while (person === 9 && !(await site.erase(contactUUID)).complete) await wait(5);
    }
    sites.push(site);
  }
  await store.close();
  return sites;
};

const digest = async (databaseURL: string, sites: readonly Site[]) => {
  const store = await open(databaseURL);
  const digests = await Promise.all(sites.map((site) => digestAccount(store, site)));
  await store.close();
  return digests;
};

const readNumber = async (databaseURL: string, sql: string): Promise<number> => {
  const [row] = await querySQL<{ value: string }>(databaseURL, `SELECT (${sql}) AS value`);
  return Number(row?.value);
};
/** Counts owner changes that a worker numbered itself: their numbers are greater than those of later changes. */
const countMisnumbered = (databaseURL: string) =>
  readNumber(databaseURL, 'SELECT count(*) FROM owner_change WHERE change >= 2::numeric ^ 48');

test('distributes a database with accounts without changing its content, and leaves no rows on the coordinator', async () => {
  const databaseURL = await newBareDatabase();
  await migrateStore(databaseURL, { citus: false });
  const sites = await fill(databaseURL);
  const expected = await digest(databaseURL, sites);
  await migrateStore(databaseURL, { citus: true });
  expect(
    await readNumber(
      databaseURL,
      'SELECT sum(pg_relation_size(relid)) FROM pg_dist_partition, pg_partition_tree(logicalrelid)',
    ),
  ).toBe(0);
  await expect(querySQL(databaseURL, 'TRUNCATE audit')).rejects.toThrow(/append-only/);
  expect(await countMisnumbered(databaseURL)).toBe(0);
  expect(await digest(databaseURL, sites)).toEqual(expected);
  expect(expected.every(({ events, contacts }) => events === 18 && contacts === 9)).toBe(true);
});

test('copies a database into a cluster, and from there into a file, without changing its content', async () => {
  const [from, back] = [temporaryDatabase(), temporaryDatabase()].map(({ path }) => `sqlite:${path}`) as [
    string,
    string,
  ];
  const databaseURL = await newDatabase();
  const sites = await fill(from);
  const expected = await digest(from, sites);
  await copyStore({ from, to: databaseURL, onProgress: () => {} });
  expect(await countMisnumbered(databaseURL)).toBe(0);
  expect(await digest(databaseURL, sites)).toEqual(expected);
  await copyStore({ from: databaseURL, to: back, onProgress: () => {} });
  expect(await digest(back, sites)).toEqual(expected);
});
