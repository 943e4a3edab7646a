const words: Readonly<Record<string, string>> = {
  entryReferrerHost: 'Direct / none',
  'first:utm_campaign': 'No campaign',
  'first:utm_source': 'No source',
  'first:utm_medium': 'No medium',
};

/** What a row of those without a value is called, wherever it is shown. `by`: of reportBreakdown. */
export const withoutValue = (by: string): string => words[by] ?? 'None';
