/**
 * Bounds the request bodies in memory: those that are arriving, because a client may send part of one and then wait, and those that
 * have arrived whole. Beyond the bound a request is refused before it is parsed or even read.
 */
import type { Context } from 'hono';
import { Refusal } from '../../shared/refusal.ts';
import { bindingsOf } from '../access/client-address.ts';
import { type Arrive, type BodySource, discardBody } from './body.ts';

/** The total size of the bodies between their arrival and their response. Each takes several times its size once parsed. */
const maxHeldBytes = 8 * 1024 * 1024;

/** The memory that each arriving chunk takes besides its bytes. */
const bytesPerPiece = 1_024;

/**
 * Bounds the memory of all arriving bodies to `most` bytes. Beyond it the bodies that began first are given up, so that slow
 * clients make room for fast ones.
 */
export const createArrivals = (most: number): Arrive => {
  const underWay = new Set<{ bytes: number; readonly giveUp: () => void }>();
  let total = 0;
  return (giveUp) => {
    const body = { bytes: 0, giveUp };
    const leave = (one: typeof body) => {
      if (underWay.delete(one)) total -= one.bytes;
    };
    underWay.add(body);
    return {
      add(bytes) {
        if (!underWay.has(body)) return;
        body.bytes += bytes + bytesPerPiece;
        total += bytes + bytesPerPiece;
        for (const oldest of underWay) {
          if (total <= most) return;
          leave(oldest);
          oldest.giveUp();
        }
      },
      end: () => leave(body),
    };
  };
};

const full = () => new Refusal('unavailable', { retryAfterSeconds: 1 });

/** Runs `answer` with the source of a request's body, and releases the memory that it has reserved. */
export type Admit = (c: Context, answer: (source: BodySource) => Promise<Response>) => Promise<Response>;

/**
 * A body counts once it has arrived whole, so that one that is only announced, or is sent slowly, takes no room from others.
 * Arriving bodies have their own bound.
 */
export const createAdmission = (maxBytes = maxHeldBytes): Admit => {
  let heldBytes = 0;
  const arrive = createArrivals(maxBytes);
  return async (c, answer) => {
    const announced = Number(c.req.raw.headers.get('content-length') ?? 0);
    const { incoming } = bindingsOf(c);
    let mine = 0;
    const hold = (bytes: number) => {
      if (heldBytes + bytes > maxBytes) throw full();
      heldBytes += bytes;
      mine += bytes;
    };
    const release = (bytes: number) => {
      heldBytes -= bytes;
      mine -= bytes;
    };
    try {
      // A body larger than the whole bound is refused by the route.
      if (announced <= maxBytes && heldBytes + announced > maxBytes) throw full();
      return await answer({ incoming, arrive, hold, release });
    } catch (error) {
      if (error instanceof Refusal && error.code === 'unavailable' && incoming) await discardBody(incoming);
      throw error;
    } finally {
      release(mine);
    }
  };
};
