import type { limits } from '@firsthand/contract/limits';
import { demand, guard } from './guard.ts';
import { toJSONText } from './json.ts';

/** What may be given as a value; it is sent as text. null and undefined are left out. */
export type AttributeValue = string | number | boolean | bigint | Date | null | undefined;

/** Attributes as an object by attrID, or as the interface's array. */
export type Attributes =
  | { readonly [attrID: string]: AttributeValue }
  | readonly { readonly attrID: string; readonly attrValue: AttributeValue }[];

/**
 * The interface's attribute array, as JSON. Never throws: what can't be text is left out. Text is cut to the service's
 * limits, and of an attrID given twice the last wins: for either the service would refuse the whole event.
 */
export const toAttributesJSON = (...parts: unknown[]): string => {
  // The values of `limits`, checked by their types: importing the object itself would carry all of it along. Constants
  // are inside functions, here as elsewhere, because esbuild writes them out only there.
  const attributesPerEvent: (typeof limits)['attributesPerEvent'] = 100;
  const attrIDLength: (typeof limits)['attrIDLength'] = 64;
  const attrValueLength: (typeof limits)['attrValueLength'] = 2_048;
  // Its keys are in JSON's quotes, so none of them is `__proto__`.
  const found: Record<string, string> = {};
  parts.map(
    guard((given) => {
      demand(!given || Object(given) === given, 'no attributes');
      Object.keys(given || {}).map(
        guard((key) => {
          let attrID: unknown = key;
          let attrValue = (given as Record<string, unknown>)[key];
          if (Array.isArray(given)) ({ attrID, attrValue } = attrValue as { attrID: unknown; attrValue: unknown });
          if (attrID === '' || attrValue == null) return;
          attrID = toJSONText(attrID, attrIDLength);
          found[attrID as string] = `{"attrID":${attrID},"attrValue":${toJSONText(attrValue, attrValueLength)}}`;
        }),
      );
    }),
  );
  return `[${Object.values(found).slice(0, attributesPerEvent)}]`;
};
