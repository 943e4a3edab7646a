/** A report's measures as tabs, each with its value and its change from the previous period. */
import { hrefWith } from '../address.ts';
import { formatChange, formatDays } from '../reading/format.ts';
import { type Measure, measuresOf, measureText } from '../reading/measures.ts';
import type { Totals } from './plot/totals-plot.tsx';

export const MeasureTabs = ({ chosen, totals }: { readonly chosen: Measure; readonly totals: Totals }) => {
  const { total, earlier } = totals;
  return (
    <>
      <nav class="measures" aria-label="Measure">
        {measuresOf(chosen, total, earlier?.total).map((measure, index) => {
          const { name, label, hint, getValue } = measure;
          const change = earlier && formatChange(getValue(total), getValue(earlier.total));
          return (
            <a
              key={name}
              href={hrefWith({ measure: index === 0 ? null : name })}
              aria-current={name === chosen.name ? 'true' : undefined}
              title={hint}
            >
              <span class="measure-label">{label}</span>
              <strong title={measureText(measure, total)}>{measureText(measure, total, 'short')}</strong>
              {change && <span class={`change ${change.startsWith('−') ? 'change-down' : 'change-up'}`}>{change}</span>}
              {earlier && <span class="before">{measure.forms.decimal(getValue(earlier.total))} before</span>}
            </a>
          );
        })}
      </nav>
      {earlier && (
        <p class="soft compared">
          {formatDays(totals.from, totals.to)}, compared with {formatDays(earlier.from, earlier.to)}
        </p>
      )}
    </>
  );
};
