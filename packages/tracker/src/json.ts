/**
 * JSON written by hand: pages override `JSON.stringify`, and old libraries give all arrays a `toJSON` (Prototype 1.6),
 * which would spoil what we send.
 */
import { note } from './note.ts';

/** Text as JSON. What the service refuses inside text, NUL and half a surrogate pair, becomes U+FFFD. */
export const toJSONText = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has to escape them (RFC 8259, 7)
  `"${text.replace(/["\\\0-\x1f\p{Cs}]/gu, (character) =>
    character > '\0' && character < '\ud800'
      ? `\\u${(character.charCodeAt(0) + 0x10000).toString(16).slice(1)}`
      : '\ufffd',
  )}"`;

/**
 * An object's property as JSON text of at most this length; undefined when it has no plain text (objects, functions,
 * symbols, elements) or its getter throws. Dates are known by `toISOString`: another frame's are no `instanceof Date`.
 */
export const readJSONText = (object: unknown, key: string, length?: number): string | undefined => {
  try {
    const value = (object as Record<string, unknown>)[key] as Date;
    const text = value.toISOString ? value.toISOString() : value;
    if (/^(str|num|bo|bi)/.test(typeof text)) return toJSONText(`${text}`.slice(0, length));
  } catch {}
  note('dropped, not text:', key, object);
};
