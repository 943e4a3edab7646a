import type { limits } from '@firsthand/contract/limits';
import { countDropped } from '../delivery/queue.ts';
import { demand, guard } from '../guard.ts';
import { warn } from '../warn.ts';
import { toJSONText } from './json.ts';

/**
 * A value of an attribute. It is stored as text; null and undefined are left out. The service flattens objects and lists to attributes
 * such as `size.cm` and `tags.0`.
 */
export type AttributeValue =
  | (string | number | boolean | bigint | Date | null | undefined)
  | readonly unknown[]
  | { readonly [name: string]: unknown };

type NoValue = ((...args: never) => unknown) | symbol | { readonly addEventListener: unknown };

type AttributeArray = readonly { readonly attrID: string; readonly attrValue: AttributeValue }[];

/** Attributes as an object by attrID, or as the array of the REST interface. */
export type Attributes = { readonly [attrID: string]: AttributeValue } | AttributeArray;

/** What `Attrs` has to be to count as attributes. Unlike `Attributes` it accepts interfaces, which have no index signature. */
export type AttributesOf<Attrs> = Attrs extends readonly unknown[]
  ? AttributeArray
  : { readonly [AttrID in keyof Attrs]: ValueOf<Attrs[AttrID]> };

/**
 * What `Value` has to be to count as a value of an attribute: neither a function nor an element. One condition only, because the
 * compiler must take the types of both module formats for the same.
 */
export type ValueOf<Value> = Value extends NoValue ? never : Value;

/**
 * The attribute array of the REST interface, as JSON. Never throws: values that can't be text are left out. Long text is cut, and
 * the last value of a repeated attrID counts, because the service would refuse the whole event for either. Objects and lists are written
 * as they are: the service flattens them, which costs each page 28 bytes instead of 67. What is no object becomes the attribute `value`.
 */
export const toAttributesJSON = (...parts: unknown[]): string => {
  // The values of `limits`, checked by their types, because importing the object would add all of it to the bundle. Constants
  // are inside functions, here as elsewhere, because esbuild inlines them only there.
  const attributesPerEvent: (typeof limits)['attributesPerEvent'] = 100;
  const attrIDLength: (typeof limits)['attrIDLength'] = 64;
  const attrValueLength: (typeof limits)['attrValueLength'] = 2_048;
  // The keys are JSON text with its quotes, so none of them is `__proto__`.
  const found: Record<string, string> = {};
  const addPart = guard((part: unknown) => {
    const attributes = (Object(part) === part ? part : { value: part }) as Record<string, unknown>;
    const add = guard((key: string) => {
      let attrID: unknown = key;
      let attrValue = attributes[key];
      if (Array.isArray(attributes)) ({ attrID, attrValue } = attrValue as { attrID: unknown; attrValue: unknown });
      demand(attrID, 'no text');
      if (attrValue == null) return;
      attrID = toJSONText(attrID, attrIDLength);
      found[attrID as string] = `{"attrID":${attrID},"attrValue":${
        Array.isArray(attrValue) || `${attrValue}` === '[object Object]'
          ? JSON.stringify(attrValue)
          : toJSONText(attrValue, attrValueLength)
      }}`;
    });
    for (const key of Object.keys(attributes)) add(key);
  });
  for (const part of parts) addPart(part);
  const all = Object.values(found);
  if (all[attributesPerEvent]) {
    countDropped();
    warn('cut');
  }
  return `[${all.slice(0, attributesPerEvent)}]`;
};
