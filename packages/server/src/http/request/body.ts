/** Reads a request's body as bytes, up to a limit. */
import { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { promisify } from 'node:util';
import { createGunzip, gunzip } from 'node:zlib';
import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../../shared/refusal.ts';
import { toUnparsed } from './unparsed.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Smaller bodies are not bounded while they arrive: each connection may have one. */
const smallBytes = 16 * 1024;

const unzip = promisify(gunzip);

/** Bodies that are decompressed at once: the cores of a small machine. The others wait, compressed. */
const maxUnpacking = 2;
let unpacking = 0;
const waitingToUnpack: (() => void)[] = [];

/** Runs `work` once fewer than `maxUnpacking` others run. */
const inTurn = async <Value>(work: () => Promise<Value>): Promise<Value> => {
  if (unpacking >= maxUnpacking) await new Promise<void>((resolve) => waitingToUnpack.push(resolve));
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

/** The client disconnected while sending. Nobody reads the response, and this is no fault of the server. */
const brokenOff = (cause: unknown) => new Refusal('invalid_encoding', { message: 'the body broke off', cause });

/** Other bodies needed the memory, and this one began to arrive first. */
const tooSlow = () => new Refusal('unavailable', { message: 'the body came in too slowly', retryAfterSeconds: 1 });

const readStream = (body: Readable, most: number, arrive: Arrive | undefined): Promise<Bytes> =>
  new Promise((resolve, reject) => {
    /** The chunks so far; undefined once the body is complete or refused. */
    let chunks: Bytes[] | undefined = [];
    let length = 0;
    const arriving = arrive?.(() => refuse(tooSlow()));
    const refuse = (refusal: Refusal) => {
      chunks = undefined;
      arriving?.end();
      body.pause();
      reject(refusal);
    };
    const breakOff = (cause?: Error) => {
      if (chunks !== undefined) refuse(brokenOff(cause));
    };
    // Listeners are not removed: removing one costs more than calling it.
    body
      .on('data', (chunk: Bytes) => {
        if (chunks === undefined) return;
        length += chunk.length;
        if (length > most) return refuse(tooLarge(most));
        chunks.push(chunk);
        arriving?.add(chunk.length);
      })
      .on('end', () => {
        if (chunks === undefined) return;
        const [first] = chunks;
        resolve(first?.length === length ? first : Buffer.concat(chunks, length));
        chunks = undefined;
        arriving?.end();
      })
      .on('error', breakOff)
      .on('close', breakOff);
    // A destroyed request emits no more events.
    if (body.destroyed) breakOff();
  });

/** The longest pause in a body that is discarded. The time of the whole request is bounded by requestTimeout (application.ts). */
const discardMilliseconds = 5_000;

/**
 * Reads and drops the rest of a body. @hono/node-server closes the connection half a second after the response, and a client that
 * is still sending then may never see the response (RFC 9112 section 9.6). Stops after the size of the largest body allowed,
 * because a body may be endless.
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
      // Each chunk restarts the time: when many requests are refused, each client sends slowly.
      else timer.refresh();
    };
    const timer = setTimeout(done, discardMilliseconds);
    incoming.on('data', count).on('end', done).on('error', done).on('close', done);
  });

/** Counts a body that is arriving. */
export interface Arriving {
  /** Counts bytes that have arrived. */
  add(bytes: number): void;
  /** Stops counting the body: it has arrived whole, or was given up. */
  end(): void;
}

/** Starts counting a body. `giveUp` is called at most once, when the bytes that have arrived must be dropped. */
export type Arrive = (giveUp: () => void) => Arriving;

/** The source of a body, and the bounds on its memory. */
export interface BodySource {
  readonly arrive: Arrive;
  /** Reserves memory for a body, or for its greatest decompressed size, before processing. Throws Refusal('unavailable') if full. */
  hold(bytes: number): void;
  /** Returns memory that was reserved and not used. */
  release(bytes: number): void;
  /** Node's request, when it came through a socket. */
  readonly incoming?: IncomingMessage | undefined;
}

/**
 * Counts the largest result of a compressed body before it is decompressed. Resolves with a function that takes this back once it is, and
 * rejects if the body may not be decompressed.
 */
type MayUnpack = (packed: Uint8Array) => Promise<() => void>;

/** Decompresses a body, after reserving memory for the largest result. */
const unpack = async (
  packed: Bytes,
  most: number,
  { hold, release }: BodySource,
  mayUnpack: MayUnpack,
): Promise<Bytes> => {
  hold(packed.length);
  return inTurn(async () => {
    const giveBack = await mayUnpack(packed);
    hold(most - packed.length);
    const bytes = await unzip(packed, { maxOutputLength: most }).catch((cause) => {
      if (cause.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(most);
      const message = 'the body is not the gzip that Content-Encoding says';
      throw toUnparsed(new Refusal('invalid_encoding', { message, cause }), packed);
    });
    release(most - bytes.length);
    giveBack();
    return bytes;
  });
};

/** The beginning of what a body decompresses to, at most 16 KiB; undefined if it is no gzip. */
export const unpackBeginning = (packed: Uint8Array): Promise<Uint8Array | undefined> =>
  new Promise((resolve) => {
    const unpacking = createGunzip({ chunkSize: smallBytes });
    unpacking.once('data', (chunk) => {
      resolve(chunk);
      unpacking.destroy();
    });
    unpacking.once('error', () => resolve(undefined)).once('end', () => resolve(undefined));
    unpacking.end(packed);
  });

/**
 * The body as a stream of Node's. It is Node's request itself if there is one: a web stream made from that (Readable.toWeb, Node
 * 20) buffers without a bound, because it counts chunks instead of bytes.
 */
const streamOf = (request: Request, { incoming }: BodySource): Readable => {
  if (incoming instanceof IncomingMessage) return incoming;
  return request.body ? Readable.fromWeb(request.body as ReadableStream) : Readable.from([]);
};

/**
 * Reads a body of at most `most` bytes, both compressed and decompressed. A body whose Content-Length is larger is not read. The
 * memory of the result is reserved by `source.hold`.
 */
export const readBody = async (
  request: Request,
  most: number,
  source: BodySource,
  mayUnpack: MayUnpack = async () => () => {},
): Promise<Bytes> => {
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() || 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw new Refusal('unsupported_media_type', { message: 'Content-Encoding may be gzip, or absent' });
  }
  const announced = request.headers.get('content-length');
  const length = announced === null ? undefined : Number(announced);
  if (length !== undefined && length > most) throw tooLarge(most);
  // The header can be trusted: Node ends a body at its Content-Length.
  const isSmall = length !== undefined && length <= smallBytes;
  const bytes = await readStream(streamOf(request, source), most, isSmall ? undefined : source.arrive);
  if (encoding !== 'identity' && bytes.length > 0) return unpack(bytes, most, source, mayUnpack);
  source.hold(bytes.length);
  return bytes;
};
