import { openAPI } from '@firsthand/contract/openapi';
import { headersOf } from './responses/responses.ts';
import type { Route } from './routes.ts';

/**
 * Returns the route of `/openapi.json`, which is generated on the first request. `base` is the path prefix of all
 * operations.
 */
export const documentRoute = (base: string): Route => {
  let text: string | undefined;
  return {
    name: 'openapi',
    methods: ['GET'],
    handle: (_, exchange) => {
      text ??= JSON.stringify(openAPI({ server: base || '/' }));
      return new Response(text, { headers: { ...headersOf(exchange), 'Content-Type': 'application/json' } });
    },
  };
};
