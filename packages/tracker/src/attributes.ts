import type { limits } from '@firsthand/contract/limits';
import { readJSONText } from './json.ts';
import { note } from './note.ts';

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
  for (const given of parts)
    try {
      if (typeof given === 'string') note('dropped, no attributes:', given);
      else
        for (const key of Object.keys(given as object)) {
          const isEntry = Array.isArray(given);
          const entry = isEntry ? given[key as unknown as number] : given;
          const attrID = readJSONText(isEntry ? entry : { attrID: key }, 'attrID', attrIDLength);
          const attrValue = readJSONText(entry, isEntry ? 'attrValue' : key, attrValueLength);
          if (attrID && attrID !== '""' && attrValue) found[attrID] = `{"attrID":${attrID},"attrValue":${attrValue}}`;
        }
    } catch {}
  return `[${Object.values(found).slice(0, attributesPerEvent)}]`;
};
