import { mostDepth, parseJSON, TooDeep } from '@firsthand/contract/json';
import { Refusal } from '../../refusal.ts';

const parse = (text: string): unknown => {
  try {
    return parseJSON(text);
  } catch (cause) {
    const message =
      cause instanceof TooDeep ? `the body is nested more than ${mostDepth} levels deep` : 'the body is not JSON';
    throw new Refusal('invalid_json', { message, cause });
  }
};

/** The members of a JSON object. `__proto__` is a name like any other (RFC 8259 has no special names). */
export const parseObject = (text: string): Record<string, unknown> => {
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refusal('invalid_json', { message: 'the body is not a JSON object' });
  }
  return value as Record<string, unknown>;
};
