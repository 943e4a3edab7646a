/**
 * JSON written by hand: pages override `JSON.stringify`, and old libraries give all arrays a `toJSON` (Prototype 1.6),
 * which would spoil what we send.
 */
import { note } from './note.ts';

/** Text as JSON. What the service refuses inside text, NUL and half a surrogate pair, becomes U+FFFD. */
export const toJSONText = (text: string): string =>
  `"${text
    .replace(/[\0\p{Cs}]/gu, '\ufffd')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has to escape them (RFC 8259, 7)
    .replace(/["\\\x01-\x1f]/g, (character) => `\\u00${escape(character).slice(1)}`)}"`;

/**
 * An object's property as JSON text of at most this length; undefined when it has no plain text (objects, functions,
 * symbols, elements) or its getter throws. Dates are known by `toISOString`: another frame's are no `instanceof Date`.
 */
export const readJSONText = (object: unknown, key: string, length?: number): string | undefined => {
  try {
    const value = (object as Record<string, unknown>)[key] as Date;
    if (value == null) return;
    const text = value.toISOString ? value.toISOString() : value;
    // string, number, boolean, bigint; not symbol.
    if (/^[snb][^y]/.test(typeof text)) return toJSONText(`${text}`.slice(0, length));
  } catch {}
  note('dropped, not text:', key, object);
};
