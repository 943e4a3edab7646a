/** The texts to replace. A match ends before a quote or a backslash, so that a line of JSON stays valid; `\\` does not end it. */
const secrets = [
  // The user and password of a database URL, whatever characters they hold, up to the last @ before the host.
  [/:\/\/[^\s"'`\\/?]*@/g, '://…@'],
  [/\b(browser|viewer|editor|server|operator|invitation)_[\w-]+/g, '$1_…'],
  // The secret of a share link. Shorter words are others.
  [/\bshare_[\w-]{20,}/g, 'share_…'],
  // A session of the console. Shorter words are others, such as PostgreSQL's session_replication_role.
  [/\bsession_[\w.~-]{32,}/g, 'session_…'],
  // An e-mail address. It has neither slash nor colon, unlike the path of a package (node_modules/@hono/…). A match begins only at
  // the beginning of a word: from every character, a long word would take quadratic time.
  [/(?<![^\s"'`\\<>(),;:=/])[^\s"'`\\<>(),;:=/]+@[^\s"'`\\<>(),;:/]+/g, '…@…'],
  [/\?(?:[^\s"'`\\]|\\\\)+/g, '?…'],
] as const;

/** A text or log line without tokens, e-mail addresses, query strings and the passwords of database URLs. */
export const scrub = (text: string): string =>
  secrets.reduce((kept, [secret, trace]) => kept.replace(secret, trace), text);
