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

/** Bodies of up to this size aren't counted while they arrive: each connection can have only one. */
const smallBytes = 16 * 1024;

const unzip = promisify(gunzip);

/**
 * How many bodies are decompressed concurrently: as many as a small machine has cores. Other bodies wait, still
 * compressed.
 */
const maxUnpacking = 2;
let unpacking = 0;
const waitingToUnpack: (() => void)[] = [];

/** Runs `work` once fewer than `maxUnpacking` other calls are running. */
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

const tooLarge = (maxBytes: number) =>
  new Refusal('body_too_large', { message: `the uncompressed body is larger than ${maxBytes} bytes` });

/** The client disconnected while sending. It never receives the response, and this is not a server fault. */
const incomplete = (cause: unknown) => new Refusal('invalid_encoding', { message: 'the body is incomplete', cause });

/** Other bodies needed the memory, and this body was the oldest. */
const tooSlow = () => new Refusal('unavailable', { message: 'the body arrived too slowly', retryAfterSeconds: 1 });

const readStream = (body: Readable, maxBytes: number, arrive: TrackBody | undefined): Promise<Bytes> =>
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
    const onAbort = (cause?: Error) => {
      if (chunks !== undefined) refuse(incomplete(cause));
    };
    // Leaves its listeners attached, because removing a listener costs more than calling it.
    body
      .on('data', (chunk: Bytes) => {
        if (chunks === undefined) return;
        length += chunk.length;
        if (length > maxBytes) return refuse(tooLarge(maxBytes));
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
      .on('error', onAbort)
      .on('close', onAbort);
    // A destroyed request emits no more events.
    if (body.destroyed) onAbort();
  });

/** The longest pause in a discarded body. requestTimeout (application.ts) limits the whole request. */
const discardMilliseconds = 5_000;

/**
 * Reads and discards the rest of a body, up to the size of the largest allowed body. @hono/node-server closes the
 * connection 0.5 s after the response, and a client that is still sending might then never receive the response (RFC
 * 9112 section 9.6).
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
      // Restarts the timer at each chunk: when many requests are refused, every client sends slowly.
      else timer.refresh();
    };
    const timer = setTimeout(done, discardMilliseconds);
    incoming.on('data', count).on('end', done).on('error', done).on('close', done);
  });

/** Counts a body that is arriving. */
export interface BodyCounter {
  /** Counts bytes that have arrived. */
  add(bytes: number): void;
  /** Stops counting the body, once it is complete or aborted. */
  end(): void;
}

/** Starts counting a body. Calls `abort` at most once, when the bytes received so far must be dropped. */
export type TrackBody = (abort: () => void) => BodyCounter;

/** The source of a body, and the limits on its memory. */
export interface BodySource {
  readonly arrive: TrackBody;
  /**
   * Reserves memory for a body, or for its maximum decompressed size, before it is processed. Throws
   * Refusal('unavailable') if the memory is used up.
   */
  hold(bytes: number): void;
  /** Releases reserved memory that wasn't used. */
  release(bytes: number): void;
  /** Node's request, if it came over a socket. */
  readonly incoming?: IncomingMessage | undefined;
}

/**
 * Charges a compressed body's maximum size to the sender's budget before it is decompressed. Resolves with a function
 * that refunds the charge; rejects if the body must not be decompressed.
 */
type MayUnpack = (packed: Uint8Array) => Promise<() => void>;

/** Decompresses a body, after reserving memory for its maximum size. */
const unpack = async (
  packed: Bytes,
  most: number,
  { hold, release }: BodySource,
  mayUnpack: MayUnpack,
): Promise<Bytes> => {
  hold(packed.length);
  return inTurn(async () => {
    const refund = await mayUnpack(packed);
    hold(most - packed.length);
    const bytes = await unzip(packed, { maxOutputLength: most }).catch((cause) => {
      if (cause.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(most);
      const message = 'the body is not valid gzip, although Content-Encoding is gzip';
      throw toUnparsed(new Refusal('invalid_encoding', { message, cause }), packed);
    });
    release(most - bytes.length);
    refund();
    return bytes;
  });
};

/** Decompresses the start of a body, up to 16 KiB; undefined if it is not gzip. */
export const unpackStart = (packed: Uint8Array): Promise<Uint8Array | undefined> =>
  new Promise((resolve) => {
    const stream = createGunzip({ chunkSize: smallBytes });
    stream.once('data', (chunk) => {
      resolve(chunk);
      stream.destroy();
    });
    stream.once('error', () => resolve(undefined)).once('end', () => resolve(undefined));
    stream.end(packed);
  });

/**
 * Returns the body as a Node stream, which is Node's own request if there is one. A web stream created from it
 * (Readable.toWeb, Node 20) buffers without limit, because it counts chunks instead of bytes.
 */
const streamOf = (request: Request, { incoming }: BodySource): Readable => {
  if (incoming instanceof IncomingMessage) return incoming;
  return request.body ? Readable.fromWeb(request.body as ReadableStream) : Readable.from([]);
};

/**
 * Reads a body of at most `maxBytes`, both compressed and decompressed. A body with a larger Content-Length is not
 * read. Reserves memory for the result with `source.hold`.
 */
export const readBody = async (
  request: Request,
  maxBytes: number,
  source: BodySource,
  mayUnpack: MayUnpack = async () => () => {},
): Promise<Bytes> => {
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() || 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw new Refusal('unsupported_media_type', { message: 'Content-Encoding must be gzip or absent' });
  }
  const announced = request.headers.get('content-length');
  const length = announced === null ? undefined : Number(announced);
  if (length !== undefined && length > maxBytes) throw tooLarge(maxBytes);
  // The header can be trusted: Node ends a body at its Content-Length.
  const isSmall = length !== undefined && length <= smallBytes;
  const bytes = await readStream(streamOf(request, source), maxBytes, isSmall ? undefined : source.arrive);
  if (encoding !== 'identity' && bytes.length > 0) return unpack(bytes, maxBytes, source, mayUnpack);
  source.hold(bytes.length);
  return bytes;
};
