/**
 * Limits the memory for request bodies, both complete and still arriving, because a client can send part of a body and
 * then wait. Beyond the limit, requests are refused before they are parsed or even read.
 */
import type { Context } from 'hono';
import { Refusal } from '../../shared/refusal.ts';
import { bindingsOf } from '../access/client-address.ts';
import { type BodySource, discardBody, type TrackBody } from './body.ts';

/**
 * The maximum total size of the bodies that are between arrival and response. Once parsed, a body takes several times
 * its size.
 */
const maxHeldBytes = 8 * 1024 * 1024;

/** The memory overhead of each arriving chunk. */
const chunkOverheadBytes = 1_024;

/**
 * Limits the memory for all arriving bodies to `maxBytes`. Beyond it, the oldest bodies are aborted, so that slow
 * clients don't block fast clients.
 */
export const createBodyMemoryLimit = (maxBytes: number): TrackBody => {
  const arriving = new Set<{ bytes: number; readonly abort: () => void }>();
  let total = 0;
  return (abort) => {
    const body = { bytes: 0, abort };
    const remove = (one: typeof body) => {
      if (arriving.delete(one)) total -= one.bytes;
    };
    arriving.add(body);
    return {
      add(bytes) {
        if (!arriving.has(body)) return;
        body.bytes += bytes + chunkOverheadBytes;
        total += bytes + chunkOverheadBytes;
        for (const oldest of arriving) {
          if (total <= maxBytes) return;
          remove(oldest);
          oldest.abort();
        }
      },
      end: () => remove(body),
    };
  };
};

const outOfMemory = () => new Refusal('unavailable', { retryAfterSeconds: 1 });

/** Runs `respond` with the source of a request's body, then releases the memory that was reserved. */
export type Admit = (c: Context, respond: (source: BodySource) => Promise<Response>) => Promise<Response>;

/**
 * A body counts only once it is complete, so that announced or slowly sent bodies don't use up the limit. Arriving
 * bodies have a separate limit.
 */
export const createAdmission = (maxBytes = maxHeldBytes): Admit => {
  let heldBytes = 0;
  const arrive = createBodyMemoryLimit(maxBytes);
  return async (c, respond) => {
    const announced = Number(c.req.raw.headers.get('content-length') ?? 0);
    const { incoming } = bindingsOf(c);
    let ownBytes = 0;
    const hold = (bytes: number) => {
      if (heldBytes + bytes > maxBytes) throw outOfMemory();
      heldBytes += bytes;
      ownBytes += bytes;
    };
    const release = (bytes: number) => {
      heldBytes -= bytes;
      ownBytes -= bytes;
    };
    try {
      // The route refuses a body that is larger than the whole limit.
      if (announced <= maxBytes && heldBytes + announced > maxBytes) throw outOfMemory();
      return await respond({ incoming, arrive, hold, release });
    } catch (error) {
      if (error instanceof Refusal && error.code === 'unavailable' && incoming) await discardBody(incoming);
      throw error;
    } finally {
      release(ownBytes);
    }
  };
};
