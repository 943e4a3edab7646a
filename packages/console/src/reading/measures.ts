/** The report measures: counts and, if the catalogue has an attribute for it, revenue. */
import type { ResponseFor } from '@firsthand/client';
import { computed } from '@preact/signals';
import { currency, revenueAttrID } from './account.ts';
import { attributeName } from './filter.ts';
import { currencyFormats, type NumberForms, plainNumbers, roundMoney } from './format.ts';

export type Counts = ResponseFor<'reportTotals'>['total'];

export interface Measure {
  readonly name: 'people' | 'users' | 'sessions' | 'events' | 'revenue';
  readonly label: string;
  readonly hint: string;
  readonly getValue: (counts: Counts) => number;
  readonly forms: NumberForms;
}

const countMeasure = (name: Exclude<Measure['name'], 'revenue'>, label: string, hint: string): Measure => ({
  name,
  label,
  hint,
  getValue: (counts) => counts[name],
  forms: plainNumbers,
});

const counts = [
  countMeasure('people', 'People', 'Known people, plus anonymous browsers. Someone with two phones counts once.'),
  countMeasure('users', 'Browsers', 'Distinct browsers.'),
  countMeasure('sessions', 'Sessions', 'Visits: a session ends after 30 minutes without an event.'),
  countMeasure('events', 'Events', 'Page views and everything else that was logged.'),
];

/** The first measure is the default. Reports sum revenue only if the request contains `revenueAttrID`. */
export const measures = computed((): readonly Measure[] => {
  const attrID = revenueAttrID.value;
  if (attrID === undefined) return counts;
  return [
    ...counts,
    {
      name: 'revenue',
      label: attributeName(attrID),
      hint: `The sum of the attribute ${attrID}.${currency.value ? '' : ' Choose its currency in Settings › Account.'}`,
      getValue: ({ value }) => value?.sum ?? 0,
      forms: currencyFormats.value,
    },
  ];
});

/** The measures to show for these counts. If there is no revenue, it is omitted unless it is the chosen measure. */
export const measuresOf = (
  chosen: Measure,
  ...counts: readonly (Pick<Counts, 'value'> | undefined)[]
): readonly Measure[] =>
  measures.value.filter(
    ({ name }) => name !== 'revenue' || name === chosen.name || counts.some((each) => each?.value?.sum != null),
  );

/** The measure with this name; the first one by default. */
export const findMeasure = (name: string | null): Measure =>
  measures.value.find((measure) => measure.name === name) ?? (measures.value[0] as Measure);

/** The CSV headers of the measures. Revenue includes its currency. */
export const measureHeaders = (): string[] =>
  measures.value.map(({ name, label }) =>
    name === 'revenue' && currency.value ? `${label} (${currency.value})` : label,
  );

/** The values of all measures, in order. If there is no revenue, its value is undefined. */
export const measureValues = (counts: Counts | undefined): (number | null | undefined)[] =>
  measures.value.map(({ name, getValue }) => {
    if (counts === undefined || (name === 'revenue' && counts.value?.sum == null)) return undefined;
    return name === 'revenue' ? roundMoney(getValue(counts)) : getValue(counts);
  });

/** Formats one measure. If there is no revenue, returns a dash. */
export const measureText = (
  { name, getValue, forms }: Measure,
  counts: Counts,
  form: keyof NumberForms = 'decimal',
): string => (name === 'revenue' && counts.value?.sum == null ? '–' : forms[form](getValue(counts)));
