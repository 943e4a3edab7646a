/** Describes a browser by the labels on its events. */

type Attributes = readonly { readonly attrID: string; readonly attrValue: string }[];

/** Shorter forms of names that are too long for a column. */
const shortNames: ReadonlyMap<string, string> = new Map([
  ['Microsoft Edge', 'Edge'],
  ['Samsung Internet for Android', 'Samsung Internet'],
]);

/** A label's first value; '' if absent. */
export const labelIn = (attributes: Attributes, label: string): string =>
  attributes.find(({ attrID }) => attrID === label)?.attrValue ?? '';

/** `Chrome on Android`; '' if unknown. */
export const programIn = (attributes: Attributes): string => {
  const browser = labelIn(attributes, '$browser');
  return [shortNames.get(browser) ?? browser, labelIn(attributes, '$os')].filter(Boolean).join(' on ');
};

/** `Phone · Chrome on Android`; '' if unknown. */
export const browserIn = (attributes: Attributes): string => {
  const device = labelIn(attributes, '$device');
  return [device.charAt(0).toUpperCase() + device.slice(1), programIn(attributes)].filter(Boolean).join(' · ');
};
