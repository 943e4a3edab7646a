/** A request's body as bytes, never more of them than allowed. */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Refusal } from '../refusal.ts';
import { type Arrive, arriveUnbounded } from './arriving.ts';
import { toUnparsed } from './unparsed.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Of these, so many as there are connections may stay unfinished. */
const smallBytes = 16 * 1024;

const unzip = promisify(gunzip);

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

const readChunks = async (body: ReadableStream<Uint8Array>, most: number, arrive: Arrive): Promise<Bytes> => {
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  let isGivenUp = false;
  const arriving = arrive(() => {
    isGivenUp = true;
    chunks = [];
    cancel();
  });
  let chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error) => {
        throw isGivenUp ? tooSlow() : brokenOff(error);
      });
      if (isGivenUp) throw tooSlow();
      if (done) return Buffer.concat(chunks, length);
      length += value.length;
      if (length > most) {
        cancel();
        throw tooLarge(most);
      }
      chunks.push(value);
      arriving.add(value.length);
    }
  } finally {
    arriving.end();
  }
};

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

/** Reads a body of at most `most` bytes, packed and unpacked; one that says it is larger isn't read at all. */
export const readBody = async (request: Request, most: number, arrive: Arrive = arriveUnbounded): Promise<Bytes> => {
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() || 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw new Refusal('unsupported_media_type', { message: 'Content-Encoding may be gzip, or absent' });
  }
  const length = request.headers.get('content-length');
  if (length !== null && Number(length) > most) throw tooLarge(most);
  // Node ends a body at its Content-Length: a small one needs no counting, which takes longer.
  const isSmall = length !== null && Number(length) <= smallBytes;
  const bytes =
    isSmall || !request.body ? await readWhole(request, most) : await readChunks(request.body, most, arrive);
  return encoding === 'identity' || bytes.length === 0 ? bytes : unpack(bytes, most);
};
