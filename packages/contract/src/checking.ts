/** Checking input against a schema: the first problem in words, and the fields that the schema does not know. */
import * as z from 'zod';
import type { Problem } from './answer.ts';
import { required } from './fields.ts';

export type Checked<Out> = { ok: true; value: Out } | { ok: false; problem: Problem };

/** `['event', 3, 'eventID']` → `event[3].eventID` */
const fieldPath = (path: readonly PropertyKey[], base = ''): string =>
  path.reduce<string>(
    (text, step) =>
      typeof step === 'number' ? `${text}[${step}]` : text === '' ? String(step) : `${text}.${String(step)}`,
    base,
  );

/** Checks `input`; `base` is the path at which it stands in the request. */
export const check = <Out>(schema: z.ZodType<Out>, input: unknown, base = ''): Checked<Out> => {
  const result = schema.safeParse(input);
  if (result.success) return { ok: true, value: result.data };
  const [issue] = result.error.issues;
  const field = fieldPath(issue?.path ?? [], base);
  const form = issue?.message ?? 'is malformed';
  return {
    ok: false,
    problem: {
      code: form.startsWith(required) ? 'missing_field' : 'invalid_field',
      message: `${field || 'the request'} ${form}`,
      ...(field && { field }),
    },
  };
};

const mostIgnored = 20;

/** The members of `input` that an object schema does not name, as paths; at most 20 of them. */
export const unknownFields = (schema: z.ZodType, input: unknown, base = '', found: string[] = []): string[] => {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject && isRecord(input)) {
    const shape = inner.shape as Record<string, z.ZodType>;
    for (const key of Object.keys(input)) {
      if (found.length >= mostIgnored) return found;
      const path = fieldPath([key.slice(0, 64)], base);
      if (!Object.hasOwn(shape, key)) found.push(path);
      else if (typeof input[key] === 'object') unknownFields(shape[key] as z.ZodType, input[key], path, found);
    }
  } else if (inner instanceof z.ZodArray && Array.isArray(input)) {
    input.forEach((item, index) => {
      if (found.length < mostIgnored) unknownFields(inner.element as z.ZodType, item, `${base}[${index}]`, found);
    });
  }
  return found;
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object or array schema inside optional, nullable and coercing wrappers. */
const unwrap = (schema: z.ZodType): z.ZodType => {
  let inner: z.ZodType = schema;
  for (;;) {
    if (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable) inner = inner.unwrap() as z.ZodType;
    else if (inner instanceof z.ZodPipe) inner = inner.out as z.ZodType;
    else return inner;
  }
};
