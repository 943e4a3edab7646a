/** Renders the fields of a request or response: name, type, limits, description and nested fields. */
import type { JSONSchema } from '@firsthand/contract/document/json-schemas';
import { html } from 'hono/html';
import type { HTML } from '../page.ts';
import { resolve } from './document.ts';

/** Renders text of the contract, with code between backticks. */
export const prose = (text: string): HTML =>
  html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;

/** `must be a time` → `Must be a time.` */
export const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

const isTime = ({ anyOf = [], format }: JSONSchema): boolean =>
  format === 'date-time' || anyOf.some((each) => each.format === 'date-time');

/** The type in words: `string`, `list of objects`, `time`, `null`. */
const typeOf = (schema: JSONSchema): string => {
  const { type, enum: values, const: only, anyOf, items } = resolve(schema);
  if (isTime(schema)) return 'time';
  if (only !== undefined) return JSON.stringify(only);
  if (anyOf) return [...new Set(anyOf.map(typeOf))].join(' or ');
  if (type === 'array') {
    const entry = resolve(items ?? {});
    return `list of ${entry.properties ? 'objects' : entry.enum ? 'words' : entry.anyOf ? typeOf(entry) : `${typeOf(entry)}s`}`;
  }
  if (values && type === undefined) return 'string';
  return type ?? 'any';
};

const number = new Intl.NumberFormat('en');
const isSafe = (value: unknown): value is number =>
  typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER;

const range = (min: unknown, max: unknown, unit: string): string[] => {
  const from = isSafe(min) && min > 0 ? number.format(min) : undefined;
  const to = isSafe(max) ? number.format(max) : undefined;
  if (to === undefined) return from === undefined ? [] : [`at least ${from}${unit}`];
  return [from === undefined ? `at most ${to}${unit}` : `${from} to ${to}${unit}`];
};

const limitsOf = (schema: JSONSchema): string[] => {
  if (isTime(schema)) return [];
  const { anyOf = [], minLength, maxLength, minimum, maximum, minItems, maxItems } = resolve(schema);
  return [
    ...range(minLength, maxLength, ' characters'),
    ...range(minimum, maximum, ''),
    ...range(minItems, maxItems, ' entries'),
    ...anyOf.flatMap(limitsOf),
  ];
};

const wordsOf = (schema: JSONSchema): readonly unknown[] => {
  const { enum: values, items, anyOf = [] } = resolve(schema);
  return values ?? (items ? wordsOf(items) : anyOf.flatMap(wordsOf));
};

/** The object inside a field: the field itself, or a list's entries. */
const objectIn = (schema: JSONSchema): JSONSchema | undefined => {
  const { properties, items, anyOf = [], additionalProperties } = resolve(schema);
  if (properties) return resolve(schema);
  if (items) return objectIn(items);
  if (additionalProperties?.properties) return additionalProperties;
  return anyOf.map(objectIn).find((each) => each !== undefined);
};

const exampleText = (schema: JSONSchema): string | undefined => {
  const [example] = schema.examples ?? [];
  return example === undefined || typeof example === 'object' || example === '' ? undefined : JSON.stringify(example);
};

/** The fields of the enclosing objects. A recursive schema is shown only once. */
type Ancestors = readonly JSONSchema['properties'][];

const field = (name: string, schema: JSONSchema, isRequired: boolean, anchor: string, ancestors: Ancestors): HTML => {
  const within = objectIn(schema);
  const isNew = within !== undefined && !ancestors.includes(within.properties);
  const words = wordsOf(schema);
  const example = exampleText(resolve(schema));
  const { description } = resolve(schema);
  return html`<div class="field" id="${anchor}">
<div class="field-head"><a class="anchor" href="#${anchor}"><code class="name">${name}</code></a>
<span class="type">${typeOf(schema)}</span>${isRequired ? html` <span class="required">required</span>` : ''}${limitsOf(
    schema,
  ).map((limit) => html` <span class="limit">${limit}</span>`)}</div>
${description ? html`<p>${prose(description)}</p>` : ''}
${words.length > 0 ? html`<p class="words">One of ${words.map((word, index) => html`${index > 0 ? ', ' : ''}<code>${word}</code>`)}</p>` : ''}
${example !== undefined && words.length === 0 ? html`<p class="example">Example: <code>${example}</code></p>` : ''}
${
  isNew
    ? html`<details><summary>Fields of <code>${name}</code></summary>${fieldList(within, anchor, ancestors)}</details>`
    : ''
}
</div>
`;
};

/** An object's fields. `prefix` starts each one's anchor. */
export const fieldList = (schema: JSONSchema, prefix: string, ancestors: Ancestors = []): HTML => {
  const { properties = {}, required = [] } = schema;
  const path = [...ancestors, schema.properties];
  const entries = Object.entries(properties);
  const rank = (name: string): number => (required.includes(name) ? 0 : name === 'tokenUUID' ? 2 : 1);
  // Required fields first. The token comes last, because it is better sent in the header.
  const sorted = entries.toSorted(([one], [other]) => rank(one) - rank(other));
  return html`<div class="fields">${sorted.map(([name, each]) =>
    field(name, each, required.includes(name), `${prefix}-${name}`, path),
  )}</div>`;
};
