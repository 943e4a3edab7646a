import { openAPI } from '@firsthand/contract/openapi';
import { headersOf } from './answers.ts';
import type { Route } from './routes.ts';

/** `/openapi.json`. `base` is the path below which the operations lie. Written out when somebody first asks for it. */
export const documentRoute = (base: string): Route => {
  let text: string | undefined;
  return {
    methods: ['GET'],
    answer: (_, exchange) => {
      text ??= JSON.stringify(openAPI({ server: base || '/' }));
      return new Response(text, { headers: { ...headersOf(exchange), 'Content-Type': 'application/json' } });
    },
  };
};
