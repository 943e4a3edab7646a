/** Who outside the page's own origin may read answers: anybody, without credentials, for the operations open to pages. */

export const openHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Retry-After, X-Request-Id',
} as const;

/** A day; Chromium keeps a preflight's answer for two hours at most. */
const maxAgeSeconds = 86_400;

/** The request headers that the service reads itself. */
const ownHeaders = ['Authorization', 'Content-Encoding', 'Content-Type'];

const mostAskedLength = 1_024;
const mostAsked = 32;
/** A header's name (RFC 9110, section 5.6.2). */
const isHeaderName = (name: string) => /^[\w!#$%&'*+.^`|~-]{1,64}$/.test(name);

/**
 * The headers that a page may send: ours, and those that a preflight asks for, because monitoring scripts wrap `fetch` and add
 * headers of their own, such as X-Requested-With. They are not read. More than 32, or a name that is none, and only ours remain.
 */
const allowedHeaders = (asked: string): string => {
  if (asked === '' || asked.length > mostAskedLength) return ownHeaders.join(', ');
  const known = new Set(ownHeaders.map((name) => name.toLowerCase()));
  const names = asked.split(',').map((name) => name.trim());
  const isUsable = names.length <= mostAsked && names.every(isHeaderName);
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
