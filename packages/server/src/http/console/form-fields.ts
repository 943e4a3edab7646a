/** Reads text fields in the console's forms for sign-in, invitations and passwords. */
import { Refusal } from '../../shared/refusal.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Returns a field's text; undefined if it is absent or empty. */
export const optionalText = (fields: Fields, name: string): string | undefined => {
  const value = fields[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw new Refusal('invalid_field', { field: name, message: `\`${name}\` must be text` });
};

/** Returns a field's text. Throws a Refusal if it is absent or empty. */
export const requiredText = (fields: Fields, name: string): string => {
  const text = optionalText(fields, name);
  if (text === undefined) throw new Refusal('missing_field', { field: name });
  return text;
};
