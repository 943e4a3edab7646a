/** A request's body as bytes, never more of them than allowed. */
import { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../refusal.ts';
import { type Arrive, arriveUnbounded } from './arriving.ts';
import { toUnparsed } from './unparsed.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Of these, so many as there are connections may stay unfinished. */
const smallBytes = 16 * 1024;

const unzip = promisify(gunzip);

/** Bodies that are unpacked at once: as many as there are cores in a small machine. The others wait for their turn, packed. */
const mostUnpacking = 2;
let unpacking = 0;
const waitingToUnpack: (() => void)[] = [];

/** Runs when fewer than so many others do. */
const inTurn = async <Value>(work: () => Promise<Value>): Promise<Value> => {
  if (unpacking >= mostUnpacking) await new Promise<void>((resolve) => waitingToUnpack.push(resolve));
  else unpacking += 1;
  try {
    return await work();
  } finally {
    const next = waitingToUnpack.shift();
    if (next) next();
    else unpacking -= 1;
  }
};

const tooLarge = (most: number) =>
  new Refusal('body_too_large', { message: `the body, unpacked, is over ${most} bytes` });

/** A client that went away while it was sending: nobody reads the answer, and it is no fault of ours. */
const brokenOff = (cause: unknown) => new Refusal('invalid_encoding', { message: 'the body broke off', cause });

/** Others needed the room, and this one had been coming in for longest. */
const tooSlow = () => new Refusal('not_kept', { message: 'the body came in too slowly', retryAfterSeconds: 1 });

const readWhole = async (request: Request, most: number): Promise<Bytes> => {
  const bytes = await request.arrayBuffer().catch((error) => {
    throw brokenOff(error);
  });
  if (bytes.byteLength > most) throw tooLarge(most);
  return new Uint8Array(bytes);
};

/**
 * Straight from Node. A web stream made of a request (Readable.toWeb, Node 20) takes in whatever is sent, read or not: it counts
 * the pieces that it holds, and not their bytes.
 */
const readIncoming = (incoming: IncomingMessage, most: number, arrive: Arrive): Promise<Bytes> =>
  new Promise((resolve, reject) => {
    /** What has come in of it; undefined when it is over. */
    let chunks: Bytes[] | undefined = [];
    let length = 0;
    const arriving = arrive(() => refuse(tooSlow()));
    const refuse = (refusal: Refusal) => {
      chunks = undefined;
      arriving.end();
      incoming.pause();
      reject(refusal);
    };
    const breakOff = (cause?: Error) => {
      if (chunks !== undefined) refuse(brokenOff(cause));
    };
    // Nothing is taken off again, which takes longer than to be called for nothing.
    incoming
      .on('data', (chunk: Bytes) => {
        if (chunks === undefined) return;
        length += chunk.length;
        if (length > most) return refuse(tooLarge(most));
        chunks.push(chunk);
        arriving.add(chunk.length);
      })
      .on('end', () => {
        if (chunks === undefined) return;
        const [first] = chunks;
        resolve(first?.length === length ? first : Buffer.concat(chunks, length));
        chunks = undefined;
        arriving.end();
      })
      .on('error', breakOff)
      .on('close', breakOff);
    // Its events are over: none of them would come.
    if (incoming.destroyed) breakOff();
  });

const readChunks = async (body: ReadableStream<Uint8Array>, most: number): Promise<Bytes> => {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read().catch((error) => {
      throw brokenOff(error);
    });
    if (done) return Buffer.concat(chunks, length);
    length += value.length;
    if (length > most) {
      reader.cancel().catch(() => {});
      throw tooLarge(most);
    }
    chunks.push(value);
  }
};

/** So long may nothing come in of a body that nobody reads. The whole request has its time anyway: serve.ts bounds it. */
const discardMilliseconds = 5_000;

/**
 * Lets the rest of a body go by: one who is still sending when the connection ends may never see the answer (RFC 9112, section
 * 9.6), and @hono/node-server ends it half a second after the answer. No more of it than any body may have: to take in what
 * never ends would be work that others wait for.
 */
export const discardBody = (incoming: IncomingMessage): Promise<void> =>
  new Promise((resolve) => {
    if (incoming.complete || incoming.destroyed) return resolve();
    let length = 0;
    const done = () => {
      clearTimeout(timer);
      incoming.off('data', count).off('end', done).off('error', done).off('close', done);
      incoming.pause();
      resolve();
    };
    const count = (chunk: Buffer) => {
      length += chunk.length;
      if (length > limits.batchBodyBytes) done();
      // Where many are turned away, each takes its time to send what it had begun.
      else timer.refresh();
    };
    const timer = setTimeout(done, discardMilliseconds);
    incoming.on('data', count).on('end', done).on('error', done).on('close', done);
  });

const unpack = async (packed: Bytes, most: number): Promise<Bytes> => {
  try {
    return await unzip(packed, { maxOutputLength: most });
  } catch (cause) {
    if ((cause as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(most);
    const refusal = new Refusal('invalid_encoding', {
      message: 'the body is not the gzip that Content-Encoding says',
      cause,
    });
    throw toUnparsed(refusal, packed);
  }
};

/** Where a body comes from, and what bounds it while it does. */
export interface BodySource {
  readonly arrive: Arrive;
  /** To be called with the size of a body, or what it may become, before more is made of it. Throws when that is too much. */
  hold(bytes: number): void;
  /** So much of what was held is not there. */
  release(bytes: number): void;
  /** Node's request, when it came through a socket. */
  readonly incoming?: IncomingMessage | undefined;
}

const readBytes = (
  request: Request,
  length: number | undefined,
  most: number,
  { arrive, incoming }: BodySource,
): Promise<Bytes> => {
  // Node ends a body at its Content-Length.
  const isSmall = length !== undefined && length <= smallBytes;
  if (incoming instanceof IncomingMessage) return readIncoming(incoming, most, isSmall ? arriveUnbounded : arrive);
  return isSmall || !request.body ? readWhole(request, most) : readChunks(request.body, most);
};

/** Has room for all that it may become before it is unpacked. */
const unpackHeld = async (packed: Bytes, most: number, { hold, release }: BodySource): Promise<Bytes> => {
  hold(packed.length);
  return inTurn(async () => {
    hold(most - packed.length);
    const bytes = await unpack(packed, most);
    release(most - bytes.length);
    return bytes;
  });
};

const unbounded: BodySource = { arrive: arriveUnbounded, hold: () => {}, release: () => {} };

/**
 * Reads a body of at most `most` bytes, packed and unpacked; one that says it is larger isn't read at all. What is answered
 * is held: see BodySource.
 */
export const readBody = async (request: Request, most: number, source: BodySource = unbounded): Promise<Bytes> => {
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() || 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw new Refusal('unsupported_media_type', { message: 'Content-Encoding may be gzip, or absent' });
  }
  const announced = request.headers.get('content-length');
  const length = announced === null ? undefined : Number(announced);
  if (length !== undefined && length > most) throw tooLarge(most);
  const bytes = await readBytes(request, length, most, source);
  if (encoding !== 'identity' && bytes.length > 0) return unpackHeld(bytes, most, source);
  source.hold(bytes.length);
  return bytes;
};
