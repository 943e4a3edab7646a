import type { Row } from './record.ts';

/** Exports are less deeply nested. An API request, which contains the message, may be nested at most 32 levels deep. */
const maxDepth = 24;

const isTooDeep = (value: unknown, depth = 0): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  return depth === maxDepth || Object.values(value).some((child) => isTooDeep(child, depth + 1));
};

/** The error position in a JavaScript engine's message. Not every engine includes it. */
const columnOf = (message: string): string => {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  return position === undefined ? '' : ` in column ${Number(position) + 1}`;
};

/** Parses a JSON object on one line. */
export const parseObject = (text: string): { row: Row } | { problem: string } => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const isCut = /end of|Unterminated|EOF/i.test(String(error));
    const reason = isCut ? 'the text ends within the JSON object' : `the text is not JSON${columnOf(String(error))}`;
    return { problem: reason };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { problem: 'the text is JSON, but not an object' };
  if (isTooDeep(value)) return { problem: `the object is nested more than ${maxDepth} levels deep` };
  return { row: value as Row };
};
