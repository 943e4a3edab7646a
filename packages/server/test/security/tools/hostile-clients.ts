/**
 * Clients that take a server's connections and memory: they speak HTTP by hand, as slowly or as much as they like. A process
 * of its own, so that who is healthy beside them is not held up by their work: `hostile-clients.ts <port> <kind> <count>`
 * says, a line of JSON each time, how many connections are open and what was answered, and ends when its input does.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { gzipSync } from 'node:zlib';

interface Hostile {
  /** How many of the connections are still open. */
  open(): number;
  /** What came back, once for each connection that was answered: the first line. */
  readonly answers: string[];
}

/** Opens connections, and lets `behave` loose on each. */
const attack = async (port: number, count: number, behave: (socket: Socket, nth: number) => void): Promise<Hostile> => {
  const sockets = new Set<Socket>();
  const answers: string[] = [];
  const openOne = async (nth: number) => {
    const socket = connect({ port, host: '127.0.0.1' });
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.once('data', (bytes) => answers.push(bytes.toString('latin1').split('\r\n')[0] as string));
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
    behave(socket, nth);
  };
  // In waves: a kernel lets only so many wait to be accepted.
  for (let from = 0; from < count; from += 100) {
    await Promise.all(Array.from({ length: Math.min(100, count - from) }, (_, nth) => openOne(from + nth)));
  }
  return {
    open: () => sockets.size,
    answers,
  };
};

/** Writes a text piece by piece, for as long as the connection is there. */
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

/** A header line at a time, and never the last. */
const slowHeaders = (socket: Socket): void => drip(socket, endlessHeaders(), 500);

const headOf = (path: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

const batchBytes = 1024 * 1024;

/** Almost the whole of the largest batch there may be, and then nothing. */
const stalledBody = (socket: Socket): void => {
  socket.write(headOf('/event/logEvents', batchBytes));
  socket.write(Buffer.alloc(batchBytes - 10, ' '));
};

/** The same without saying how much there will be. */
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

/** A body a byte at a time. */
const slowBody = (socket: Socket): void => drip(socket, bytes(), 100);

/** As many bytes as are asked for, as fast as they are taken, whatever is answered. */
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
    const go = () => {
      while (sent < length && !socket.destroyed) {
        sent += part.length;
        if (chunked) socket.write('10000\r\n');
        const isTaken = socket.write(part);
        if (chunked) socket.write('\r\n');
        if (!isTaken) {
          socket.once('drain', go);
          return;
        }
      }
    };
    go();
  };

/** As much text as a batch may be, as little as it packs to. */
const packedBatch = gzipSync(Buffer.alloc(batchBytes, ' '));

/** A small body that is large once it is unpacked. */
const gzipBody = (socket: Socket): void => {
  socket.write(
    headOf('/event/logEvents', packedBatch.length).replace('\r\n\r\n', '\r\nContent-Encoding: gzip\r\n\r\n'),
  );
  socket.write(packedBatch);
};

const part = `--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n${'x'.repeat(1_000)}\r\n`;
const form = part.repeat(900);

/** A form of many fields. */
const formBody = (socket: Socket): void => {
  const type = 'multipart/form-data; boundary=b';
  socket.write(headOf('/event/logEvents', form.length).replace('application/json', type));
  socket.write(form);
};

/** Connects, and says nothing. */
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

/** What a process of them says. */
export interface Said {
  readonly open: number;
  readonly answers: readonly string[];
}

const [, script, port, kind, count] = process.argv;
if (script !== undefined && /hostile-clients\.m?[jt]s$/.test(import.meta.url) && kind !== undefined && kind in kinds) {
  // So that the time that others wait is the server's doing.
  setPriority(constants.priority.PRIORITY_LOW);
  const hostile = await attack(Number(port), Number(count), kinds[kind as Kind]);
  const say = () => {
    const said: Said = { open: hostile.open(), answers: [...new Set(hostile.answers)] };
    process.stdout.write(`${JSON.stringify(said)}\n`);
  };
  say();
  setInterval(say, 200);
  process.stdin.on('end', () => process.exit());
  process.stdin.resume();
}
