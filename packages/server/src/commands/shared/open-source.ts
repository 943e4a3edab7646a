/** Opens files for `@firsthand/import-formats`. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Source } from '@firsthand/import-formats';

const gzip = '1f8b';

/** Returns a file's first four bytes, in hex. */
export const readStart = async (path: string): Promise<string> => {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.toString('hex', 0, bytesRead);
  } finally {
    await file.close();
  }
};

/**
 * Opens a file that begins with the bytes `start`, and decompresses it. Doesn't use DecompressionStream, which has no
 * backpressure on Node 20.
 */
export const openSource = (path: string, start: string): Source => {
  const content = createReadStream(path);
  const stream = start.startsWith(gzip) ? content.pipe(createGunzip()).once('close', () => content.destroy()) : content;
  content.once('error', (error) => stream.destroy(error));
  return Readable.toWeb(stream) as unknown as Source;
};
