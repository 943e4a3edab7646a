/** Checking input against a schema: the first problem in words, and the fields that the schema does not know. */
import * as z from 'zod';
import type { Problem } from './answer.ts';
import { required } from './fields.ts';
import { misspelt, unknownName } from './near-miss.ts';
import { isPlain } from './plain.ts';

/** What goes along with the fields of every operation. */
const tokenField = 'tokenUUID';

export type Checked<Out> = { ok: true; value: Out } | { ok: false; problem: Problem };

/** `['event', 3, 'eventID']` → `event[3].eventID` */
const fieldPath = (path: readonly PropertyKey[], base = ''): string =>
  path.reduce<string>(
    (text, step) =>
      typeof step === 'number' ? `${text}[${step}]` : text === '' ? String(step) : `${text}.${String(step)}`,
    base,
  );

/** What a schema knows of its input: the fields of an object, the entries of a list, and nothing inside anything else. */
interface Known {
  readonly fields?: Map<string, Known>;
  readonly entries?: Known;
}

/** The object or array schema inside optional, nullable and coercing wrappers. */
const unwrap = (schema: z.ZodType): z.ZodType => {
  let inner: z.ZodType = schema;
  for (;;) {
    if (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable) inner = inner.unwrap() as z.ZodType;
    else if (inner instanceof z.ZodPipe) inner = inner.out as z.ZodType;
    else return inner;
  }
};

const knownOf = (schema: z.ZodType): Known => {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) return { entries: knownOf(inner.element as z.ZodType) };
  if (!(inner instanceof z.ZodObject)) return {};
  const fields = Object.entries(inner.shape as Record<string, z.ZodType>);
  return { fields: new Map(fields.map(([name, field]) => [name, knownOf(field)])) };
};

/** Each schema's, made once. */
const knowledge = new WeakMap<z.ZodType, Known>();
const knownOfSchema = (schema: z.ZodType): Known => {
  const made = knowledge.get(schema) ?? knownOf(schema);
  knowledge.set(schema, made);
  return made;
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A sentence about the misspelt name that the field at `path` may have been given under; "" when there is none. */
const misspeltFor = (schema: z.ZodType, input: unknown, path: readonly PropertyKey[]): string => {
  let known: Known | undefined = knownOfSchema(schema);
  let parent = input;
  for (const step of path.slice(0, -1)) {
    known = typeof step === 'number' ? known?.entries : known?.fields?.get(String(step));
    parent = typeof parent === 'object' && parent !== null ? (parent as Record<PropertyKey, unknown>)[step] : undefined;
  }
  if (known?.fields === undefined || !isRecord(parent)) return '';
  const given = Object.keys(parent).filter((name) => name !== tokenField);
  return misspelt(String(path.at(-1)), given, [...known.fields.keys()]);
};

/** Checks `input`; `base` is the path at which it stands in the request. */
export const check = <Out>(schema: z.ZodType<Out>, input: unknown, base = ''): Checked<Out> => {
  if (isPlain(schema, input)) return { ok: true, value: input as Out };
  const result = schema.safeParse(input);
  if (result.success) return { ok: true, value: result.data };
  const [issue] = result.error.issues;
  const field = fieldPath(issue?.path ?? [], base);
  const form = issue?.message ?? 'is malformed';
  const isMissing = form.startsWith(required);
  const meant = isMissing ? misspeltFor(schema, input, issue?.path ?? []) : '';
  return {
    ok: false,
    problem: {
      code: isMissing ? 'missing_field' : 'invalid_field',
      message: `${field === '' ? 'the request' : `\`${field}\``} ${form}${meant === '' ? '' : `. ${meant}`}`,
      ...(field && { field }),
    },
  };
};

/**
 * Refuses an input of a read that the schema does not know every name of: a filter that is ignored answers another question
 * than the one that was asked.
 */
export const refuseUnknown = (name: string, schema: z.ZodType, input: object): Problem | undefined => {
  const { fields } = knownOfSchema(schema);
  const known = [tokenField, ...(fields?.keys() ?? [])];
  const unknown = Object.keys(input).find((given) => !known.includes(given));
  if (unknown === undefined) return undefined;
  return { code: 'unknown_field', message: unknownName(unknown, name, known), field: unknown.slice(0, 64) };
};

/** Whether nothing in an input is unknown, as is usual: then no path has to be put together. */
const isAllKnown = ({ fields, entries }: Known, input: unknown): boolean => {
  if (entries !== undefined) return !Array.isArray(input) || input.every((entry) => isAllKnown(entries, entry));
  if (fields === undefined || !isRecord(input)) return true;
  for (const name of Object.keys(input)) {
    const field = fields.get(name);
    if (field === undefined || !isAllKnown(field, input[name])) return false;
  }
  return true;
};

const mostIgnored = 20;

const listUnknown = ({ fields, entries }: Known, input: unknown, base: string, found: string[]): void => {
  if (entries !== undefined && Array.isArray(input)) {
    input.forEach((entry, index) => {
      if (found.length < mostIgnored) listUnknown(entries, entry, `${base}[${index}]`, found);
    });
  }
  if (fields === undefined || !isRecord(input)) return;
  for (const name of Object.keys(input)) {
    if (found.length >= mostIgnored) return;
    const path = fieldPath([name.slice(0, 64)], base);
    const field = fields.get(name);
    if (field === undefined) found.push(path);
    else listUnknown(field, input[name], path, found);
  }
};

/**
 * Finds the members of an input that an object schema does not name, as paths: at most 20 of them, with those that were
 * `found` already. `base` is the path at which the input stands in the request.
 */
export type FindUnknown = (input: unknown, base?: string, found?: string[]) => string[];

/** What finds them, made once of each schema: to ask a schema what it is takes longer than to look through an input. */
export const createFindUnknown = (schema: z.ZodType, besides: readonly string[] = []): FindUnknown => {
  const known = knownOf(schema);
  for (const name of besides) known.fields?.set(name, {});
  return (input, base = '', found = []) => {
    if (!isAllKnown(known, input)) listUnknown(known, input, base, found);
    return found;
  };
};
