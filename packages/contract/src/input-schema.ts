/** Standalone JSON Schemas of inputs, for tools that agents call. */
import type * as z from 'zod';
import { type JSONSchema, refTo, toJSONSchemas } from './document/json-schemas.ts';
import { condition } from './reports/filter.ts';

const { $ref: filterInDocument } = refTo('Filter');
const filterInSchema = '#/$defs/Filter';

/** Removes the examples, which mostly repeat the descriptions and would take up an agent's context. */
const withoutExamples = (schema: JSONSchema): JSONSchema =>
  JSON.parse(JSON.stringify(schema), (name, value: unknown) =>
    name === 'examples' && Array.isArray(value) ? undefined : value,
  );

/**
 * Returns the JSON Schema of an input. The schema of report filters, if the input has any, is in `$defs`. With
 * `filterDescribedIn`, a filter is any object, and its description refers to the tool of that name.
 */
export const toInputSchema = (input: z.ZodType, filterDescribedIn?: string): JSONSchema => {
  // The order matters: a part that a later schema shares with an earlier one becomes a reference to it.
  const { Filter = {}, Input = {} } = toJSONSchemas({ Filter: condition, Input: input }, 'input');
  const schema = withoutExamples(Input);
  if (!JSON.stringify(schema).includes(filterInDocument)) return schema;
  if (filterDescribedIn === undefined) {
    const text = JSON.stringify({ ...schema, $defs: { Filter: withoutExamples(Filter) } });
    return JSON.parse(text.replaceAll(filterInDocument, filterInSchema));
  }
  const hint = `In the form of \`filter\` in ${filterDescribedIn}.`;
  return JSON.parse(JSON.stringify(schema), (_, value: JSONSchema | null) =>
    value?.$ref === filterInDocument
      ? { type: 'object', description: [value.description, hint].filter(Boolean).join(' ') }
      : value,
  );
};
