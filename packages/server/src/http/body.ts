/** A request's body as bytes, never more of them than allowed. */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Refusal } from '../refusal.ts';
import { toUnparsed } from './unparsed.ts';

type Bytes = Uint8Array<ArrayBuffer>;

const unzip = promisify(gunzip);

const tooLarge = (most: number) =>
  new Refusal('body_too_large', { message: `the body, unpacked, is over ${most} bytes` });

/** A client that went away while it was sending: nobody reads the answer, and it is no fault of ours. */
const brokenOff = (cause: unknown) => new Refusal('invalid_encoding', { message: 'the body broke off', cause });

const readWhole = async (request: Request, most: number): Promise<Bytes> => {
  const bytes = await request.arrayBuffer().catch((error) => {
    throw brokenOff(error);
  });
  if (bytes.byteLength > most) throw tooLarge(most);
  return new Uint8Array(bytes);
};

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
export const readBody = async (request: Request, most: number): Promise<Bytes> => {
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() || 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw new Refusal('unsupported_media_type', { message: 'Content-Encoding may be gzip, or absent' });
  }
  const length = request.headers.get('content-length');
  if (length !== null && Number(length) > most) throw tooLarge(most);
  // Node ends a body at its Content-Length, so that one needs no counting.
  const bytes =
    length !== null
      ? await readWhole(request, most)
      : request.body
        ? await readChunks(request.body, most)
        : new Uint8Array();
  return encoding === 'identity' || bytes.length === 0 ? bytes : unpack(bytes, most);
};
