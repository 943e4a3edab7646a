/** What the labels of events say of the browser that they came from. */

type Attributes = readonly { readonly attrID: string; readonly attrValue: string }[];

/** Names that are longer than a column of a list. */
const shortNames: ReadonlyMap<string, string> = new Map([
  ['Microsoft Edge', 'Edge'],
  ['Samsung Internet for Android', 'Samsung Internet'],
]);

/** The first value of a label; '' if there is none. */
export const labelIn = (attributes: Attributes, label: string): string =>
  attributes.find(({ attrID }) => attrID === label)?.attrValue ?? '';

/** `Chrome on Android`; '' if nothing is known. */
export const programIn = (attributes: Attributes): string => {
  const browser = labelIn(attributes, '$browser');
  return [shortNames.get(browser) ?? browser, labelIn(attributes, '$os')].filter(Boolean).join(' on ');
};

/** `Phone · Chrome on Android`; '' if nothing is known. */
export const browserIn = (attributes: Attributes): string => {
  const device = labelIn(attributes, '$device');
  return [device.charAt(0).toUpperCase() + device.slice(1), programIn(attributes)].filter(Boolean).join(' · ');
};
