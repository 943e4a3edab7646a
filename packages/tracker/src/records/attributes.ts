import type { limits } from '@firsthand/contract/limits';
import { countDropped } from '../delivery/queue.ts';
import { demand, guard } from '../guard.ts';
import { toJSONText } from './json.ts';

/** A value of an attribute. It is sent as text; null and undefined are left out. */
export type AttributeValue = string | number | boolean | bigint | Date | null | undefined;

type AttributeArray = readonly { readonly attrID: string; readonly attrValue: AttributeValue }[];

/** Attributes as an object by attrID, or as the array of the REST interface. */
export type Attributes = { readonly [attrID: string]: AttributeValue } | AttributeArray;

/** What `Attrs` has to be to count as attributes. Unlike `Attributes` it accepts interfaces, which have no index signature. */
export type AttributesOf<Attrs> = Attrs extends readonly unknown[]
  ? AttributeArray
  : { readonly [AttrID in keyof Attrs]: AttributeValue };

/**
 * The attribute array of the REST interface, as JSON. Never throws: values that can't be text are left out. Long text is cut, and
 * the last value of a repeated attrID counts, because the service would refuse the whole event for either.
 */
export const toAttributesJSON = (...parts: unknown[]): string => {
  // The values of `limits`, checked by their types, because importing the object would add all of it to the bundle. Constants
  // are inside functions, here as elsewhere, because esbuild inlines them only there.
  const attributesPerEvent: (typeof limits)['attributesPerEvent'] = 100;
  const attrIDLength: (typeof limits)['attrIDLength'] = 64;
  const attrValueLength: (typeof limits)['attrValueLength'] = 2_048;
  // The keys are JSON text with its quotes, so none of them is `__proto__`.
  const found: Record<string, string> = {};
  const addPart = guard((given: unknown) => {
    const attributes = given || {};
    demand(Object(attributes) === attributes, 'no attributes');
    const add = guard((key: string) => {
      let attrID: unknown = key;
      let attrValue = (given as Record<string, unknown>)[key];
      if (Array.isArray(given)) ({ attrID, attrValue } = attrValue as { attrID: unknown; attrValue: unknown });
      if (attrID === '' || attrValue == null) return;
      attrID = toJSONText(attrID, attrIDLength);
      found[attrID as string] = `{"attrID":${attrID},"attrValue":${toJSONText(attrValue, attrValueLength)}}`;
    });
    for (const key of Object.keys(attributes)) add(key);
  });
  for (const part of parts) addPart(part);
  const all = Object.values(found);
  if (all[attributesPerEvent]) countDropped('cut');
  return `[${all.slice(0, attributesPerEvent)}]`;
};
