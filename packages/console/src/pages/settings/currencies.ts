/** The currencies to choose from: codes of ISO 4217 with their names, sorted by code, and the present one, if the browser does not know it. */
export const currenciesWith = (present: string): readonly (readonly [code: string, name: string])[] => {
  const names = new Intl.DisplayNames(document.documentElement.lang, { type: 'currency' });
  const codes = new Set([...Intl.supportedValuesOf('currency'), ...(present ? [present] : [])]);
  return [...codes].toSorted().map((code) => [code, names.of(code) ?? code]);
};
