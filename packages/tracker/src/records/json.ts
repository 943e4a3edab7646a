/**
 * Writes JSON without JSON.stringify, which some pages override. Old libraries also give arrays a `toJSON` (Prototype
 * 1.6), which would corrupt the requests.
 */
import { countDropped } from '../delivery/queue.ts';
import { demand } from '../guard.ts';
import { warn } from '../warn.ts';

/**
 * Returns a value's text as a JSON string, cut to this length. Throws for values without text (null, objects,
 * functions, symbols, elements).
 */
export const toJSONText = (value: unknown, length?: number): string => {
  // A date from another frame is not an `instanceof Date`.
  const text = (value as Date).toISOString ? (value as Date).toISOString() : value;
  // Rejects objects and functions; a symbol throws below.
  demand(Object(text) !== text, 'no text');
  const full = `${text}`;
  if (full.length > (length as number)) {
    countDropped();
    warn('cut', full.length);
  }
  // The service refuses NUL. A lone surrogate becomes U+FFFD when `fetch` writes UTF-8.
  return `"${full
    .slice(0, length)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON must escape them (RFC 8259, 7)
    .replace(/["\\\0-\x1f]/g, (character) => (character > '\0' ? `\\u00${escape(character).slice(1)}` : ''))}"`;
};
