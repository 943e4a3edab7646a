/** Routes for monitoring: the liveness and the readiness of the server. */
import { Refusal } from '../shared/refusal.ts';
import { version } from '../shared/version.ts';
import type { Store } from '../store/store.ts';
import { jsonAnswer } from './answers/answers.ts';
import type { Route } from './routes.ts';

/** Liveness: returns the version, and checks nothing. */
export const healthRoute: Route = {
  name: 'healthz',
  methods: ['GET'],
  answer: (_, exchange) => jsonAnswer(exchange, { version, status: '200' }),
};

/** Readiness: the store passes its check, and the server is not stopping. Otherwise 503 `unavailable`. */
export const readinessRoute = (store: Store, isStopping: () => boolean): Route => ({
  name: 'readyz',
  methods: ['GET'],
  answer: async (_, exchange) => {
    if (isStopping()) throw new Refusal('unavailable', { message: 'the server is stopping' });
    await store.check().catch((cause) => {
      throw new Refusal('unavailable', { message: 'the store is not fit to serve', cause });
    });
    return jsonAnswer(exchange, { status: '200' });
  },
});
