/** The plot of one measure of reportTotals by interval, with the earlier range behind it. */
import type { AnswerFor } from '@firsthand/client';
import { formatTime, type NumberForms, plainNumbers } from '../../reading/format.ts';
import { type Interval, range } from '../../reading/range.ts';
import { Plot } from './plot.tsx';

export type Totals = AnswerFor<'reportTotals'>;
export type Counts = Totals['total'];

const tickForms = { hour: 'time', day: 'day', week: 'day', month: 'month' } as const;
const labelForms = { hour: 'hour', day: 'weekday', week: 'weekday', month: 'month' } as const;

interface TotalsPlotProps {
  readonly totals: Totals;
  /** The name of the measure. */
  readonly label: string;
  readonly of: (counts: Counts) => number;
  readonly interval: Interval;
  /** How its numbers are written, if not as plain ones. */
  readonly forms?: NumberForms | undefined;
}

export const TotalsPlot = ({ totals, label, of, interval, forms = plainNumbers }: TotalsPlotProps) => {
  const intervals = totals.interval ?? [];
  const earlier = totals.earlier?.interval;
  const valuesOf = (list: typeof intervals) => intervals.map((_, index) => (list[index] ? of(list[index]) : null));
  return (
    <Plot
      title={`${label} by ${interval}`}
      forms={forms}
      isOpen={range.value.to === undefined && intervals.length > 1}
      labels={intervals.map(({ from }) => formatTime(from, labelForms[interval]))}
      ticks={intervals.map(({ from }) => formatTime(from, tickForms[interval]))}
      lines={[
        ...(earlier ? [{ label: 'Earlier', values: valuesOf(earlier), isEarlier: true }] : []),
        { label, values: valuesOf(intervals) },
      ]}
    />
  );
};
