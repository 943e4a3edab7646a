import { createClient } from '@firsthand/client';
import { expect, it } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import { temporaryDatabase } from '../fixtures/command.ts';
import { createAccount, serveHere, userUUID } from '../fixtures/serving.ts';
import { newEvent } from '../fixtures/store.ts';

const dayMs = 86_400_000;

it('deletes events older than RETENTION_DAYS, and deletes nothing without it', async () => {
  const { env } = temporaryDatabase();
  const first = await serveHere(env);
  const { accountUUID, serverTokenUUID } = await createAccount(first.url);
  await first.close();

  const store = await openStore({ databaseURL: env.DATABASE_URL, role: 'server', onFatal: () => {} });
  const account = (await store.findAccount(accountUUID)) as number;
  for (const days of [40, 20]) {
    const events = [newEvent({ userUUID, eventUUID: `${days}-days-old` })];
    const receivedTime = Date.now() - days * dayMs;
    await store.logEvents({ account, token: 1, browser: false, receivedTime, events });
  }
  await store.close();

  const listEvents = async (url: string) => {
    const { event } = await createClient({ url, token: serverTokenUUID }).getEvent({});
    return event.map(({ eventUUID }) => eventUUID);
  };
  const withoutRetention = await serveHere(env);
  expect(await listEvents(withoutRetention.url)).toEqual(['20-days-old', '40-days-old']);
  await withoutRetention.close();
  const { url } = await serveHere({ ...env, RETENTION_DAYS: '30' });
  await expect.poll(() => listEvents(url)).toEqual(['20-days-old']);
});
