/** Who outside the page's own origin may read answers: anybody, without credentials, for the operations open to pages. */

export const openHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Retry-After, X-Request-Id',
} as const;

/** A day; Chromium keeps a preflight's answer for two hours at most. */
const maxAgeSeconds = 86_400;

/** What a preflight is told besides `openHeaders` (Fetch Standard, section "HTTP responses"). */
export const preflightHeaders = (methods: readonly string[]) => ({
  'Access-Control-Allow-Methods': methods.join(', '),
  'Access-Control-Allow-Headers': 'Authorization, Content-Encoding, Content-Type',
  'Access-Control-Max-Age': String(maxAgeSeconds),
});
