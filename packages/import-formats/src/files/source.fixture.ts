/** For tests: creates a source that yields text or bytes in chunks of a given size. */
import type { Source } from './read-records.ts';

export const toSource = (content: string | Uint8Array, chunkSize = 64): Source => {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  let offset = 0;
  return new ReadableStream({
    pull(controller) {
      const chunk = bytes.slice(offset, offset + chunkSize);
      offset += chunkSize;
      if (chunk.length > 0) controller.enqueue(chunk);
      else controller.close();
    },
  });
};
