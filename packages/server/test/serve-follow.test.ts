import { createClient } from '@firsthand/client';
import { expect, it } from 'vitest';
import { temporaryDatabase } from './fixtures/command.ts';
import { createAccount, serveHere, userUUID } from './fixtures/serving.ts';

/** On a busy machine, too. */
const soon = { timeout: 10_000 };

it('streamEvents misses nothing and repeats nothing when the server is started anew', async () => {
  const { env } = temporaryDatabase();
  const first = await serveHere(env);
  const { serverTokenUUID } = await createAccount(first.url);
  const client = createClient({ url: first.url, token: serverTokenUUID });
  const log = (eventID: number) => client.logEvent({ eventID, userUUID });

  const seen: number[] = [];
  const following = (async () => {
    for await (const { eventID } of client.streamEvents({})) {
      seen.push(eventID);
      if (eventID === 4) return;
    }
  })();
  // It begins with what is logged after it has begun.
  await expect.poll(() => log(1).then(() => seen.length), soon).toBeGreaterThan(0);

  await first.close();
  await serveHere({ ...env, PORT: new URL(first.url).port });
  await log(2);
  await log(3);
  await log(4);
  await following;
  expect(seen.filter((eventID) => eventID !== 1)).toEqual([2, 3, 4]);
});
