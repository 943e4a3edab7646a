/**
 * One hostile address, in a process of its own: `hostile-floods.ts <port> <connections> <token>`. A line on its input names the
 * flood that begins; an empty one ends it and prints how many requests were sent. The process ends when its input does. It has the
 * least priority, so that the time it takes of others is the server's and not its own.
 */
import { connect, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';

const post = (path: string, body: Buffer | string, more = '') =>
  Buffer.concat([
    Buffer.from(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${more}`),
    Buffer.from(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`),
    Buffer.from(body),
  ]);
const ask = (method: string, target: string, more = '') =>
  Buffer.from(`${method} ${target} HTTP/1.1\r\nHost: x\r\n${more}\r\n`);
const get = (target: string, more = '') => ask('GET', target, more);

const gzip = 'Content-Encoding: gzip\r\n';
const numbers = (bytes: number) => `[${`1${'0'.repeat(390)}1,`.repeat(bytes / 393)}1]`;
const members = (bytes: number, more = '') =>
  `{${more}${Array.from({ length: Math.floor(bytes / 11) }, (_, nth) => `"${nth.toString(36)}":1`).join()}}`;
const guess = () => `server_${Math.random().toString(36).slice(2)}`;
const query = Array.from({ length: 900 }, (_, nth) => `${nth.toString(36)}=%41`).join('&');
const headers = (count: number, length: number) =>
  Array.from({ length: count }, (_, nth) => `${nth.toString(36)}:${'x'.repeat(length)}\r\n`).join('');

/** What a connection does, and how it counts what it sends. */
type Behave = (socket: Socket, count: () => void) => void;

/** Requests, each as soon as something has come back from the one before. */
const asking =
  (make: () => Buffer): Behave =>
  (socket, count) => {
    const send = () => {
      count();
      socket.write(make());
    };
    socket.on('connect', send);
    socket.on('data', () => {
      if (!socket.destroyed && socket.writableLength === 0) send();
    });
  };
const repeating = (request: Buffer): Behave => asking(() => request);

/** A request on each connection, which is closed before anything comes back. */
const leaving =
  (make: () => Buffer): Behave =>
  (socket, count) =>
    socket.on('connect', () => {
      count();
      socket.write(make(), () => setTimeout(() => socket.destroy(), 2));
    });

/** A body a byte at a time. */
const dripping: Behave = (socket, count) =>
  socket.on('connect', () => {
    count();
    socket.write('POST /event/logEvent HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n');
    const timer = setInterval(() => socket.write(' '), 5);
    socket.on('close', () => clearInterval(timer));
  });

/** `token` is the browser token of a page, which everybody may know. */
export const floods = {
  'long numbers, 64 KB in gzip': () => repeating(post('/event/logEvent', gzipSync(numbers(64_000)), gzip)),
  'members, 60 KB': () => repeating(post('/event/logEvent', members(60_000))),
  'members, 1 MB': () => repeating(post('/event/logEvents', members(900_000))),
  'members, 1 MB in gzip': () => repeating(post('/event/logEvents', gzipSync(members(900_000)), gzip)),
  'members and a bad token, 60 KB': () =>
    asking(() => post('/event/logEvent', members(60_000, `"tokenUUID":"${guess()}",`))),
  'members, 1 KB': () => repeating(post('/event/logEvent', members(1_000))),
  'bad tokens': () => asking(() => get(`/event/getEvent?tokenUUID=${guess()}`)),
  'bad tokens in bodies': () => asking(() => post('/event/logEvent', `{"tokenUUID":"${guess()}","eventID":1}`)),
  'bad tokens, without waiting': () => leaving(() => get(`/event/getEvent?tokenUUID=${guess()}`)),
  '900 parameters': () => repeating(get(`/event/logEvent?${query}`)),
  '1,900 headers': () => repeating(get('/event/logEvent', headers(1_900, 4))),
  'headers of 32 KB': () => repeating(get('/event/logEvent', headers(90, 330))),
  'unknown paths': () => repeating(get('/nowhere')),
  preflights: () => repeating(ask('OPTIONS', '/event/logEvent', 'Origin: https://a.example\r\n')),
  'tracker.js': () => repeating(get('/tracker.js', 'Accept-Encoding: br\r\n')),
  'requests in a row': () => repeating(Buffer.concat(Array(1_000).fill(get('/nowhere')))),
  'new connections': () => repeating(get('/', 'Connection: close\r\n')),
  'connections left': () => leaving(() => Buffer.alloc(0)),
  'slow bodies': () => dripping,
  'members and the token of a page, 60 KB': (token) =>
    repeating(
      post('/event/logEvent', members(60_000, `"tokenUUID":"${token}","userUUID":"hostile-visitor","eventID":1,`)),
    ),
} satisfies Record<string, (token: string) => Behave>;
export type Flood = keyof typeof floods;

/** Returns what ends the flood, and returns how many requests were sent. */
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
    // Else what comes back stops the connection.
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
