const labels: Readonly<Record<string, string>> = {
  entryReferrerHost: 'Direct / none',
  'first:utm_campaign': 'No campaign',
  'first:utm_source': 'No source',
  'first:utm_medium': 'No medium',
};

/** The label of a row without a value. `by` is reportBreakdown's. */
export const withoutValue = (by: string): string => labels[by] ?? 'None';
