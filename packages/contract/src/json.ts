/** Reading JSON that anybody may have written. */

/** Deeper than any operation's input, and shallow enough for whoever walks through it recursively. */
export const mostDepth = 32;

/** It opens more than 32 arrays and objects inside each other. */
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
/** So many digits a double carries (IEEE 754, DBL_DIG), but for what is nearly zero. */
const safeDigits = 15;
/** The greatest double written in full has 309. Longer ones aren't looked at, because that takes the longer. */
const mostLength = 400;

/** The digits of a number without sign, point, exponent, and the zeros around them. Not by `/0+$/`, whose time grows with the square. */
const significant = (literal: string): string => {
  const digits = literal.replace(/[eE].*$/, '').replace(/[-.]/g, '');
  let from = 0;
  let to = digits.length;
  while (from < to && digits.charCodeAt(from) === zero) from++;
  while (to > from && digits.charCodeAt(to - 1) === zero) to--;
  return digits.slice(from, to);
};

/** Whether a number is what it says, with all its digits, once it has become a double (RFC 8259 section 6). */
const isCarried = (literal: string): boolean => {
  if (literal.length > mostLength) return false;
  const number = Number(literal);
  // As whoever reads doubles writes them.
  if (String(number) === literal) return true;
  const digits = significant(literal);
  if (digits === '' || (number !== 0 && digits === significant(String(number)))) return true;
  if (number === 0 || !Number.isFinite(number) || digits.length > 100) return false;
  return significant(number.toPrecision(digits.length)) === digits;
};

/** What an exponent is written with besides digits: e, E and a sign. */
const isOfExponent = (unit: number) => unit === 0x65 || unit === 0x45 || unit === minus || unit === plus;

/** Where what may be a number ends that begins at `at`, and whether it has to be looked at. */
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

/** Where a string ends that begins at `at`. */
const endOfString = (text: string, at: number): number => {
  for (let end = at + 1; end < text.length; end++) {
    const unit = text.charCodeAt(end);
    if (unit === quote) return end;
    if (unit === backslash) end++;
  }
  return text.length;
};

/** The text, with numbers that a double does not carry made infinite. Throws TooDeep. Looks outside strings only. */
const examined = (text: string): string => {
  let made = '';
  let from = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === quote) at = endOfString(text, at);
    // [ and {
    else if (unit === 0x5b || unit === 0x7b) {
      if (++depth > mostDepth) throw new TooDeep(`nested more than ${mostDepth} levels deep`);
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
 * As JSON.parse, except that a number with digits that would be lost, such as 9007199254740993 or 1e-400, is read as
 * infinite, which no field is: it is refused rather than kept as another. Throws TooDeep as well.
 */
export const parseJSON = (text: string): unknown => JSON.parse(examined(text));
