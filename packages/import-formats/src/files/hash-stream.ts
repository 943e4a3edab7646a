import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Source } from './read-records.ts';

/**
 * Returns the SHA-256 of a prefix and the rest of a stream, as hexadecimal digits. Web Crypto needs the whole content
 * in memory, and is unavailable on pages without HTTPS.
 */
export const hashStream = async (source: Source, prefix = ''): Promise<string> => {
  const hash = sha256.create().update(utf8ToBytes(prefix));
  const reader = source.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return bytesToHex(hash.digest());
    hash.update(value);
  }
};
