/** Serves /.well-known/security.txt (RFC 9116): to whom somebody who finds a vulnerability of this site can write. */

import { dayMilliseconds } from '../shared/time.ts';
import { headersOf } from './answers/answers.ts';
import type { Route } from './routes.ts';

/** RFC 9116 wants it below /.well-known/ of the host, whatever BASE_PATH is. */
export const securityTextPath = '/.well-known/security.txt';

/**
 * How long a copy counts, from the beginning of the present day. The RFC recommends less than a year; a site whose server is gone is
 * believed for no longer than this.
 */
const validDays = 90;

const expires = (now: number): string => {
  const time = (Math.floor(now / dayMilliseconds) + validDays) * dayMilliseconds;
  return new Date(time).toISOString().replace('.000Z', 'Z');
};

/**
 * `contact` is a URI. There is no field Canonical, because the server doesn't know under which address others reach it, and a request
 * may name any.
 */
export const securityTextRoute = (contact: string, now: () => number): Route => ({
  methods: ['GET'],
  answer: (_, exchange) =>
    new Response(`Contact: ${contact}\nExpires: ${expires(now())}\n`, {
      headers: { ...headersOf(exchange), 'Content-Type': 'text/plain; charset=utf-8' },
    }),
});
