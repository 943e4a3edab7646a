import { expect, it } from 'vitest';
import { newDatabaseURL } from '../../test/fixtures/database.ts';
import { openStore } from '../store/open.ts';
import { createSampleAccount } from './account.ts';
import { createVisitors } from './sample-shop.ts';

it('stores visitors’ events as they happen, for half an hour', async () => {
  const onFatal = (error: Error) => {
    throw error;
  };
  const store = await openStore({ databaseURL: await newDatabaseURL(), role: 'server', onFatal });
  let time = Date.now();
  const { account } = await createSampleAccount(store, time);
  const tick = createVisitors(store, account, () => time);
  const startTime = time;
  for (let nth = 0; nth < 20; nth += 1) {
    expect(await tick()).toBe(true);
    time += 5_000;
  }
  const { events } = await store.getEvents({ account, order: 'asc', limit: 1_000 });
  expect(new Set(events.map(({ userUUID }) => userUUID)).size).toBeGreaterThan(3);
  expect(events.filter(({ eventTime }) => eventTime < startTime || eventTime > time)).toEqual([]);
  time = startTime + 31 * 60_000;
  expect(await tick()).toBe(false);
  await store.close();
});
