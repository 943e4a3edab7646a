/**
 * Fast checks for plain input, as our tracker sends it: only known fields, all in canonical form, so that a schema
 * returns it unchanged. They take 0.45 µs instead of Zod's 3.1 µs for an event with three attributes. Zod checks all
 * other input.
 */
import type { z } from 'zod';
import { canonicalName, endOfTime, isCatalogueID, isNumeral, isStorable } from './fields.ts';
import { eventUUIDPattern, userUUIDPattern } from './identifiers.ts';
import { limits } from './limits.ts';
import { isPlaceholderUserUUID } from './placeholders.ts';

type Check = (input: unknown) => boolean;

const checks = new WeakMap<z.ZodType, Check>();

/** Registers a check for a schema that returns every input passing the check unchanged. Returns the schema. */
export const withPlainCheck = <Schema extends z.ZodType>(schema: Schema, check: Check): Schema => {
  checks.set(schema, check);
  return schema;
};

/** Whether the input is plain. False if the schema has no check. */
export const isPlain = (schema: z.ZodType, input: unknown): boolean => checks.get(schema)?.(input) ?? false;

/** A check for an object that has all `required` fields, and only fields in `fields`. An empty array can pass, too. */
export const object = (fields: Readonly<Record<string, Check>>, required: readonly string[] = []): Check => {
  const allowed = new Map(
    Object.entries(fields).map(([name, check]) => [name, { check, counts: Number(required.includes(name)) }]),
  );
  return (input) => {
    if (typeof input !== 'object' || input === null) return false;
    let missing = required.length;
    for (const name in input) {
      const field = allowed.get(name);
      if (!field?.check((input as Record<string, unknown>)[name])) return false;
      missing -= field.counts;
    }
    return missing === 0;
  };
};

export const anything: Check = () => true;

const text =
  (minLength: number, maxLength: number): Check =>
  (input) =>
    typeof input === 'string' && input.length >= minLength && input.length <= maxLength && isStorable(input);

const wholeNumber =
  (min: number, max: number): Check =>
  (input) =>
    Number.isInteger(input) && (input as number) >= min && (input as number) <= max;

const identifier =
  (pattern: RegExp): Check =>
  (input) =>
    typeof input === 'string' && pattern.test(input);

export const name = text(1, limits.nameLength);
export const eventName: Check = (input) =>
  name(input) && canonicalName(input as string) === input && !isNumeral(input as string);
export const eventID = wholeNumber(1, limits.eventIDMax);
export const time = wholeNumber(0, endOfTime - 1);
export const eventUUID = identifier(eventUUIDPattern);

const isUserUUID = identifier(userUUIDPattern);
export const userUUID: Check = (input) => isUserUUID(input) && !isPlaceholderUserUUID(input as string);

const isCatalogueText = text(1, limits.attrIDLength);
const isAttribute = object(
  {
    attrID: (input) => isCatalogueText(input) && isCatalogueID(input as string),
    attrValue: text(0, limits.attrValueLength),
  },
  ['attrID', 'attrValue'],
);

/** A check for a list of at most `max` entries that all pass. */
const list =
  (max: number, isEntry: Check): Check =>
  (input) =>
    Array.isArray(input) && input.length <= max && input.every(isEntry);

const isAttributeList = list(limits.attributesPerEvent, isAttribute);
const isRepeatedLater = ({ attrID }: { attrID: string }, index: number, all: readonly { attrID: string }[]) => {
  for (let later = index + 1; later < all.length; later += 1) if (all[later]?.attrID === attrID) return true;
  return false;
};
export const attributes: Check = (input) =>
  isAttributeList(input) && !(input as { attrID: string }[]).some(isRepeatedLater);

const isEventList = list(limits.eventsPerBatch, anything);
export const events: Check = (input) => isEventList(input) && (input as []).length > 0;
