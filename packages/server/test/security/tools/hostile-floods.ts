/**
 * Simulates one hostile IP address, as a separate process: `hostile-floods.ts <port> <connections> <token>`. A line of
 * input with a flood's name starts it; an empty line stops it and prints the number of requests. The process has low
 * priority, so that only the server can slow down other clients.
 */
import { connect, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';

const buildPost = (path: string, body: Buffer | string, extra = '') =>
  Buffer.concat([
    Buffer.from(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${extra}`),
    Buffer.from(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`),
    Buffer.from(body),
  ]);
const buildRequest = (method: string, target: string, extra = '') =>
  Buffer.from(`${method} ${target} HTTP/1.1\r\nHost: x\r\n${extra}\r\n`);
const buildGet = (target: string, extra = '') => buildRequest('GET', target, extra);

const gzip = 'Content-Encoding: gzip\r\n';
const numbers = (bytes: number) => `[${`1${'0'.repeat(390)}1,`.repeat(bytes / 393)}1]`;
const manyFields = (bytes: number, extra = '') =>
  `{${extra}${Array.from({ length: Math.floor(bytes / 11) }, (_, nth) => `"${nth.toString(36)}":1`).join()}}`;
const guess = () => `server_${Math.random().toString(36).slice(2)}`;
const query = Array.from({ length: 900 }, (_, nth) => `${nth.toString(36)}=%41`).join('&');
const headers = (count: number, length: number) =>
  Array.from({ length: count }, (_, nth) => `${nth.toString(36)}:${'x'.repeat(length)}\r\n`).join('');

/** What a connection does. It calls `count` for each request. */
type Behave = (socket: Socket, count: () => void) => void;

/** Sends each request as soon as the previous one gets a response. */
const sendInTurn =
  (createRequest: () => Buffer): Behave =>
  (socket, count) => {
    const send = () => {
      count();
      socket.write(createRequest());
    };
    socket.on('connect', send);
    socket.on('data', () => {
      if (!socket.destroyed && socket.writableLength === 0) send();
    });
  };
const repeatRequest = (request: Buffer): Behave => sendInTurn(() => request);

/** Sends one request on each connection, and closes the connection before the response. */
const sendAndClose =
  (createRequest: () => Buffer): Behave =>
  (socket, count) =>
    socket.on('connect', () => {
      count();
      socket.write(createRequest(), () => setTimeout(() => socket.destroy(), 2));
    });

/** Sends a body one byte at a time. */
const dripBody: Behave = (socket, count) =>
  socket.on('connect', () => {
    count();
    socket.write('POST /event/logEvent HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n');
    const timer = setInterval(() => socket.write(' '), 5);
    socket.on('close', () => clearInterval(timer));
  });

/** `token` is a page's browser token, which is public. */
export const floods = {
  'long numbers, 64 KB gzipped': () => repeatRequest(buildPost('/event/logEvent', gzipSync(numbers(64_000)), gzip)),
  'many fields, 60 KB': () => repeatRequest(buildPost('/event/logEvent', manyFields(60_000))),
  'many fields, 1 MB': () => repeatRequest(buildPost('/event/logEvents', manyFields(900_000))),
  'many fields, 1 MB gzipped': () => repeatRequest(buildPost('/event/logEvents', gzipSync(manyFields(900_000)), gzip)),
  'many fields and a bad token, 60 KB': () =>
    sendInTurn(() => buildPost('/event/logEvent', manyFields(60_000, `"tokenUUID":"${guess()}",`))),
  'many fields, 1 KB': () => repeatRequest(buildPost('/event/logEvent', manyFields(1_000))),
  'bad tokens': () => sendInTurn(() => buildGet(`/event/getEvent?tokenUUID=${guess()}`)),
  'bad tokens in bodies': () =>
    sendInTurn(() => buildPost('/event/logEvent', `{"tokenUUID":"${guess()}","eventID":1}`)),
  'bad tokens, without waiting': () => sendAndClose(() => buildGet(`/event/getEvent?tokenUUID=${guess()}`)),
  '900 parameters': () => repeatRequest(buildGet(`/event/logEvent?${query}`)),
  '1,900 headers': () => repeatRequest(buildGet('/event/logEvent', headers(1_900, 4))),
  'headers of 32 KB': () => repeatRequest(buildGet('/event/logEvent', headers(90, 330))),
  'unknown paths': () => repeatRequest(buildGet('/nowhere')),
  preflights: () => repeatRequest(buildRequest('OPTIONS', '/event/logEvent', 'Origin: https://a.example\r\n')),
  'tracker.js': () => repeatRequest(buildGet('/tracker.js', 'Accept-Encoding: br\r\n')),
  'pipelined requests': () => repeatRequest(Buffer.concat(Array(1_000).fill(buildGet('/nowhere')))),
  'new connections': () => repeatRequest(buildGet('/', 'Connection: close\r\n')),
  'abandoned connections': () => sendAndClose(() => Buffer.alloc(0)),
  'slow bodies': () => dripBody,
  'many fields and a page’s token, 60 KB': (token) =>
    repeatRequest(
      buildPost(
        '/event/logEvent',
        manyFields(60_000, `"tokenUUID":"${token}","userUUID":"hostile-visitor","eventID":1,`),
      ),
    ),
} satisfies Record<string, (token: string) => Behave>;
export type Flood = keyof typeof floods;

/** Starts a flood. Returns a function that stops the flood and returns the number of requests. */
const flood = (port: number, behave: Behave, connections: number) => {
  let sent = 0;
  let isOver = false;
  const sockets = new Set<Socket>();
  const count = () => {
    sent += 1;
  };
  const open = () => {
    if (isOver) return;
    const socket = connect({ port, host: '127.0.0.1' });
    sockets.add(socket);
    behave(socket, count);
    socket.on('error', () => {});
    // Reads and discards responses, because unread responses would block the connection.
    socket.resume();
    socket.on('end', () => socket.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      setTimeout(open, 1);
    });
  };
  for (let nth = 0; nth < connections; nth += 1) open();
  return () => {
    isOver = true;
    for (const socket of sockets) socket.destroy();
    return sent;
  };
};

const [, script = '', port, connections, token = ''] = process.argv;
if (script.endsWith('hostile-floods.ts')) {
  setPriority(constants.priority.PRIORITY_LOW);
  let stop: (() => number) | undefined;
  process.stdout.write('ready\n');
  const input = createInterface(process.stdin);
  input.on('line', (kind) => {
    const sent = stop?.();
    stop = kind === '' ? undefined : flood(Number(port), floods[kind as Flood](token), Number(connections));
    process.stdout.write(`${sent ?? 'begun'}\n`);
  });
  input.on('close', () => process.exit());
}
