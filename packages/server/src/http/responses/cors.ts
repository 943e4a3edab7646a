/**
 * CORS headers: pages on any origin may read responses from operations that are open to pages, without credentials.
 */
import { consoleHeader } from '../console/cookie.ts';

export const openHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Retry-After, X-Request-Id',
} as const;

/** One day. Chromium caches preflight responses for at most two hours. */
const maxAgeSeconds = 86_400;

/** The request headers that the service reads itself. */
const ownHeaders = ['Authorization', 'Content-Encoding', 'Content-Type'];

const maxRequestedLength = 1_024;
const maxRequested = 32;
/** Whether a string is a valid header name (RFC 9110, section 5.6.2). */
const isHeaderName = (name: string) => /^[\w!#$%&'*+.^`|~-]{1,64}$/.test(name);

/**
 * Returns the headers that a page may send: ours, and up to 32 that the preflight requests, because monitoring scripts
 * wrap `fetch` and add headers such as X-Requested-With. The console's header is never allowed, because it lets a
 * request use a session.
 */
const allowedHeaders = (requested: string): string => {
  if (requested === '' || requested.length > maxRequestedLength) return ownHeaders.join(', ');
  const excluded = new Set([...ownHeaders.map((name) => name.toLowerCase()), consoleHeader]);
  const names = requested.split(',').map((name) => name.trim());
  const isUsable = names.length <= maxRequested && names.every(isHeaderName);
  const others = isUsable ? names.filter((name) => !excluded.has(name.toLowerCase())) : [];
  return [...ownHeaders, ...new Set(others)].join(', ');
};

/**
 * Returns the headers of a preflight response in addition to `openHeaders` (Fetch Standard, section "HTTP responses").
 * `requested` is the request's Access-Control-Request-Headers.
 */
export const preflightHeaders = (methods: readonly string[], requested: string) => ({
  'Access-Control-Allow-Methods': methods.join(', '),
  'Access-Control-Allow-Headers': allowedHeaders(requested),
  'Access-Control-Max-Age': String(maxAgeSeconds),
});
