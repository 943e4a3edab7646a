/** The measures of the reports: what is counted, and the sum of what was paid where the catalogue has an attribute for it. */
import type { AnswerFor } from '@firsthand/client';
import { computed } from '@preact/signals';
import { currency, revenueAttrID } from './account.ts';
import { attributeName } from './filter.ts';
import { moneyForms, type NumberForms, plainNumbers, roundMoney } from './format.ts';

export type Counts = AnswerFor<'reportTotals'>['total'];

export interface Measure {
  readonly name: 'people' | 'users' | 'sessions' | 'events' | 'revenue';
  readonly label: string;
  readonly hint: string;
  readonly of: (counts: Counts) => number;
  readonly forms: NumberForms;
}

const counted = (name: Exclude<Measure['name'], 'revenue'>, label: string, hint: string): Measure => ({
  name,
  label,
  hint,
  of: (counts) => counts[name],
  forms: plainNumbers,
});

const counts = [
  counted('people', 'People', 'Known people, plus anonymous browsers. Someone with two phones counts once.'),
  counted('users', 'Browsers', 'Distinct browsers.'),
  counted('sessions', 'Sessions', 'All events of a browser without a pause of 30 minutes.'),
  counted('events', 'Events', 'Page views and everything else that was logged.'),
];

/** The first is the default. Reports sum revenue only if they are asked for `revenueAttrID`. */
export const measures = computed((): readonly Measure[] => {
  const attrID = revenueAttrID.value;
  if (attrID === undefined) return counts;
  return [
    ...counts,
    {
      name: 'revenue',
      label: attributeName(attrID),
      hint: `The sum of the attribute ${attrID}.${currency.value ? '' : ' Choose its currency in Settings, Account.'}`,
      of: ({ value }) => value?.sum ?? 0,
      forms: moneyForms.value,
    },
  ];
});

/** The measures to show with some counts. A sum of nothing is left out, unless the reader has chosen it. */
export const measuresOf = (
  chosen: Measure,
  ...counts: readonly (Pick<Counts, 'value'> | undefined)[]
): readonly Measure[] =>
  measures.value.filter(
    ({ name }) => name !== 'revenue' || name === chosen.name || counts.some((each) => each?.value?.sum != null),
  );

/** The measure of that name; the first if there is none. */
export const measureNamed = (name: string | null): Measure =>
  measures.value.find((measure) => measure.name === name) ?? (measures.value[0] as Measure);

/** The heads of the measures in a CSV file: an amount names its currency. */
export const measureHeads = (): string[] =>
  measures.value.map(({ name, label }) =>
    name === 'revenue' && currency.value ? `${label} (${currency.value})` : label,
  );

/** The measures of some counts, in that order. A sum of nothing is no amount. */
export const measured = (counts: Counts | undefined): (number | null | undefined)[] =>
  measures.value.map(({ name, of }) => {
    if (counts === undefined || (name === 'revenue' && counts.value?.sum == null)) return undefined;
    return name === 'revenue' ? roundMoney(of(counts)) : of(counts);
  });

/** A measure of some counts in words. A sum of nothing is no amount. */
export const measureText = (
  { name, of, forms }: Measure,
  counts: Counts,
  form: keyof NumberForms = 'decimal',
): string => (name === 'revenue' && counts.value?.sum == null ? '–' : forms[form](of(counts)));
