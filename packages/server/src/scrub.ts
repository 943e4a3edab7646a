/** Quotes and backslashes end a match, so that a line of JSON stays one; only an escaped backslash does not. */
const secrets = [
  // Who asks a database, and by which password: whatever characters that has, up to the last @ before the host.
  [/:\/\/[^\s"'`\\/?]*@/g, '://…@'],
  [/\b(browser|viewer|server|operator)_[\w-]+/g, '$1_…'],
  // Neither slash nor colon: the path of a package (node_modules/@hono/…) is no e-mail address. It is looked for from the
  // beginning of a word only: from each character on, a long word would take time that grows with its square.
  [/(?<![^\s"'`\\<>(),;:=/])[^\s"'`\\<>(),;:=/]+@[^\s"'`\\<>(),;:/]+/g, '…@…'],
  [/\?(?:[^\s"'`\\]|\\\\)+/g, '?…'],
] as const;

/** A text or line of a log without what must never stand in one: tokens, e-mail addresses, query strings. */
export const scrub = (text: string): string =>
  secrets.reduce((kept, [secret, trace]) => kept.replace(secret, trace), text);
