import { Refusal } from '../refusal.ts';

/** Deeper than any operation's input, and shallow enough for whoever walks through it recursively. */
const mostDepth = 32;

const quote = 0x22;
const backslash = 0x5c;

/** Whether JSON text opens more than 32 arrays and objects inside each other. Looks at brackets outside strings only. */
const isTooDeep = (text: string): boolean => {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === quote) {
      for (at++; at < text.length; at++) {
        const inside = text.charCodeAt(at);
        if (inside === quote) break;
        if (inside === backslash) at++;
      }
      // [ and {
    } else if (unit === 0x5b || unit === 0x7b) {
      if (++depth > mostDepth) return true;
      // ] and }
    } else if (unit === 0x5d || unit === 0x7d) depth--;
  }
  return false;
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Refusal('invalid_json', { message: 'the body is not JSON', cause });
  }
};

/** A JSON object's members. `__proto__` is a name like any other (RFC 8259 knows no special ones). */
export const parseObject = (text: string): Record<string, unknown> => {
  if (isTooDeep(text)) {
    throw new Refusal('invalid_json', { message: `the body is nested more than ${mostDepth} levels deep` });
  }
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refusal('invalid_json', { message: 'the body is not a JSON object' });
  }
  return value as Record<string, unknown>;
};
