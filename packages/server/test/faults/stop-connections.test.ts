import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient } from '@firsthand/client';
import { expect, it } from 'vitest';
import { temporaryDatabase } from '../fixtures/command.ts';
import { createAccount, operatorToken, serveHere, userUUID } from '../fixtures/serving.ts';
import { soon } from '../fixtures/timeouts.ts';

/** Opens a connection. `ended` resolves with everything received on the connection once it closes. */
const open = async (url: string) => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  const ended = new Promise<string>((resolve) => socket.on('close', () => resolve(received)));
  socket.on('error', () => {});
  return { socket, ended };
};

/** Sends the first part of a logEvent request. Returns a function that sends the rest. */
const beginEvent = (socket: Socket, tokenUUID: string, eventUUID: string) => {
  const body = JSON.stringify({ tokenUUID, userUUID, eventID: 1, eventUUID });
  socket.write(`POST /logEvent HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 20)}`);
  return () => socket.write(body.slice(20));
};

it('responds to a request in progress, then closes its connection', async () => {
  const { url, close } = await serveHere();
  const { serverTokenUUID } = await createAccount(url);
  const { socket, ended } = await open(url);
  const finish = beginEvent(socket, serverTokenUUID, 'under-way');
  await wait(100);
  const closed = close();
  await wait(600);
  finish();
  const response = await ended;
  expect(response).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(response).toMatch(/\r\nconnection: close\r\n/i);
  expect(response).toContain('"eventUUID":"under-way"');
  expect(await closed).toBe(0);
});

it.each([
  ['/healthz', /^HTTP\/1\.1 200 OK\r\n/],
  ['/nowhere', /^HTTP\/1\.1 404 Not Found\r\n/],
  ['//', /^HTTP\/1\.1 404 Not Found\r\n/],
])('responds to a request whose headers are incomplete when the shutdown begins: %s', async (path, status) => {
  const { url, close } = await serveHere();
  const { socket, ended } = await open(url);
  socket.write(`GET ${path} HTTP/1.1\r\n`);
  await wait(100);
  const closed = close();
  await wait(600);
  socket.write('Host: x\r\n\r\n');
  const response = await ended;
  expect(response).toMatch(status);
  expect(response).toMatch(/\r\nconnection: close\r\n/i);
  expect(await closed).toBe(0);
});

it('responds on connections that have not been accepted when the shutdown begins', async () => {
  const { url, close } = await serveHere();
  const { hostname, port } = new URL(url);
  const responses = Array.from({ length: 5 }, async () => {
    const socket = connect(Number(port), hostname);
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    await once(socket, 'close');
    return received;
  });
  // By the next tick, the kernel has established the connections, but this process has not accepted them.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  const closed = close();
  for (const response of await Promise.all(responses)) expect(response).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(await closed).toBe(0);
});

it('responds to a request that arrives while the process is busy, no matter how late its timers are', async () => {
  const { url, close } = await serveHere();
  const { socket, ended } = await open(url);
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'data');
  const closed = close();
  await wait(100);
  // From now on, timers run before sockets are read.
  await new Promise(setImmediate);
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  for (const busyUntil = performance.now() + 1_000; performance.now() < busyUntil; );
  expect((await ended).match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
  expect(await closed).toBe(0);
});

// Retried, because a busy machine alone can exceed the time limit.
it('is not delayed by idle connections and streams, and accepts no new connections', { retry: 4 }, async () => {
  const { url, close } = await serveHere();
  const { serverTokenUUID } = await createAccount(url);
  const neverUsed = await open(url);
  const used = await open(url);
  used.socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(used.socket, 'data');
  const stream = await open(url);
  stream.socket.write(
    `GET /event/streamEvents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${serverTokenUUID}\r\nAccept: text/event-stream\r\n\r\n`,
  );
  await once(stream.socket, 'data');

  const busy = await open(url);
  const finish = beginEvent(busy.socket, serverTokenUUID, 'under-way');
  await wait(100);

  const began = performance.now();
  const closed = close();
  // Waits until the server waits for the request in progress.
  await expect
    .poll(() =>
      open(url).then(
        ({ socket }) => void socket.destroy(),
        ({ code }) => code,
      ),
    )
    .toBe('ECONNREFUSED');
  finish();
  expect(await busy.ended).toMatch(/^HTTP\/1\.1 200/);
  expect(await stream.ended).toMatch(/text\/event-stream[\s\S]*\r\n0\r\n\r\n$/);
  await Promise.all([neverUsed.ended, used.ended]);
  expect(await closed).toBe(0);
  expect(performance.now() - began).toBeLessThan(4_000);
});

it('cuts off an endless request after four seconds, and counts it in the exit code', async () => {
  const { url, close } = await serveHere();
  const { serverTokenUUID } = await createAccount(url);
  const { socket, ended } = await open(url);
  beginEvent(socket, serverTokenUUID, 'never-ended');
  await wait(100);
  const began = performance.now();
  expect(await close()).toBe(1);
  const milliseconds = performance.now() - began;
  expect(milliseconds).toBeGreaterThan(3_900);
  expect(milliseconds).toBeLessThan(soon.timeout);
  expect(await ended).toBe('');
});

it('stores when tokens were last used, so that the next server can show it', async () => {
  const { env } = temporaryDatabase();
  const first = await serveHere(env);
  const { accountUUID, browserTokenUUID } = await createAccount(first.url);
  const usesOf = async (url: string) => {
    const { account } = await createClient({ url, token: operatorToken }).getAccount({ accountUUID });
    return Object.fromEntries(account.token?.map(({ tokenKind, lastUsedTime }) => [tokenKind, lastUsedTime]) ?? []);
  };
  expect(await usesOf(first.url)).toEqual({ browser: undefined, server: undefined });
  const hour = () => `${new Date().toISOString().slice(0, 13)}:00:00.000Z`;
  const hours = [hour()];
  await createClient({ url: first.url, token: browserTokenUUID }).logEvent({ userUUID, eventID: 1 });
  hours.push(hour());
  await first.close();
  const { browser, server } = await usesOf((await serveHere(env)).url);
  expect(hours).toContain(browser);
  expect(server).toBeUndefined();
});

it('frees the port immediately', async () => {
  const first = await serveHere();
  expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
  await first.close();
  const second = await serveHere({ PORT: new URL(first.url).port });
  expect((await fetch(`${second.url}/readyz`)).status).toBe(200);
});
