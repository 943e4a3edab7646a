import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Refusal } from '../refusal.ts';
import { createArrivals } from './arriving.ts';
import { discardBody, readBody } from './body.ts';

const most = 200 * 1024;

/** A server that reads bodies from sockets, which together may hold 100 KiB; answers how each ended. */
const open = async () => {
  const arrive = createArrivals(100 * 1024);
  const endings: (string | number)[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const request = new Request('http://x/', { method: 'POST', headers: incoming.headers as Record<string, string> });
    endings.push(
      await readBody(request, most, { arrive, incoming }).then(
        ({ length }) => length,
        ({ code, message }: Refusal) => `${code}: ${message}`,
      ),
    );
    outgoing.end();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const send = async (headers: string, body: string) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    await once(socket, 'connect');
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`);
    socket.write(body);
    return socket;
  };
  return { endings, send };
};

const chunked = 'Transfer-Encoding: chunked';
const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;

test('a large body is read whole, whether or not it says how large it is', async () => {
  const { endings, send } = await open();
  await send('Content-Length: 60000', 'x'.repeat(60_000));
  await expect.poll(() => endings).toEqual([60_000]);
  await send(chunked, `${chunk(30_000)}${chunk(1)}0\r\n\r\n`);
  await expect.poll(() => endings).toEqual([60_000, 30_001]);
});

test('one that stalls makes room for the next, and says so', async () => {
  const { endings, send } = await open();
  await send('Content-Length: 90000', 'x'.repeat(80_000));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(endings).toEqual([]);
  await send('Content-Length: 60000', 'x'.repeat(60_000));
  await expect.poll(() => endings).toEqual(['not_kept: the body came in too slowly', 60_000]);
});

test('one that is too large, or breaks off, ends at once', async () => {
  const { endings, send } = await open();
  await send(chunked, Array.from({ length: 20 }, () => chunk(20_000)).join(''));
  await expect.poll(() => endings).toHaveLength(1);
  (await send('Content-Length: 60000', 'x'.repeat(30_000))).destroy();
  await expect.poll(() => endings).toHaveLength(2);
  expect(endings[1]).toMatch(/^invalid_encoding: the body broke off/);
  expect(endings[0]).toMatch(/^(body_too_large|not_kept)/);
});

test('what nobody reads goes by, until it is over or the client goes away', async () => {
  const ended: string[] = [];
  const server = createServer(async (incoming, outgoing) => {
    await discardBody(incoming);
    ended.push(incoming.complete ? 'over' : 'gone away');
    outgoing.end();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const send = (body: string) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n${body}`);
    return socket;
  };
  const socket = send('x'.repeat(200_000));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(ended).toEqual([]);
  socket.write('x'.repeat(100_000));
  await expect.poll(() => ended).toEqual(['over']);
  send('x'.repeat(200_000)).end();
  await expect.poll(() => ended).toEqual(['over', 'gone away']);
});
