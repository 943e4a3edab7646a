import { once } from 'node:events';
import { connect } from 'node:net';
import { createClient } from '@firsthand/client';
import { limits } from '@firsthand/contract/limits';
import { expect, it } from 'vitest';
import { temporaryDatabase } from '../fixtures/command.ts';
import { createAccount, serveHere, userUUID } from '../fixtures/serving.ts';

it('misses and repeats nothing in streamEvents when the server restarts', async () => {
  const { env } = temporaryDatabase();
  const first = await serveHere(env);
  const { serverTokenUUID } = await createAccount(first.url);
  const client = createClient({ url: first.url, token: serverTokenUUID });
  const log = (eventID: number) => client.logEvent({ eventID, userUUID });

  const received: number[] = [];
  const following = (async () => {
    for await (const { eventID } of client.streamEvents({})) {
      received.push(eventID);
      if (eventID === 4) return;
    }
  })();
  // Polls, because the stream begins with events that are logged after it was opened.
  await expect.poll(() => log(1).then(() => received.length)).toBeGreaterThan(0);

  await first.close();
  await serveHere({ ...env, PORT: new URL(first.url).port });
  await log(2);
  await log(3);
  await log(4);
  await following;
  expect(received.filter((eventID) => eventID !== 1)).toEqual([2, 3, 4]);
});

it('reserves no stream for requests that wait on a connection that the client has closed', async () => {
  const { url } = await serveHere();
  const { serverTokenUUID } = await createAccount(url);
  const headers = { Authorization: `Bearer ${serverTokenUUID}` };
  const request = `GET /event/streamEvents HTTP/1.1\r\nHost: here\r\nAuthorization: ${headers.Authorization}\r\n\r\n`;
  const requests = 5;
  for (let waited = 0; waited < limits.streamsPerAccount; waited += requests - 1) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(request.repeat(requests));
    await once(socket, 'data');
    socket.destroy();
  }
  const follow = async () => {
    const response = await fetch(`${url}/event/streamEvents`, { headers });
    await response.body?.cancel();
    return response.status;
  };
  await expect.poll(follow).toBe(200);
  // Opens these streams, each of which needs another free slot.
  for (let nth = 0; nth < 10; nth += 1) expect(await follow()).toBe(200);
});
