/** A plot of one reportTotals measure by interval, with the previous period behind it. */
import type { ResponseFor } from '@firsthand/client';
import { formatTime } from '../../reading/format.ts';
import type { Measure } from '../../reading/measures.ts';
import { type Interval, range } from '../../reading/range.ts';
import { earlierLabel } from '../range-words.ts';
import { Plot } from './plot.tsx';

export type Totals = ResponseFor<'reportTotals'>;

/** Whether the last interval is not over yet. */
export const isLastOpen = (intervals: readonly { readonly to: string }[]): boolean =>
  intervals.length > 1 && (range.value.to === undefined || Date.parse(intervals.at(-1)?.to ?? '') > Date.now());

export const tickForms = { hour: 'time', day: 'day', week: 'day', month: 'month' } as const;
export const labelForms = { hour: 'hour', day: 'weekday', week: 'weekday', month: 'month' } as const;

interface TotalsPlotProps {
  readonly totals: Totals;
  readonly measure: Measure;
  readonly interval: Interval;
}

export const TotalsPlot = ({ totals, measure: { label, getValue, forms }, interval }: TotalsPlotProps) => {
  const intervals = totals.interval ?? [];
  const earlier = totals.earlier?.interval;
  const valuesOf = (list: typeof intervals) =>
    intervals.map((_, index) => (list[index] ? getValue(list[index]) : null));
  return (
    <Plot
      title={`${label} by ${interval}`}
      forms={forms}
      isOpen={isLastOpen(intervals)}
      labels={intervals.map(({ from }) => formatTime(from, labelForms[interval]))}
      ticks={intervals.map(({ from }) => formatTime(from, tickForms[interval]))}
      lines={[
        ...(earlier
          ? [
              {
                label: earlierLabel(),
                labels: earlier.map(({ from }) => formatTime(from, labelForms[interval])),
                values: valuesOf(earlier),
                isEarlier: true,
              },
            ]
          : []),
        { label, values: valuesOf(intervals) },
      ]}
    />
  );
};
