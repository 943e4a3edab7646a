/** The JSON Schemas of the OpenAPI document, made from Zod's schemas and their metadata (fields.ts). */
import * as z from 'zod';

/** A JSON Schema (2020-12), as far as this file reads it. */
export interface JSONSchema {
  readonly [keyword: string]: unknown;
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, JSONSchema>>;
  readonly required?: readonly string[];
  readonly items?: JSONSchema;
  readonly anyOf?: readonly JSONSchema[];
  readonly additionalProperties?: JSONSchema;
}

/** The metadata of a schema, which Zod copies into the JSON Schema that it makes. */
interface Meta {
  readonly example?: unknown;
  readonly form?: string;
  readonly sent?: JSONSchema;
}

export const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const mapped = <In, Out>(record: Readonly<Record<string, In>>, map: (value: In) => Out): Record<string, Out> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));

/** `must be a time` → `Must be a time.` */
const sentence = (form: string) => `${form.charAt(0).toUpperCase()}${form.slice(1)}.`;

/** null beside another schema: the pair is described as the other one is. */
const described = (schema: JSONSchema): JSONSchema => {
  const [first, second] = schema.anyOf ?? [];
  if (first === undefined || second?.type !== 'null') return schema;
  const { description, examples, ...form } = first;
  return { ...(description && { description, examples }), ...schema, anyOf: [form, second] };
};

/** Puts the metadata of a schema, and of those within it, into the words of JSON Schema. */
const toPlain = ({ example, form, sent, ...made }: JSONSchema & Meta, isInput: boolean): JSONSchema => {
  const inner = (schema: JSONSchema) => toPlain(schema, isInput);
  const { $schema, $id, ...schema } = made;
  const description = [made.description, form && sentence(form)].filter(Boolean).join(' ');
  const examples = example === undefined ? made.enum?.slice(0, 1) : [example];
  const about = { ...(description && { description }), ...(examples && { examples }) };
  if (isInput && sent) return described({ ...sent, ...about });
  return described({
    ...schema,
    ...about,
    ...(made.properties && { properties: mapped(made.properties, inner) }),
    ...(made.items && { items: inner(made.items) }),
    ...(made.anyOf && { anyOf: made.anyOf.map(inner) }),
    ...(made.additionalProperties && { additionalProperties: inner(made.additionalProperties) }),
  });
};

/**
 * The JSON Schemas of the schemas, by name. Where one is part of another, it is referred to by its name in the document's
 * components. `input` describes what a client may send: every schema takes its output as its input, and some take more. Objects may
 * have members beside those that are named.
 */
export const jsonSchemas = (named: Readonly<Record<string, z.ZodType>>, io: 'input' | 'output') => {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io,
    uri: (id) => refTo(id).$ref,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return mapped(schemas as Record<string, JSONSchema>, (schema) => toPlain(schema, io === 'input'));
};

/** An example of a value: that of the schema, or one made from the examples of its required members. */
export const exampleOf = (schema: JSONSchema, components: Readonly<Record<string, JSONSchema>>): unknown => {
  if (schema.examples) return schema.examples[0];
  if (schema.$ref) return exampleOf(components[schema.$ref.split('/').at(-1) ?? ''] ?? {}, components);
  if (schema.items) return [exampleOf(schema.items, components)];
  if (schema.properties === undefined) return schema.additionalProperties ? {} : undefined;
  return exampleWith(schema, schema.required ?? [], components);
};

/** An example of an object that has the members of these names. */
export const exampleWith = (
  { properties = {} }: JSONSchema,
  names: readonly string[],
  components: Readonly<Record<string, JSONSchema>>,
): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, exampleOf(properties[name] ?? {}, components)]));
