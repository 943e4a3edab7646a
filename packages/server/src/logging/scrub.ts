/**
 * The patterns to replace. A match ends before a quote or a backslash, but not before `\\`, so that a JSON line stays
 * valid.
 */
const secrets = [
  // The user and password in a database URL, which can contain any characters, up to the last @ before the host.
  [/:\/\/[^\s"'`\\/?]*@/g, '://…@'],
  [/\b(browser|agent|viewer|editor|server|operator|invitation)_[\w-]+/g, '$1_…'],
  // A share link's secret. Shorter matches are ordinary words.
  [/\bshare_[\w-]{20,}/g, 'share_…'],
  // A console session. Shorter matches are ordinary words, such as PostgreSQL's session_replication_role.
  [/\bsession_[\w.~-]{32,}/g, 'session_…'],
  // An e-mail address. It contains no slash or colon, unlike a package path (node_modules/@hono/…). A match starts only
  // at the start of a word: trying every character of a long word would take quadratic time.
  [/(?<![^\s"'`\\<>(),;:=/])[^\s"'`\\<>(),;:=/]+@[^\s"'`\\<>(),;:/]+/g, '…@…'],
  [/\?(?:[^\s"'`\\]|\\\\)+/g, '?…'],
] as const;

/** Removes tokens, e-mail addresses, query strings and database URL passwords from a string or log line. */
export const scrub = (text: string): string =>
  secrets.reduce((scrubbed, [secret, replacement]) => scrubbed.replace(secret, replacement), text);
