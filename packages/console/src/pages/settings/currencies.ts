/** ISO 4217 codes with their names, sorted by code. Includes the current code even if the browser does not know it. */
export const listCurrencies = (current: string): readonly (readonly [code: string, name: string])[] => {
  const names = new Intl.DisplayNames(document.documentElement.lang, { type: 'currency' });
  const codes = new Set([...Intl.supportedValuesOf('currency'), ...(current ? [current] : [])]);
  return [...codes].toSorted().map((code) => [code, names.of(code) ?? code]);
};
