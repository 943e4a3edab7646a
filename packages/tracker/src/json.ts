/**
 * JSON written by hand: pages override `JSON.stringify`, and old libraries give all arrays a `toJSON` (Prototype 1.6),
 * which would spoil what we send.
 */
import { demand } from './guard.ts';

/**
 * What is plain text, as JSON text of at most this length; throws for all that has none (null, objects, functions, symbols,
 * elements). Dates are known by `toISOString`: another frame's are no `instanceof Date`. NUL, which the service
 * refuses, is left out; half a surrogate pair becomes U+FFFD when `fetch` writes UTF-8.
 */
export const toJSONText = (value: unknown, length?: number): string => {
  const text = (value as Date).toISOString ? (value as Date).toISOString() : value;
  // Neither an object nor a function; a symbol throws below.
  demand(Object(text) !== text, 'no text');
  return `"${`${text}`
    .slice(0, length)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has to escape them (RFC 8259, 7)
    .replace(/["\\\0-\x1f]/g, (character) => (character > '\0' ? `\\u00${escape(character).slice(1)}` : ''))}"`;
};
