/**
 * Attributes of events and contacts in every form that clients send: a list of attributes, an object keyed by attrID,
 * or a single value. Nested objects and lists are flattened to `a.b` and `c.0`; values that exceed the limits are
 * dropped.
 */
import * as z from 'zod';
import {
  attrID,
  attributeMessage,
  attrValue,
  coerced,
  distinctAttributes,
  fromJSON,
  isCatalogueID,
  isExact,
  isStorable,
  orJSON,
} from './fields.ts';
import { limits } from './limits.ts';

interface SentAttribute {
  readonly attrID: string;
  readonly attrValue: unknown;
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The attrID for a single value that is sent instead of attributes. */
const singleID = 'value';

/**
 * Converts any accepted form to a list of attributes. Malformed JSON text is returned unchanged, for validation to
 * reject.
 */
const toList = (sent: unknown): unknown => {
  if (Array.isArray(sent) || sent === undefined || sent === null) return sent;
  if (typeof sent === 'string' && /^\s*[[{]/.test(sent)) return sent;
  if (!isNested(sent)) return [{ attrID: singleID, attrValue: sent }];
  if ('attrID' in sent && 'attrValue' in sent) return [sent];
  return Object.entries(sent)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => ({ attrID: name, attrValue: value }));
};

/** The stored text of a scalar; undefined for other values. */
const textOf = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value;
  return typeof value === 'boolean' || isExact(value) ? String(value) : undefined;
};

const fits = (id: string, value: string | undefined): value is string =>
  value !== undefined &&
  id.length <= limits.attrIDLength &&
  value.length <= limits.attrValueLength &&
  isCatalogueID(id) &&
  isStorable(id) &&
  isStorable(value);

/** The maximum number of dropped attributes that are listed. */
const maxDropped = 20;

/**
 * Flattens nested values and drops null members. An attribute that was sent flat takes precedence over a nested one
 * that flattens to the same attrID. `dropped` lists the attrIDs of members that exceed the limits.
 */
const flatten = (sent: readonly SentAttribute[]): { readonly flat: SentAttribute[]; readonly dropped: string[] } => {
  const own = sent.filter(({ attrValue: value }) => !isNested(value));
  const taken = new Set(own.map(({ attrID: id }) => id));
  const flat: SentAttribute[] = [];
  const dropped: string[] = [];
  let free = limits.attributesPerEvent - own.length;
  const add = (id: string, value: unknown): void => {
    if (value === null || (free <= 0 && dropped.length >= maxDropped)) return;
    // Each level lengthens the attrID, so this also bounds the depth.
    if (isNested(value) && id.length <= limits.attrIDLength) {
      const names = Object.keys(value);
      for (const name of names) add(`${id}.${name}`, (value as Record<string, unknown>)[name]);
      if (names.length > 0) return;
    }
    const text = textOf(value);
    if (free > 0 && fits(id, text) && !taken.has(id)) {
      taken.add(id);
      free -= 1;
      flat.push({ attrID: id, attrValue: text });
    } else if (dropped.length < maxDropped) dropped.push(id.slice(0, limits.attrIDLength));
  };
  for (const attribute of sent) {
    if (isNested(attribute.attrValue)) add(attribute.attrID, attribute.attrValue);
    else flat.push(attribute);
  }
  return { flat, dropped };
};

/** The attrIDs of nested values that are not stored. */
export const findDroppedAttributes = (sent: unknown): string[] => {
  const entries = toList(fromJSON(sent));
  const isSent = (entry: unknown): entry is SentAttribute =>
    isNested(entry) && 'attrID' in entry && typeof entry.attrID === 'string' && 'attrValue' in entry;
  if (!Array.isArray(entries) || !entries.some((entry) => isSent(entry) && isNested(entry.attrValue))) return [];
  return flatten(entries.filter(isSent)).dropped;
};

/** A value that may be nested. Scalars are checked and converted by `attrValue`. */
const nestable = z.any().check((payload) => {
  if (isNested(payload.value)) return;
  const result = attrValue.safeParse(payload.value);
  if (result.success) payload.value = result.data;
  else
    payload.issues.push({ code: 'custom', message: result.error.issues[0]?.message as string, input: payload.value });
});

const attribute = z.object(
  { attrID, attrValue: nestable.meta(attrValue.meta() ?? {}) as unknown as typeof attrValue },
  attributeMessage,
);

type Attribute = z.output<typeof attribute>;
type AttributeInput = z.input<typeof attribute>;

/** Attributes in any accepted form, each attrID at most once; the output is flat. */
export const attributes = orJSON(
  coerced<readonly AttributeInput[], Attribute[]>(
    toList,
    distinctAttributes(attribute).overwrite((sent) => flatten(sent).flat as Attribute[]),
  ),
);
