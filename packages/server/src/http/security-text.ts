/** Serves /.well-known/security.txt (RFC 9116): the contact for vulnerability reports. */

import { dayMilliseconds } from '../shared/time.ts';
import { headersOf } from './responses/responses.ts';
import type { Route } from './routes.ts';

/** RFC 9116 requires the file in the host's /.well-known/, regardless of BASE_PATH. */
export const securityTextPath = '/.well-known/security.txt';

/**
 * How long a copy is valid, from the start of today. The RFC recommends less than a year; this is shorter, so that a
 * defunct site's copies expire sooner.
 */
const validDays = 90;

const expires = (now: number): string => {
  const time = (Math.floor(now / dayMilliseconds) + validDays) * dayMilliseconds;
  return new Date(time).toISOString().replace('.000Z', 'Z');
};

/**
 * `contact` is a URI. There is no Canonical field, because the server doesn't know its public address, and a request
 * can name any host.
 */
export const securityTextRoute = (contact: string, now: () => number): Route => ({
  methods: ['GET'],
  handle: (_, exchange) =>
    new Response(`Contact: ${contact}\nExpires: ${expires(now())}\n`, {
      headers: { ...headersOf(exchange), 'Content-Type': 'text/plain; charset=utf-8' },
    }),
});
