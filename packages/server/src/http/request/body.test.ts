import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Refusal } from '../../shared/refusal.ts';
import { createArrivals } from './admission.ts';
import { discardBody, readBody } from './body.ts';

const most = 200 * 1024;

/** A server that does this with each request before it answers; sends it such ones. */
const open = async (receive: (incoming: IncomingMessage) => Promise<void>) => {
  const server = createServer(async (incoming, outgoing) => {
    await receive(incoming);
    outgoing.end();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return async (headers: string, body: string) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    await once(socket, 'connect');
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`);
    socket.write(body);
    return socket;
  };
};

/** One that reads their bodies, which together may hold 100 KiB; `endings` are how each ended. */
const openReader = async (before: (incoming: IncomingMessage) => Promise<unknown> = async () => {}) => {
  const arrive = createArrivals(100 * 1024);
  const endings: (string | number)[] = [];
  const send = await open(async (incoming) => {
    await before(incoming);
    const request = new Request('http://x/', { method: 'POST', headers: incoming.headers as Record<string, string> });
    endings.push(
      await readBody(request, most, { arrive, incoming, hold: () => {}, release: () => {} }).then(
        ({ length }) => length,
        ({ code, message }: Refusal) => `${code}: ${message}`,
      ),
    );
  });
  return { endings, send };
};

const chunked = 'Transfer-Encoding: chunked';
const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;

test('a large body is read whole, whether or not it says how large it is', async () => {
  const { endings, send } = await openReader();
  await send('Content-Length: 60000', 'x'.repeat(60_000));
  await expect.poll(() => endings).toEqual([60_000]);
  await send(chunked, `${chunk(30_000)}${chunk(1)}0\r\n\r\n`);
  await expect.poll(() => endings).toEqual([60_000, 30_001]);
});

test('one that stalls makes room for the next, and says so', async () => {
  const { endings, send } = await openReader();
  await send('Content-Length: 90000', 'x'.repeat(80_000));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(endings).toEqual([]);
  await send('Content-Length: 60000', 'x'.repeat(60_000));
  await expect.poll(() => endings).toEqual(['unavailable: the body came in too slowly', 60_000]);
});

test('one that is too large, or breaks off, ends at once', async () => {
  const { endings, send } = await openReader();
  await send(chunked, Array.from({ length: 20 }, () => chunk(20_000)).join(''));
  await expect.poll(() => endings).toHaveLength(1);
  (await send('Content-Length: 60000', 'x'.repeat(30_000))).destroy();
  await expect.poll(() => endings).toHaveLength(2);
  expect(endings[1]).toMatch(/^invalid_encoding: the body broke off/);
  expect(endings[0]).toMatch(/^(body_too_large|unavailable)/);
});

test('one whose client has gone away before it is read has broken off', async () => {
  const { endings, send } = await openReader((incoming) => once(incoming, 'close').catch(() => {}));
  // Fewer bytes than a paused request holds: with more, Node doesn't notice.
  (await send('Content-Length: 60000', 'x'.repeat(1000))).destroy();
  await expect.poll(() => endings).toEqual(['invalid_encoding: the body broke off']);
});

test('what nobody reads goes by, until it is over or the client goes away', async () => {
  const ended: string[] = [];
  const send = await open(async (incoming) => {
    await discardBody(incoming);
    ended.push(incoming.complete ? 'over' : 'gone away');
  });
  const socket = await send('Content-Length: 300000', 'x'.repeat(200_000));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(ended).toEqual([]);
  socket.write('x'.repeat(100_000));
  await expect.poll(() => ended).toEqual(['over']);
  (await send('Content-Length: 300000', 'x'.repeat(200_000))).end();
  await expect.poll(() => ended).toEqual(['over', 'gone away']);
});

test('what is longer than any body may be is not waited for', async () => {
  const ended: boolean[] = [];
  const send = await open(async (incoming) => {
    await discardBody(incoming);
    ended.push(incoming.complete);
  });
  await send('Content-Length: 100000000', 'x'.repeat(2_000_000));
  await expect.poll(() => ended).toEqual([false]);
});
