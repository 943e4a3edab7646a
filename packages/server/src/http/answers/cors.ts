/** CORS headers: pages of any origin may read the responses of the operations open to pages, without credentials. */
import { consoleHeader } from '../console/cookie.ts';

export const openHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Retry-After, X-Request-Id',
} as const;

/** A day. Chromium caches a preflight's response for two hours at most. */
const maxAgeSeconds = 86_400;

/** The request headers that the service reads itself. */
const ownHeaders = ['Authorization', 'Content-Encoding', 'Content-Type'];

const maxRequestedLength = 1_024;
const maxRequested = 32;
/** Whether a text is a header's name (RFC 9110, section 5.6.2). */
const isHeaderName = (name: string) => /^[\w!#$%&'*+.^`|~-]{1,64}$/.test(name);

/**
 * The headers that a page may send: ours, and those that the preflight names, because monitoring scripts wrap `fetch` and add
 * headers such as X-Requested-With, which are not read. Only ours are allowed if it names more than 32, or an invalid name. The header
 * of the console is never allowed: it lets a request use a session.
 */
const allowedHeaders = (asked: string): string => {
  if (asked === '' || asked.length > maxRequestedLength) return ownHeaders.join(', ');
  const known = new Set([...ownHeaders.map((name) => name.toLowerCase()), consoleHeader]);
  const names = asked.split(',').map((name) => name.trim());
  const isUsable = names.length <= maxRequested && names.every(isHeaderName);
  const others = isUsable ? names.filter((name) => !known.has(name.toLowerCase())) : [];
  return [...ownHeaders, ...new Set(others)].join(', ');
};

/**
 * The headers of a preflight's response besides `openHeaders` (Fetch Standard, section "HTTP responses"). `asked` is the
 * request's Access-Control-Request-Headers.
 */
export const preflightHeaders = (methods: readonly string[], asked: string) => ({
  'Access-Control-Allow-Methods': methods.join(', '),
  'Access-Control-Allow-Headers': allowedHeaders(asked),
  'Access-Control-Max-Age': String(maxAgeSeconds),
});
