/** A plot of one reportTotals measure by interval, with the previous period behind it. */
import type { ResponseFor } from '@firsthand/client';
import { formatTime } from '../../reading/format.ts';
import type { Measure } from '../../reading/measures.ts';
import type { Interval } from '../../reading/range.ts';
import { earlierLabel } from '../range-words.ts';
import { labelForms, Plot } from './plot.tsx';

export type Totals = ResponseFor<'reportTotals'>;

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
      {...{ forms, interval, intervals }}
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
