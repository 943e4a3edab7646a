/** Checks input against a schema: describes the first problem, and lists the fields that the schema does not know. */
import * as z from 'zod';
import type { Problem } from './answer.ts';
import { required } from './fields.ts';
import { misspelt, nearestName, unknownName } from './near-miss.ts';
import { isPlain } from './plain.ts';

/** The field that every operation takes besides its own. */
const tokenField = 'tokenUUID';

export type Checked<Out> = { ok: true; value: Out } | { ok: false; problem: Problem };

/** `['event', 3, 'eventID']` → `event[3].eventID` */
export const fieldPath = (path: readonly PropertyKey[], base = ''): string =>
  path.reduce<string>(
    (text, step) =>
      typeof step === 'number' ? `${text}[${step}]` : text === '' ? String(step) : `${text}.${String(step)}`,
    base,
  );

/** The names that a schema knows: the fields of an object, those in the entries of a list, and none in other values. */
interface Known {
  readonly fields?: Map<string, Known>;
  readonly entries?: Known;
}

const scalar: Known = {};

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
  if (!(inner instanceof z.ZodObject)) return scalar;
  const fields = Object.entries(inner.shape as Record<string, z.ZodType>);
  return { fields: new Map(fields.map(([name, field]) => [name, knownOf(field)])) };
};

/** A cache of the known names of each schema. */
const knowledge = new WeakMap<z.ZodType, Known>();
const knownOfSchema = (schema: z.ZodType): Known => {
  const made = knowledge.get(schema) ?? knownOf(schema);
  knowledge.set(schema, made);
  return made;
};

/** Whether a value is the object of a JSON text, and no list. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A sentence about a name in the request that probably misspells the field at `path`, about which the message is `form`; "" if there is none. */
const misspeltFor = (schema: z.ZodType, input: unknown, path: readonly PropertyKey[], form: string): string => {
  let known: Known | undefined = knownOfSchema(schema);
  let parent = input;
  for (const step of path.slice(0, -1)) {
    known = typeof step === 'number' ? known?.entries : known?.fields?.get(String(step));
    parent = typeof parent === 'object' && parent !== null ? (parent as Record<PropertyKey, unknown>)[step] : undefined;
  }
  if (known?.fields === undefined || !isRecord(parent)) return '';
  const given = Object.keys(parent).filter((name) => name !== tokenField);
  const alternatives = [...form.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
  return misspelt(String(path.at(-1)), given, [...known.fields.keys()], alternatives);
};

/** Checks `input`, whose path in the request is `base`. Returns the coerced value or the first problem. */
export const check = <Out>(schema: z.ZodType<Out>, input: unknown, base = ''): Checked<Out> => {
  if (isPlain(schema, input)) return { ok: true, value: input as Out };
  const result = schema.safeParse(input);
  if (result.success) return { ok: true, value: result.data };
  const [issue] = result.error.issues;
  const field = fieldPath(issue?.path ?? [], base);
  const form = issue?.message ?? 'is malformed';
  const isMissing = form.startsWith(required);
  const meant = isMissing ? misspeltFor(schema, input, issue?.path ?? [], form) : '';
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
 * The problem if the input of a read has a name that the schema does not know. Ignoring an unknown filter would return the
 * result of another query.
 */
export const refuseUnknown = (name: string, schema: z.ZodType, input: object): Problem | undefined => {
  const { fields } = knownOfSchema(schema);
  const known = [tokenField, ...(fields?.keys() ?? [])];
  const unknown = Object.keys(input).find((given) => !known.includes(given));
  if (unknown === undefined) return undefined;
  return { code: 'unknown_field', message: unknownName(unknown, name, known), field: unknown.slice(0, 64) };
};

/** The most names that a response lists as ignored. */
export const maxIgnored = 20;

/** At most this many ignored names of a response are compared with the known ones. */
const maxCompared = 5;

/** The path of an unknown name, with the absent field that it probably misspells. */
const describeUnknown = (path: string, name: string, fields: Iterable<string>, input: object): string => {
  const nearest = nearestName(name, [...fields]);
  return nearest === undefined || nearest in input ? path : `${path} (did you mean ${nearest}?)`;
};

/** `path` leads to `input`. It becomes text only where a name is unknown, because most inputs have none. */
const listUnknown = ({ fields, entries }: Known, input: unknown, path: PropertyKey[], found: string[]): void => {
  if (entries !== undefined && Array.isArray(input)) {
    for (const [index, entry] of input.entries()) {
      path.push(index);
      listUnknown(entries, entry, path, found);
      path.pop();
    }
  }
  if (fields === undefined || !isRecord(input)) return;
  for (const name of Object.keys(input)) {
    if (found.length >= maxIgnored) return;
    const field = fields.get(name);
    if (field === undefined) {
      const unknown = fieldPath([...path, name.slice(0, 64)]);
      found.push(found.length < maxCompared ? describeUnknown(unknown, name, fields.keys(), input) : unknown);
    } else if (field !== scalar) {
      path.push(name);
      listUnknown(field, input[name], path, found);
      path.pop();
    }
  }
};

/**
 * Returns a function that appends to `found` the paths of the names in an input that a schema does not know, up to 20 in all, and
 * returns it. `base` is the path of the input in the request. Call this once per schema: reading a schema costs more than searching
 * an input.
 */
export const createFindUnknown = (schema: z.ZodType) => {
  const known = knownOf(schema);
  known.fields?.set(tokenField, scalar);
  return (input: unknown, base?: string, found: string[] = []): string[] => {
    listUnknown(known, input, base === undefined ? [] : [base], found);
    return found;
  };
};
