/** Bounds the request bodies in memory: beyond the bound a request is refused before it is parsed or even read. */
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { Refusal } from '../../refusal.ts';
import type { Exchange } from '../answers/answers.ts';
import type { Route } from '../routes.ts';
import { createArrivals } from './arriving.ts';
import { type BodySource, discardBody } from './body.ts';

/** The total size of the bodies between their arrival and their response. Each takes several times its size once parsed. */
const mostHeldBytes = 8 * 1024 * 1024;

const full = () => new Refusal('not_kept', { retryAfterSeconds: 1 });

/** The source of a request's body, and the memory that it may take. */
export type Room = BodySource;

/** A route that reads request bodies. */
export interface ReadingRoute extends Omit<Route, 'answer'> {
  readonly answer: (c: Context, exchange: Exchange, room: Room) => Response | Promise<Response>;
}

/**
 * Returns a function that guards a route; all guarded routes share one bound. A body counts once it has arrived whole, so that one
 * that is only announced, or is sent slowly, takes no room from others. Arriving bodies have their own bound (arriving.ts).
 */
export const createAdmission = (mostBytes = mostHeldBytes): ((route: ReadingRoute) => Route) => {
  let heldBytes = 0;
  const arrive = createArrivals(mostBytes);
  return (route) => ({
    ...route,
    answer: async (c, exchange) => {
      const announced = Number(c.req.raw.headers.get('content-length') ?? 0);
      const { incoming } = (c.env ?? {}) as Partial<HttpBindings>;
      let mine = 0;
      const room: Room = {
        incoming,
        arrive,
        hold(bytes) {
          if (heldBytes + bytes > mostBytes) throw full();
          heldBytes += bytes;
          mine += bytes;
        },
        release(bytes) {
          heldBytes -= bytes;
          mine -= bytes;
        },
      };
      try {
        // A body larger than the whole bound is refused by the route.
        if (announced <= mostBytes && heldBytes + announced > mostBytes) throw full();
        return await route.answer(c, exchange, room);
      } catch (error) {
        if (error instanceof Refusal && error.code === 'not_kept' && incoming) await discardBody(incoming);
        throw error;
      } finally {
        heldBytes -= mine;
      }
    },
  });
};
