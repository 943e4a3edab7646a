/**
 * Simulates clients that exhaust a server's connections and memory. They run in a separate process, so that their work
 * does not delay the healthy clients. `hostile-clients.ts <port> <kind> <count>` prints lines of JSON (`StatusLine`),
 * and exits when its input ends.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { gzipSync } from 'node:zlib';

interface Hostile {
  /** The number of connections that are still open. */
  open(): number;
  /** The first line of each connection's response. */
  readonly responses: string[];
}

/** Opens connections, and runs `behave` on each. */
const attack = async (port: number, count: number, behave: (socket: Socket, nth: number) => void): Promise<Hostile> => {
  const sockets = new Set<Socket>();
  const responses: string[] = [];
  const openOne = async (nth: number) => {
    const socket = connect({ port, host: '127.0.0.1' });
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.once('data', (bytes) => responses.push(bytes.toString('latin1').split('\r\n')[0] as string));
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
    behave(socket, nth);
  };
  // Opens them in waves, because the kernel limits the number of connections that wait to be accepted.
  for (let from = 0; from < count; from += 100) {
    await Promise.all(Array.from({ length: Math.min(100, count - from) }, (_, nth) => openOne(from + nth)));
  }
  return {
    open: () => sockets.size,
    responses,
  };
};

/** Writes a string piece by piece while the connection is open. */
const drip = (socket: Socket, pieces: Iterator<string | Buffer>, everyMilliseconds: number) => {
  const timer = setInterval(() => {
    const { done, value } = pieces.next();
    if (done || socket.destroyed) clearInterval(timer);
    else socket.write(value);
  }, everyMilliseconds);
  socket.once('close', () => clearInterval(timer));
};

function* endlessHeaders() {
  yield 'POST /event/logEvent HTTP/1.1\r\nHost: x\r\n';
  for (let nth = 0; ; nth += 1) yield `X-${nth}: y\r\n`;
}

/** Sends one header line at a time, but never the last one. */
const slowHeaders = (socket: Socket): void => drip(socket, endlessHeaders(), 500);

const headOf = (path: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

const batchBytes = 1024 * 1024;

/** Sends almost all of a batch of the maximum size, then nothing. */
const stalledBody = (socket: Socket): void => {
  socket.write(headOf('/event/logEvents', batchBytes));
  socket.write(Buffer.alloc(batchBytes - 10, ' '));
};

/** Like `stalledBody`, with chunked encoding, and therefore without announcing the length. */
const stalledChunks = (socket: Socket): void => {
  socket.write('POST /event/logEvents HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  const chunk = Buffer.alloc(1_000, ' ');
  for (let sent = 0; sent < batchBytes - 10_000; sent += chunk.length) {
    socket.write('3e8\r\n');
    socket.write(chunk);
    socket.write('\r\n');
  }
};

function* bytes() {
  yield headOf('/event/logEvent', 60_000);
  for (let nth = 0; nth < 60_000; nth += 1) yield ' ';
}

/** Sends a body one byte at a time. */
const slowBody = (socket: Socket): void => drip(socket, bytes(), 100);

/** Sends this many bytes as fast as the server accepts them, no matter how the server responds. */
const hugeBody =
  (length: number, { chunked = false } = {}) =>
  (socket: Socket): void => {
    socket.write(
      chunked
        ? 'POST /event/logEvents HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
        : headOf('/event/logEvents', length),
    );
    const part = Buffer.alloc(64 * 1024, ' ');
    let sent = 0;
    const sendMore = () => {
      while (sent < length && !socket.destroyed) {
        sent += part.length;
        if (chunked) socket.write('10000\r\n');
        const isWritable = socket.write(part);
        if (chunked) socket.write('\r\n');
        if (!isWritable) {
          socket.once('drain', sendMore);
          return;
        }
      }
    };
    sendMore();
  };

/** The maximum-size batch that compresses best. */
const packedBatch = gzipSync(Buffer.alloc(batchBytes, ' '));

/** Sends a small body that is large after decompression. */
const gzipBody = (socket: Socket): void => {
  socket.write(
    headOf('/event/logEvents', packedBatch.length).replace('\r\n\r\n', '\r\nContent-Encoding: gzip\r\n\r\n'),
  );
  socket.write(packedBatch);
};

const part = `--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n${'x'.repeat(1_000)}\r\n`;
const form = part.repeat(900);

/** Sends a form with many fields. */
const formBody = (socket: Socket): void => {
  const type = 'multipart/form-data; boundary=b';
  socket.write(headOf('/event/logEvents', form.length).replace('application/json', type));
  socket.write(form);
};

/** Connects, and sends nothing. */
const idle = (): void => {};

export const kinds = {
  'slow headers': slowHeaders,
  'stalled bodies': stalledBody,
  'stalled chunks': stalledChunks,
  'slow bodies': slowBody,
  'bodies of 100 MB': hugeBody(100e6),
  'chunks of 100 MB': hugeBody(100e6, { chunked: true }),
  'gzip bodies': gzipBody,
  'form bodies': formBody,
  'idle connections': idle,
};
export type Kind = keyof typeof kinds;

/** A line of the process's output. */
export interface StatusLine {
  readonly open: number;
  readonly responses: readonly string[];
}

const [, script, port, kind, count] = process.argv;
if (script !== undefined && /hostile-clients\.m?[jt]s$/.test(import.meta.url) && kind !== undefined && kind in kinds) {
  // Lowers its priority, so that this process takes no CPU time from other clients: only the server can slow them down.
  setPriority(constants.priority.PRIORITY_LOW);
  const hostile = await attack(Number(port), Number(count), kinds[kind as Kind]);
  const printStatus = () => {
    const status: StatusLine = { open: hostile.open(), responses: [...new Set(hostile.responses)] };
    process.stdout.write(`${JSON.stringify(status)}\n`);
  };
  printStatus();
  setInterval(printStatus, 200);
  process.stdin.on('end', () => process.exit());
  process.stdin.resume();
}
