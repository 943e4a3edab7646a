/** For whoever runs the service: is it up, and should it be sent requests? */
import { Refusal } from '../refusal.ts';
import type { Store } from '../store/store.ts';
import { version } from '../version.ts';
import { jsonAnswer } from './answers.ts';
import type { Route } from './routes.ts';

/** The process answers, and says its version; nothing more is asked. */
export const healthRoute: Route = {
  methods: ['GET'],
  answer: (_, exchange) => jsonAnswer(exchange, { version, status: '200' }),
};

/** The store answers, nothing that it was sent was refused for want of room, and the server isn't stopping. */
export const readinessRoute = (store: Store): Route => ({
  methods: ['GET'],
  answer: async (_, exchange) => {
    if (exchange.closing) throw new Refusal('not_kept', { message: 'the server is stopping' });
    await store.check().catch((cause) => {
      throw new Refusal('not_kept', { message: 'the store is not fit to serve', cause });
    });
    return jsonAnswer(exchange, { status: '200' });
  },
});
