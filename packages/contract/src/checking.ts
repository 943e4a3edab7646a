/** Checks input against a schema: describes the first problem, and lists unknown fields. */
import * as z from 'zod';
import { required } from './fields.ts';
import { describeMisspelling, describeUnknownName, nearestName } from './near-miss.ts';
import { isPlain } from './plain.ts';
import type { Problem } from './response.ts';

/** The field that every operation accepts in addition to its own. */
const tokenField = 'tokenUUID';

export type Checked<Out> = { ok: true; value: Out } | { ok: false; problem: Problem };

/** `['event', 3, 'eventID']` → `event[3].eventID` */
export const fieldPath = (path: readonly PropertyKey[], base = ''): string =>
  path.reduce<string>(
    (text, step) =>
      typeof step === 'number' ? `${text}[${step}]` : text === '' ? String(step) : `${text}.${String(step)}`,
    base,
  );

/** The field names in a schema: those of an object, or of a list's entries; none for other values. */
interface SchemaFields {
  readonly fields?: Map<string, SchemaFields>;
  readonly entries?: SchemaFields;
}

const scalar: SchemaFields = {};

/** The object or array schema inside optional, nullable and coercing wrappers. */
const unwrap = (schema: z.ZodType): z.ZodType => {
  let inner: z.ZodType = schema;
  for (;;) {
    if (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable) inner = inner.unwrap() as z.ZodType;
    else if (inner instanceof z.ZodPipe) inner = inner.out as z.ZodType;
    else return inner;
  }
};

const readFields = (schema: z.ZodType): SchemaFields => {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) return { entries: readFields(inner.element as z.ZodType) };
  if (!(inner instanceof z.ZodObject)) return scalar;
  const fields = Object.entries(inner.shape as Record<string, z.ZodType>);
  return { fields: new Map(fields.map(([name, field]) => [name, readFields(field)])) };
};

const fieldCache = new WeakMap<z.ZodType, SchemaFields>();
const cachedFields = (schema: z.ZodType): SchemaFields => {
  const fields = fieldCache.get(schema) ?? readFields(schema);
  fieldCache.set(schema, fields);
  return fields;
};

/** Whether a value parsed from JSON is an object and not an array. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * A hint that a name in the request is probably a misspelling of the field at `path`; "" if there is none. `form` is
 * the error message for that field.
 */
const suggestFor = (schema: z.ZodType, input: unknown, path: readonly PropertyKey[], form: string): string => {
  let expected: SchemaFields | undefined = cachedFields(schema);
  let parent = input;
  for (const step of path.slice(0, -1)) {
    expected = typeof step === 'number' ? expected?.entries : expected?.fields?.get(String(step));
    parent = typeof parent === 'object' && parent !== null ? (parent as Record<PropertyKey, unknown>)[step] : undefined;
  }
  if (expected?.fields === undefined || !isRecord(parent)) return '';
  const given = Object.keys(parent).filter((name) => name !== tokenField);
  const alternatives = [...form.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
  return describeMisspelling(String(path.at(-1)), given, [...expected.fields.keys()], alternatives);
};

/** Checks `input` and returns the coerced value or the first problem. `base` is the path of `input` in the request. */
export const check = <Out>(schema: z.ZodType<Out>, input: unknown, base = ''): Checked<Out> => {
  if (isPlain(schema, input)) return { ok: true, value: input as Out };
  const result = schema.safeParse(input);
  if (result.success) return { ok: true, value: result.data };
  const [issue] = result.error.issues;
  const field = fieldPath(issue?.path ?? [], base);
  const form = issue?.message ?? 'is malformed';
  const isMissing = form.startsWith(required);
  const suggestion = isMissing ? suggestFor(schema, input, issue?.path ?? [], form) : '';
  return {
    ok: false,
    problem: {
      code: isMissing ? 'missing_field' : 'invalid_field',
      message: `${field === '' ? 'the request' : `\`${field}\``} ${form}${suggestion === '' ? '' : `. ${suggestion}`}`,
      ...(field && { field }),
    },
  };
};

/**
 * Returns the problem if a read has an unknown parameter. Ignoring an unknown filter would silently return unfiltered
 * results.
 */
export const findUnknownParameter = (name: string, schema: z.ZodType, input: object): Problem | undefined => {
  const { fields } = cachedFields(schema);
  const parameters = [tokenField, ...(fields?.keys() ?? [])];
  const unknown = Object.keys(input).find((given) => !parameters.includes(given));
  if (unknown === undefined) return undefined;
  return {
    code: 'unknown_field',
    message: describeUnknownName(unknown, name, parameters),
    field: unknown.slice(0, 64),
  };
};

/** The maximum number of ignored names in a response. */
export const maxIgnored = 20;

/** The maximum number of ignored names that get a suggestion: comparing names is expensive. */
const maxCompared = 5;

/** An unknown field's path, with the absent field that was probably meant. */
const describeUnknown = (path: string, name: string, fields: Iterable<string>, input: object): string => {
  const nearest = nearestName(name, [...fields]);
  return nearest === undefined || nearest in input ? path : `${path} (did you mean ${nearest}?)`;
};

/**
 * Appends the paths of unknown fields to `unknown`. `path` leads to `input`, and is formatted only if there is an
 * unknown field, because most inputs have none.
 */
const listUnknown = (
  { fields, entries }: SchemaFields,
  input: unknown,
  path: PropertyKey[],
  unknown: string[],
): void => {
  if (entries !== undefined && Array.isArray(input)) {
    for (const [index, entry] of input.entries()) {
      path.push(index);
      listUnknown(entries, entry, path, unknown);
      path.pop();
    }
  }
  if (fields === undefined || !isRecord(input)) return;
  for (const name of Object.keys(input)) {
    if (unknown.length >= maxIgnored) return;
    const field = fields.get(name);
    if (field === undefined) {
      const at = fieldPath([...path, name.slice(0, 64)]);
      unknown.push(unknown.length < maxCompared ? describeUnknown(at, name, fields.keys(), input) : at);
    } else if (field !== scalar) {
      path.push(name);
      listUnknown(field, input[name], path, unknown);
      path.pop();
    }
  }
};

/**
 * Returns a function that appends the paths of unknown fields in an input to `unknown`, up to 20 in all, and returns
 * it. Call this once per schema: reading a schema costs more than searching an input.
 */
export const createUnknownFieldFinder = (schema: z.ZodType) => {
  const expected = readFields(schema);
  expected.fields?.set(tokenField, scalar);
  return (input: unknown, base?: string, unknown: string[] = []): string[] => {
    listUnknown(expected, input, base === undefined ? [] : [base], unknown);
    return unknown;
  };
};
