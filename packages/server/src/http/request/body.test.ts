import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Refusal } from '../../shared/refusal.ts';
import { createBodyMemoryLimit } from './admission.ts';
import { discardBody, readBody } from './body.ts';

const maxBytes = 200 * 1024;

/**
 * Starts a server that calls `receive` with each request before responding. Returns a function that sends requests.
 */
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

/** Starts a server that reads bodies of up to 100 KiB in total. `endings` records each body's length or error. */
const openReader = async (before: (incoming: IncomingMessage) => Promise<unknown> = async () => {}) => {
  const arrive = createBodyMemoryLimit(100 * 1024);
  const endings: (string | number)[] = [];
  const send = await open(async (incoming) => {
    await before(incoming);
    const request = new Request('http://x/', { method: 'POST', headers: incoming.headers as Record<string, string> });
    endings.push(
      await readBody(request, maxBytes, { arrive, incoming, hold: () => {}, release: () => {} }).then(
        ({ length }) => length,
        ({ code, message }: Refusal) => `${code}: ${message}`,
      ),
    );
  });
  return { endings, send };
};

const chunked = 'Transfer-Encoding: chunked';
const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;

test('reads a large body, with or without Content-Length', async () => {
  const { endings, send } = await openReader();
  await send('Content-Length: 60000', 'x'.repeat(60_000));
  await expect.poll(() => endings).toEqual([60_000]);
  await send(chunked, `${chunk(30_000)}${chunk(1)}0\r\n\r\n`);
  await expect.poll(() => endings).toEqual([60_000, 30_001]);
});

test('aborts a stalled body to make room for the next body', async () => {
  const { endings, send } = await openReader();
  await send('Content-Length: 90000', 'x'.repeat(80_000));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(endings).toEqual([]);
  await send('Content-Length: 60000', 'x'.repeat(60_000));
  await expect.poll(() => endings).toEqual(['unavailable: the body arrived too slowly', 60_000]);
});

test('immediately refuses a body that is too large or incomplete', async () => {
  const { endings, send } = await openReader();
  await send(chunked, Array.from({ length: 20 }, () => chunk(20_000)).join(''));
  await expect.poll(() => endings).toHaveLength(1);
  (await send('Content-Length: 60000', 'x'.repeat(30_000))).destroy();
  await expect.poll(() => endings).toHaveLength(2);
  expect(endings[1]).toMatch(/^invalid_encoding: the body is incomplete/);
  expect(endings[0]).toMatch(/^(body_too_large|unavailable)/);
});

test('refuses a body whose client disconnects before the body is read', async () => {
  const { endings, send } = await openReader((incoming) => once(incoming, 'close').catch(() => {}));
  // A paused request buffers this many bytes. If there are more, Node doesn't notice the disconnect.
  (await send('Content-Length: 60000', 'x'.repeat(1000))).destroy();
  await expect.poll(() => endings).toEqual(['invalid_encoding: the body is incomplete']);
});

test('discards a body until it is complete or the client disconnects', async () => {
  const ended: string[] = [];
  const send = await open(async (incoming) => {
    await discardBody(incoming);
    ended.push(incoming.complete ? 'complete' : 'disconnected');
  });
  const socket = await send('Content-Length: 300000', 'x'.repeat(200_000));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(ended).toEqual([]);
  socket.write('x'.repeat(100_000));
  await expect.poll(() => ended).toEqual(['complete']);
  (await send('Content-Length: 300000', 'x'.repeat(200_000))).end();
  await expect.poll(() => ended).toEqual(['complete', 'disconnected']);
});

test('stops discarding a body beyond the maximum size', async () => {
  const ended: boolean[] = [];
  const send = await open(async (incoming) => {
    await discardBody(incoming);
    ended.push(incoming.complete);
  });
  await send('Content-Length: 100000000', 'x'.repeat(2_000_000));
  await expect.poll(() => ended).toEqual([false]);
});
