const labels: Readonly<Record<string, string>> = {
  entryReferrerHost: 'Direct / none',
  firstReferrerHost: 'Direct / none',
  utm_campaign: 'No campaign',
  utm_source: 'No source',
  utm_medium: 'No medium',
};

/** The label for a row without a value. `by` is the field of a reportBreakdown request. */
export const getMissingValueLabel = (by: string): string => labels[by.replace(/^(?:person:)?first:/, '')] ?? 'None';
