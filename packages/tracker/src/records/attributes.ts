import type { limits } from '@firsthand/contract/limits';
import { countDropped } from '../delivery/queue.ts';
import { demand, guard } from '../guard.ts';
import { warn } from '../warn.ts';
import { toJSONText } from './json.ts';

/**
 * An attribute's value, which is stored as text; null and undefined are left out. The service flattens objects and
 * lists to attributes such as `size.cm` and `tags.0`.
 */
export type AttributeValue =
  | (string | number | boolean | bigint | Date | null | undefined)
  | readonly unknown[]
  | { readonly [name: string]: unknown };

type NoValue = ((...args: never) => unknown) | symbol | { readonly addEventListener: unknown };

type AttributeArray = readonly { readonly attrID: string; readonly attrValue: AttributeValue }[];

/** Attributes as an object keyed by attrID, or as the REST API's array. */
export type Attributes = { readonly [attrID: string]: AttributeValue } | AttributeArray;

/**
 * The type that attributes of the type `Attrs` must match. Unlike `Attributes`, it accepts interfaces, which have no
 * index signature.
 */
export type AttributesOf<Attrs> = Attrs extends readonly unknown[]
  ? AttributeArray
  : { readonly [AttrID in keyof Attrs]: ValueOf<Attrs[AttrID]> };

/**
 * The type that an attribute's value of the type `Value` must match: neither a function nor an element. It is a single
 * conditional type, because the compiler must treat the types of both module formats as the same.
 */
export type ValueOf<Value> = Value extends NoValue ? never : Value;

/**
 * Returns the REST API's attribute array, as JSON. A value that is not an object becomes the attribute `value`.
 *
 * Never throws: it leaves out values that have no text, cuts long text and uses the last value of a duplicate attrID.
 * Otherwise, the service would refuse the whole event.
 */
export const toAttributesJSON = (...parts: unknown[]): string => {
  // Copies of `limits`, checked by their types, because importing the object would add all of it to the bundle. They
  // are inside the function, because esbuild inlines constants only there.
  const attributesPerEvent: (typeof limits)['attributesPerEvent'] = 100;
  const attrIDLength: (typeof limits)['attrIDLength'] = 64;
  const attrValueLength: (typeof limits)['attrValueLength'] = 2_048;
  // Keys are JSON strings with their quotes, so no key is `__proto__`.
  const entries: Record<string, string> = {};
  const addPart = guard((part: unknown) => {
    const attributes = (Object(part) === part ? part : { value: part }) as Record<string, unknown>;
    const add = guard((key: string) => {
      let attrID: unknown = key;
      let attrValue = attributes[key];
      if (Array.isArray(attributes)) ({ attrID, attrValue } = attrValue as { attrID: unknown; attrValue: unknown });
      demand(attrID, 'no text');
      if (attrValue == null) return;
      attrID = toJSONText(attrID, attrIDLength);
      // The service flattens objects and lists: writing them unchanged costs the script 28 bytes; flattening them cost
      // 67.
      entries[attrID as string] = `{"attrID":${attrID},"attrValue":${
        Array.isArray(attrValue) || `${attrValue}` === '[object Object]'
          ? JSON.stringify(attrValue)
          : toJSONText(attrValue, attrValueLength)
      }}`;
    });
    for (const key of Object.keys(attributes)) add(key);
  });
  for (const part of parts) addPart(part);
  const items = Object.values(entries);
  if (items[attributesPerEvent]) {
    countDropped();
    warn('cut');
  }
  return `[${items.slice(0, attributesPerEvent)}]`;
};
