/** Cleans text from visitors and other systems before an agent reads it. */

/** The maximum length of a string that an agent reads. */
export const maxTextLength = 300;

/**
 * Matches what can hide text or change how it is displayed: bidi controls, fillers, zero-width and tag characters, and
 * variation selectors. Also matches half of a surrogate pair, which truncation can leave.
 */
const invisible = /[\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;
const breaks = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** Returns at most 301 characters of the text, on one line and without invisible characters. */
export const cleanText = (text: string): string => {
  // Truncates first, because the text can be very long, but to twice the maximum, because characters are removed next.
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
