/** Cleans the text that visitors and other systems sent, before an agent reads it. */

/** The maximum number of characters of a text that an agent reads. */
export const maxTextLength = 300;

/**
 * Matches what can hide text or change how it is displayed: bidi controls, fillers, zero-width and tag characters, and
 * variation selectors. Also matches half of a character, which a cut can leave.
 */
const invisible = /[\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;
const breaks = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** Returns a text of at most 301 characters on one line, without invisible characters. */
export const cleanText = (text: string): string => {
  // Cuts first, because a text can be very long, but to twice the maximum, because characters are removed next.
  const clean = text
    .slice(0, maxTextLength * 2)
    .replace(invisible, '')
    .replace(breaks, ' ');
  const isCut = clean.length > maxTextLength || text.length > maxTextLength * 2;
  return isCut ? `${clean.slice(0, maxTextLength).replace(invisible, '')}…` : clean;
};

/** Returns a copy of a JSON value in which all strings and member names are clean. */
export const cleanValue = (value: unknown): unknown => {
  if (typeof value === 'string') return cleanText(value);
  if (Array.isArray(value)) return value.map(cleanValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [cleanText(name), cleanValue(member)]));
};
