/** The JSON Schemas of the OpenAPI document, generated from Zod schemas and their metadata (fields.ts). */
import * as z from 'zod';

/** A JSON Schema (2020-12), with the keywords that this file reads. */
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

/** The metadata of a schema, which Zod copies into its JSON Schema. */
interface Meta {
  readonly example?: unknown;
  readonly form?: string;
  readonly sent?: JSONSchema;
}

export const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const mapValues = <In, Out>(record: Readonly<Record<string, In>>, map: (value: In) => Out): Record<string, Out> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));

/** `must be a time` → `Must be a time.` */
const sentence = (form: string) => `${form.charAt(0).toUpperCase()}${form.slice(1)}.`;

/** Moves a nullable schema's description to the union with null. */
const hoistDescription = (schema: JSONSchema): JSONSchema => {
  const [first, second] = schema.anyOf ?? [];
  if (first === undefined || second?.type !== 'null') return schema;
  const { description, examples, ...form } = first;
  return { ...(description && { description, examples }), ...schema, anyOf: [form, second] };
};

/** Converts the metadata of a schema and its subschemas to JSON Schema keywords. */
const toPlain = ({ example, form, sent, ...generated }: JSONSchema & Meta, isInput: boolean): JSONSchema => {
  const inner = (schema: JSONSchema) => toPlain(schema, isInput);
  const { $schema, $id, ...schema } = generated;
  const description = [generated.description, form && sentence(form)].filter(Boolean).join(' ');
  const examples = example === undefined ? generated.enum?.slice(0, 1) : [example];
  const annotations = { ...(description && { description }), ...(examples && { examples }) };
  if (isInput && sent) return hoistDescription({ ...sent, ...annotations });
  return hoistDescription({
    ...schema,
    ...annotations,
    ...(generated.properties && { properties: mapValues(generated.properties, inner) }),
    ...(generated.items && { items: inner(generated.items) }),
    ...(generated.anyOf && { anyOf: generated.anyOf.map(inner) }),
    ...(generated.additionalProperties && { additionalProperties: inner(generated.additionalProperties) }),
  });
};

/**
 * Converts schemas to JSON Schemas, by name. A named schema inside another becomes a `$ref`. `input` describes what
 * clients may send, which may be more than what the service returns. Objects allow additional members.
 */
export const toJSONSchemas = (schemasByName: Readonly<Record<string, z.ZodType>>, io: 'input' | 'output') => {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemasByName)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io,
    uri: (id) => refTo(id).$ref,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return mapValues(schemas as Record<string, JSONSchema>, (schema) => toPlain(schema, io === 'input'));
};

/** An example value: the schema's own, or one built from its required members. */
export const exampleOf = (schema: JSONSchema, components: Readonly<Record<string, JSONSchema>>): unknown => {
  if (schema.examples) return schema.examples[0];
  if (schema.$ref) return exampleOf(components[schema.$ref.split('/').at(-1) ?? ''] ?? {}, components);
  if (schema.items) return [exampleOf(schema.items, components)];
  if (schema.properties === undefined) return schema.additionalProperties ? {} : undefined;
  return exampleWith(schema, schema.required ?? [], components);
};

/** An example of an object with these members. */
export const exampleWith = (
  { properties = {} }: JSONSchema,
  names: readonly string[],
  components: Readonly<Record<string, JSONSchema>>,
): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, exampleOf(properties[name] ?? {}, components)]));
