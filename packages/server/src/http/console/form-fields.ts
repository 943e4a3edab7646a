/** Reads the text fields of the console's forms for signing in, invitations and passwords. */
import { Refusal } from '../../shared/refusal.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Returns the text of a field; undefined where it is absent or empty. */
export const optionalText = (given: Fields, name: string): string | undefined => {
  const value = given[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw new Refusal('invalid_field', { field: name, message: `\`${name}\` must be text` });
};

/** Returns the text of a field. Throws a Refusal where it is absent or empty. */
export const requiredText = (given: Fields, name: string): string => {
  const text = optionalText(given, name);
  if (text === undefined) throw new Refusal('missing_field', { field: name });
  return text;
};
