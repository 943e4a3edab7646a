/** A line chart over intervals, with its notes and an equivalent table for screen readers. */
import { formatTime } from '../../reading/format.ts';
import { findNotes, useNotes } from '../../reading/notes.ts';
import { type Interval, range } from '../../reading/range.ts';
import { isShared } from '../../reading/shared.ts';
import type { Lines } from './draw.ts';
import { Notes } from './notes.tsx';
import { PlotCanvas } from './plot-canvas.tsx';

interface TimeSpan {
  readonly from: string;
  readonly to: string;
}

/** Whether the last interval is not over yet. */
const isLastOpen = (intervals: readonly TimeSpan[]): boolean =>
  intervals.length > 1 && (range.value.to === undefined || Date.parse(intervals.at(-1)?.to ?? '') > Date.now());

const tickForms = { hour: 'time', day: 'day', week: 'day', month: 'month' } as const;
export const labelForms = { hour: 'hour', day: 'weekday', week: 'weekday', month: 'month' } as const;

interface PlotProps extends Pick<Lines, 'lines' | 'forms'> {
  readonly title: string;
  readonly interval: Interval;
  readonly intervals: readonly TimeSpan[];
}

export const Plot = ({ title, interval, intervals, lines, forms }: PlotProps) => {
  const isOpen = isLastOpen(intervals);
  const notes = useNotes(intervals, isOpen);
  const labels = intervals.map(({ from }) => formatTime(from, labelForms[interval]));
  const cellOf = (value: number | null | undefined): string => (value == null ? '' : forms.decimal(value));
  return (
    <figure class="plot">
      <PlotCanvas
        {...{ title, labels, lines, forms, isOpen }}
        ticks={intervals.map(({ from }) => formatTime(from, tickForms[interval]))}
        notes={findNotes(notes.value, intervals)}
      />
      {!isShared && <Notes notes={notes} />}
      {/* A table can't be clipped below the height of its rows, so the hidden element is a wrapper. */}
      <div class="unseen">
        <table>
          <caption>{title}</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {lines.map(({ label }) => (
                <th key={label} scope="col">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {labels.map((label, index) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                {lines.map(({ label: line, values }) => (
                  <td key={line}>{cellOf(values[index])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
};
