/** How much may be held at once of what clients send: what is over it is refused before it is parsed, or even read. */
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { Refusal } from '../refusal.ts';
import type { Exchange } from './answers.ts';
import { createArrivals } from './arriving.ts';
import { type BodySource, discardBody } from './body.ts';
import type { Route } from './routes.ts';

/** Of bodies, from when they have been read until their answer. Each becomes several times as much in memory. */
export const mostHeldBytes = 8 * 1024 * 1024;

const full = () => new Refusal('not_kept', { retryAfterSeconds: 1 });

/** What a request is read from, and the room that there is for it. */
export type Room = BodySource;

/** A route that reads what clients send. */
export interface ReadingRoute extends Omit<Route, 'answer'> {
  readonly answer: (c: Context, exchange: Exchange, room: Room) => Response | Promise<Response>;
}

/**
 * Bounds what all the routes together that it is asked to guard hold. A body counts when it has come in whole: what a
 * client only announces, or sends slowly, takes nobody else's place, and is bounded by itself: see arriving.ts.
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
        // One that is larger than all is for the route to refuse.
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
