/** The time zones, sorted. `supportedValuesOf` omits UTC and deprecated names, so UTC and the current one are added. */
export const listTimeZones = (current: string): readonly string[] =>
  [...new Set(['UTC', current, ...Intl.supportedValuesOf('timeZone')])].toSorted();
