/** A parser for JSON from untrusted clients. */

/** The maximum depth: more than any operation's input has, and little enough for recursive functions to walk through. */
export const maxDepth = 32;

/** The text nests arrays and objects more than 32 levels deep. */
export class TooDeep extends Error {
  override readonly name = 'TooDeep';
}

const quote = 0x22;
const plus = 0x2b;
const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;
const nine = 0x39;
const backslash = 0x5c;
const isDigit = (unit: number) => unit >= zero && unit <= nine;

const numberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** A double carries this many digits of any number (IEEE 754, DBL_DIG), except of numbers near zero. */
const safeDigits = 15;
/** The greatest double has 309 digits in full. Longer literals count as not carried: checking one takes time for each digit. */
const maxLength = 400;

/** The digits of a number without sign, point, exponent, leading and trailing zeros. `/0+$/` would take quadratic time. */
const significant = (literal: string): string => {
  const digits = literal.replace(/[eE].*$/, '').replace(/[-.]/g, '');
  let from = 0;
  let to = digits.length;
  while (from < to && digits.charCodeAt(from) === zero) from++;
  while (to > from && digits.charCodeAt(to - 1) === zero) to--;
  return digits.slice(from, to);
};

/** Whether a double carries a number with all its digits (RFC 8259 section 6). */
const isCarried = (literal: string): boolean => {
  if (literal.length > maxLength) return false;
  const number = Number(literal);
  // The shortest form, in which most programs write a double.
  if (String(number) === literal) return true;
  const digits = significant(literal);
  if (digits === '' || (number !== 0 && digits === significant(String(number)))) return true;
  if (number === 0 || !Number.isFinite(number) || digits.length > 100) return false;
  return significant(number.toPrecision(digits.length)) === digits;
};

/** Whether a character is part of an exponent and no digit: e, E or a sign. */
const isOfExponent = (unit: number) => unit === 0x65 || unit === 0x45 || unit === minus || unit === plus;

/** The end of what may be a number, which begins at `at`, and whether it needs a check by `isCarried`. */
const numberAt = (text: string, at: number): { end: number; isDoubtful: boolean } => {
  let end = at + 1;
  let hasExponent = false;
  for (; end < text.length; end++) {
    const unit = text.charCodeAt(end);
    if (isDigit(unit) || unit === point) continue;
    if (!isOfExponent(unit)) break;
    hasExponent = true;
  }
  return { end, isDoubtful: hasExponent || end - at > safeDigits };
};

/** The index of the quote that ends the string that begins at `at`; the length of the text if there is none. */
const endOfString = (text: string, at: number): number => {
  for (let end = at + 1; end < text.length; end++) {
    const unit = text.charCodeAt(end);
    if (unit === quote) return end;
    if (unit === backslash) end++;
  }
  return text.length;
};

/** The text with each number outside strings that a double does not carry replaced by an infinite one. Throws TooDeep. */
const examined = (text: string): string => {
  let made = '';
  let from = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === quote) at = endOfString(text, at);
    // [ and {
    else if (unit === 0x5b || unit === 0x7b) {
      if (++depth > maxDepth) throw new TooDeep(`nested more than ${maxDepth} levels deep`);
      // ] and }
    } else if (unit === 0x5d || unit === 0x7d) depth--;
    else if (unit === minus || isDigit(unit)) {
      const { end, isDoubtful } = numberAt(text, at);
      const literal = isDoubtful ? text.slice(at, end) : '';
      if (isDoubtful && numberPattern.test(literal) && !isCarried(literal)) {
        made += `${text.slice(from, at)}${unit === minus ? '-' : ''}1e999`;
        from = end;
      }
      at = end - 1;
    }
  }
  return from === 0 ? text : made + text.slice(from);
};

/**
 * JSON.parse, except that a number whose digits would be lost, such as 9007199254740993 or 1e-400, becomes infinite. No field
 * accepts an infinite number, so it is rejected instead of stored as another number. Throws what JSON.parse throws, and TooDeep.
 */
export const parseJSON = (text: string): unknown => JSON.parse(examined(text));
