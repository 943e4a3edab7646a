import { createClient } from '@firsthand/client';
import { expect, it } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import { temporaryDatabase } from '../fixtures/command.ts';
import { createAccount, serveHere, userUUID } from '../fixtures/serving.ts';
import { newEvent } from '../fixtures/store.ts';

const dayMs = 86_400_000;

it('deletes what is older than RETENTION_DAYS, and nothing unless it is told to', async () => {
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

  const left = async (url: string) => {
    const { event } = await createClient({ url, token: serverTokenUUID }).getEvent({});
    return event.map(({ eventUUID }) => eventUUID);
  };
  const keeping = await serveHere(env);
  expect(await left(keeping.url)).toEqual(['20-days-old', '40-days-old']);
  await keeping.close();
  const { url } = await serveHere({ ...env, RETENTION_DAYS: '30' });
  await expect.poll(() => left(url)).toEqual(['20-days-old']);
});
