import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** Returns the SHA-256 of a prefix and a file's content, in hex. */
export const hashFile = async (path: string, prefix = ''): Promise<string> => {
  const hash = createHash('sha256').update(prefix);
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
};
