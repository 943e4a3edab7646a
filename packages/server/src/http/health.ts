/** Routes for monitoring: liveness and readiness. */
import { Refusal } from '../shared/refusal.ts';
import { version } from '../shared/version.ts';
import type { Store } from '../store/store.ts';
import { jsonResponse } from './responses/responses.ts';
import type { Route } from './routes.ts';

/** Liveness: returns the version without checking anything. */
export const healthRoute: Route = {
  name: 'healthz',
  methods: ['GET'],
  handle: (_, exchange) => jsonResponse(exchange, { version, status: '200' }),
};

/** Readiness: 503 `unavailable` if the store fails its check or the server is stopping. */
export const readinessRoute = (store: Store, isStopping: () => boolean): Route => ({
  name: 'readyz',
  methods: ['GET'],
  handle: async (_, exchange) => {
    if (isStopping()) throw new Refusal('unavailable', { message: 'the server is stopping' });
    await store.check().catch((cause) => {
      throw new Refusal('unavailable', { message: 'the store failed its health check', cause });
    });
    return jsonResponse(exchange, { status: '200' });
  },
});
