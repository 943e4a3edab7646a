import type { Row } from '../files/record.ts';

export const toRecord = (value: unknown): Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : {};

/** A text that is not empty, or a number as text. */
export const toText = (value: unknown): string | undefined => {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** Removes fields without a value. */
export const compact = (fields: Row): Row =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== ''),
  );
