/** A parser for JSON from untrusted clients. */

/** Deeper than any operation's input, and shallow enough for recursive functions. */
export const maxDepth = 32;

/** Arrays and objects are nested more than 32 levels deep. */
export class TooDeepError extends Error {
  override readonly name = 'TooDeepError';
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
/** The number of decimal digits that a double always preserves (IEEE 754, DBL_DIG), except near zero. */
const safeDigits = 15;
/** The largest double has 309 digits. Longer literals count as inexact, because checking takes time per digit. */
const maxLength = 400;

/** The significant digits of a literal. `/0+$/` would take quadratic time. */
const significantDigits = (literal: string): string => {
  const digits = literal.replace(/[eE].*$/, '').replace(/[-.]/g, '');
  let from = 0;
  let to = digits.length;
  while (from < to && digits.charCodeAt(from) === zero) from++;
  while (to > from && digits.charCodeAt(to - 1) === zero) to--;
  return digits.slice(from, to);
};

/** Whether a double preserves all digits of a number (RFC 8259 section 6). */
const isPreserved = (literal: string): boolean => {
  if (literal.length > maxLength) return false;
  const number = Number(literal);
  // Most programs write the shortest form of a double.
  if (String(number) === literal) return true;
  const digits = significantDigits(literal);
  if (digits === '' || (number !== 0 && digits === significantDigits(String(number)))) return true;
  if (number === 0 || !Number.isFinite(number) || digits.length > 100) return false;
  return significantDigits(number.toPrecision(digits.length)) === digits;
};

/** Whether a character other than a digit is part of an exponent: e, E or a sign. */
const isExponentPart = (unit: number) => unit === 0x65 || unit === 0x45 || unit === minus || unit === plus;

/** The end index of the candidate number at `at`, and whether `isPreserved` must check the number. */
const numberAt = (text: string, at: number): { end: number; needsCheck: boolean } => {
  let end = at + 1;
  let hasExponent = false;
  for (; end < text.length; end++) {
    const unit = text.charCodeAt(end);
    if (isDigit(unit) || unit === point) continue;
    if (!isExponentPart(unit)) break;
    hasExponent = true;
  }
  return { end, needsCheck: hasExponent || end - at > safeDigits };
};

/** The index of the closing quote of the string that starts at `at`; the length of the text if there is none. */
const endOfString = (text: string, at: number): number => {
  for (let end = at + 1; end < text.length; end++) {
    const unit = text.charCodeAt(end);
    if (unit === quote) return end;
    if (unit === backslash) end++;
  }
  return text.length;
};

/** Outside strings, replaces each number that a double does not preserve with an infinite one. Throws TooDeepError. */
const replaceInexactNumbers = (text: string): string => {
  let result = '';
  let from = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === quote) at = endOfString(text, at);
    // [ and {
    else if (unit === 0x5b || unit === 0x7b) {
      if (++depth > maxDepth) throw new TooDeepError(`nested more than ${maxDepth} levels deep`);
      // ] and }
    } else if (unit === 0x5d || unit === 0x7d) depth--;
    else if (unit === minus || isDigit(unit)) {
      const { end, needsCheck } = numberAt(text, at);
      const literal = needsCheck ? text.slice(at, end) : '';
      if (needsCheck && numberPattern.test(literal) && !isPreserved(literal)) {
        result += `${text.slice(from, at)}${unit === minus ? '-' : ''}1e999`;
        from = end;
      }
      at = end - 1;
    }
  }
  return from === 0 ? text : result + text.slice(from);
};

/**
 * Like JSON.parse, but a number that a double cannot preserve, such as 9007199254740993 or 1e-400, becomes infinite. No
 * field accepts infinity, so it is rejected instead of stored as a different number. Throws what JSON.parse throws, and
 * TooDeepError.
 */
export const parseJSON = (text: string): unknown => JSON.parse(replaceInexactNumbers(text));
