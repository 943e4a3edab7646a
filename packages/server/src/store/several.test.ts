// Here in one process: that several are what they are is tried in test/workers.test.ts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSite } from '../../test/fixtures/site.ts';
import { openFirstStore, openStoreAmong } from './open.ts';
import type { CommitElsewhere, FirstStore } from './several.ts';
import Database from './sqlite/better-sqlite3.ts';

let folder: string;
let databaseURL: string;
let first: FirstStore;
const onFatal = (error: Error) => {
  throw error;
};
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-several-'));
  databaseURL = `sqlite:${join(folder, 'firsthand.db')}`;
  first = await openFirstStore(databaseURL, onFatal);
});
afterEach(async () => {
  await first.store.close();
  rmSync(folder, { recursive: true });
});

const openAmong = async (commit: CommitElsewhere, processes = 2) => {
  const hearing: boolean[] = [];
  const onHearing = (isHearing: boolean) => hearing.push(isHearing);
  return { ...(await openStoreAmong(databaseURL, { processes, commit, onHearing, onFatal })), hearing };
};

test('what one hands over to be kept, all of them read', async () => {
  const changesOfAccess: boolean[] = [];
  const one = await openAmong((parcel, { bytes, changesAccess }) => {
    changesOfAccess.push(changesAccess);
    return first.commit(parcel, bytes);
  });
  const other = await openAmong((parcel, { bytes }) => first.commit(parcel, bytes), 64);
  const site = await createSite(one.store);
  expect(await site.server.log({ eventUUID: 'event-of-one' })).toEqual([{ kept: true }]);
  expect(await site.server.log({ eventUUID: 'event-of-one' })).toEqual([{ kept: false, duplicate: true }]);
  for (const { store } of [one, other, first]) {
    const { events } = await store.getEvents({ account: site.account, order: 'asc', limit: 10 });
    expect(events.map(({ eventUUID }) => eventUUID)).toEqual(['event-of-one']);
  }
  expect(changesOfAccess).not.toContain(true);
  await one.store.revokeToken({ account: site.account, tokenID: site.server.tokenID, time: site.time });
  expect(changesOfAccess.at(-1)).toBe(true);
  await one.store.close();
  await other.store.close();
});

test('who listens hears of what any of them has committed, and others are not told', async () => {
  const { store, tellCommit, hearing } = await openAmong((parcel, { bytes }) => first.commit(parcel, bytes));
  let heard = 0;
  const ends = [1, 2].map(() =>
    store.onCommit(() => {
      heard += 1;
    }),
  );
  tellCommit();
  expect(heard).toBe(2);
  for (const end of [...ends, ...ends]) end();
  tellCommit();
  expect(heard).toBe(2);
  expect(hearing).toEqual([true, false]);
  await store.close();
});

test('what the one that writes has no room for is not kept', async () => {
  const { store } = await openAmong(async () => undefined);
  await expect(createSite(store)).rejects.toMatchObject({ code: 'not_kept', retryAfterSeconds: 1 });
  await store.close();
});

test('one of another version is refused, and one of a database that the others could not read', async () => {
  const db = new Database(join(folder, 'firsthand.db'));
  const version = db.pragma('user_version', { simple: true }) as number;
  db.pragma(`user_version = ${version - 1}`);
  await expect(openAmong(async () => undefined)).rejects.toThrow('another version of Firsthand');
  db.pragma(`user_version = ${version}`);
  db.close();
  for (const url of ['sqlite::memory:', 'postgres://localhost/firsthand']) {
    await expect(openFirstStore(url, onFatal)).rejects.toThrow('must be 1 with');
  }
});
