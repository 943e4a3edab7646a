/**
 * One hostile address: connections that send requests without a good token as fast as they are answered, and connect again when
 * they are closed. A process of its own: `hostile-floods.ts <port> <kind> <connections>`; it ends when its input does, and prints
 * then how many requests it has sent. The kind `nothing` only keeps a core busy.
 */
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';

const post = (path: string, body: Buffer | string, more = '') =>
  Buffer.concat([
    Buffer.from(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${more}`),
    Buffer.from(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`),
    Buffer.from(body),
  ]);
const get = (target: string, more = '') => Buffer.from(`GET ${target} HTTP/1.1\r\nHost: x\r\n${more}\r\n`);

const gzip = 'Content-Encoding: gzip\r\n';
const numbers = (bytes: number) => `[${`1${'0'.repeat(390)}1,`.repeat(bytes / 393)}1]`;
const members = (bytes: number, more = '') =>
  `{${more}${Array.from({ length: Math.floor(bytes / 11) }, (_, nth) => `"${nth.toString(36)}":1`).join()}}`;
const guess = () => `server_${Math.random().toString(36).slice(2)}`;
const query = Array.from({ length: 900 }, (_, nth) => `${nth.toString(36)}=%41`).join('&');
const headers = Array.from({ length: 1_900 }, (_, nth) => `${nth.toString(36)}:${nth}\r\n`).join('');

/** What one connection sends at once. A new one each time where it is a function that takes nothing from before. */
export const floods = {
  'long numbers, 64 KB in gzip': () => post('/event/logEvent', gzipSync(numbers(64_000)), gzip),
  'members, 60 KB': () => post('/event/logEvent', members(60_000)),
  'members, 1 MB': () => post('/event/logEvents', members(900_000)),
  'members, 1 MB in gzip': () => post('/event/logEvents', gzipSync(members(900_000)), gzip),
  'members and a bad token, 60 KB': () => post('/event/logEvent', members(60_000, `"tokenUUID":"${guess()}",`)),
  'members, 1 KB': () => post('/event/logEvent', members(1_000)),
  'bad tokens': () => get(`/event/getEvent?tokenUUID=${guess()}`),
  '900 parameters': () => get(`/event/logEvent?${query}`),
  '1,900 headers': () => get('/event/logEvent', headers),
  'requests in a row': () => Buffer.concat(Array(1_000).fill(get('/nowhere'))),
  'new connections': () => get('/', 'Connection: close\r\n'),
} satisfies Record<string, () => Buffer>;
export type Flood = keyof typeof floods;

const changing: readonly string[] = ['bad tokens'];

const flood = (port: number, kind: Flood, connections: number) => {
  let sent = 0;
  const same = floods[kind]();
  const make = changing.includes(kind) ? floods[kind] : () => same;
  const open = () => {
    const socket = connect({ port, host: '127.0.0.1' });
    const send = () => {
      sent += 1;
      socket.write(make());
    };
    socket.on('connect', send);
    socket.on('data', () => {
      if (!socket.destroyed && socket.writableLength === 0) send();
    });
    socket.on('error', () => {});
    socket.on('end', () => socket.destroy());
    socket.on('close', () => setTimeout(open, 1));
  };
  for (let nth = 0; nth < connections; nth += 1) open();
  return () => sent;
};

/** Uses a core, in turns of a few milliseconds. */
const stayBusy = () => {
  const end = performance.now() + 5;
  while (performance.now() < end);
  setImmediate(stayBusy);
};

const [, script = '', port, kind = '', connections] = process.argv;
if (script.endsWith('hostile-floods.ts')) {
  const sent = kind in floods ? flood(Number(port), kind as Flood, Number(connections)) : () => 0;
  if (kind === 'nothing') stayBusy();
  process.stdout.write('ready\n');
  process.stdin.on('end', () => {
    process.stdout.write(`${sent()}\n`, () => process.exit());
  });
  process.stdin.resume();
}
