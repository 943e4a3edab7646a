/**
 * Writes JSON without JSON.stringify: some pages override it, and old libraries give all arrays a `toJSON` (Prototype 1.6), which
 * would corrupt the requests.
 */
import { countDropped } from '../delivery/queue.ts';
import { demand } from '../guard.ts';
import { warn } from '../warn.ts';

/**
 * A value's text as a JSON string, cut to this length. Throws for values that have no text (null, objects, functions, symbols,
 * elements). Dates are recognized by `toISOString`, because a date of another frame is no `instanceof Date`. NUL is left out,
 * because the service refuses it. A lone surrogate becomes U+FFFD when `fetch` writes UTF-8.
 */
export const toJSONText = (value: unknown, length?: number): string => {
  const text = (value as Date).toISOString ? (value as Date).toISOString() : value;
  // Rejects objects and functions; a symbol throws below.
  demand(Object(text) !== text, 'no text');
  const full = `${text}`;
  if (full.length > (length as number)) {
    countDropped();
    warn('cut', full.length);
  }
  return `"${full
    .slice(0, length)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has to escape them (RFC 8259, 7)
    .replace(/["\\\0-\x1f]/g, (character) => (character > '\0' ? `\\u00${escape(character).slice(1)}` : ''))}"`;
};
