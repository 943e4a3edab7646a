import { once } from 'node:events';
import { connect } from 'node:net';
import { createClient } from '@firsthand/client';
import { limits } from '@firsthand/contract/limits';
import { expect, it } from 'vitest';
import { temporaryDatabase } from '../fixtures/command.ts';
import { createAccount, serveHere, userUUID } from '../fixtures/serving.ts';

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
  await expect.poll(() => log(1).then(() => seen.length)).toBeGreaterThan(0);

  await first.close();
  await serveHere({ ...env, PORT: new URL(first.url).port });
  await log(2);
  await log(3);
  await log(4);
  await following;
  expect(seen.filter((eventID) => eventID !== 1)).toEqual([2, 3, 4]);
});

it('streamEvents keeps no place for requests that waited on a connection whose client has left', async () => {
  const { url } = await serveHere();
  const { serverTokenUUID } = await createAccount(url);
  const headers = { Authorization: `Bearer ${serverTokenUUID}` };
  const asked = `GET /event/streamEvents HTTP/1.1\r\nHost: here\r\nAuthorization: ${headers.Authorization}\r\n\r\n`;
  const requests = 5;
  for (let waited = 0; waited < limits.streamsPerAccount; waited += requests - 1) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(asked.repeat(requests));
    await once(socket, 'data');
    socket.destroy();
  }
  const follow = async () => {
    const response = await fetch(`${url}/event/streamEvents`, { headers });
    await response.body?.cancel();
    return response.status;
  };
  await expect.poll(follow).toBe(200);
  // Each of these is one more stream that must find a place.
  for (let nth = 0; nth < 10; nth += 1) expect(await follow()).toBe(200);
});
