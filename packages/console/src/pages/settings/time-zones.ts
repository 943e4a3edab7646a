/** The time zones to choose from, sorted. Browsers leave out UTC and the older names, so UTC and the present one are added. */
export const zonesWith = (present: string): readonly string[] =>
  [...new Set(['UTC', present, ...Intl.supportedValuesOf('timeZone')])].toSorted();
