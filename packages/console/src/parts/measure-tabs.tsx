/** The measures of a report as tabs: each with its count, and how it changed since the earlier range. */
import { hrefWith } from '../address.ts';
import { formatChange } from '../reading/format.ts';
import { type Measure, measures, measureText } from '../reading/measures.ts';
import type { Totals } from './plot/totals-plot.tsx';

export const MeasureTabs = ({ chosen, totals }: { readonly chosen: Measure; readonly totals: Totals }) => (
  <nav class="measures" aria-label="Measure">
    {measures.value.map((measure, index) => {
      const { name, label, hint, of } = measure;
      const now = of(totals.total);
      const change = totals.earlier && formatChange(now, of(totals.earlier.total));
      return (
        <a
          key={name}
          href={hrefWith({ measure: index === 0 ? null : name })}
          aria-current={name === chosen.name ? 'true' : undefined}
          title={hint}
        >
          <span class="measure-label">{label}</span>
          <strong title={measureText(measure, totals.total)}>{measureText(measure, totals.total, 'short')}</strong>
          {change && <span class={`change ${change.startsWith('−') ? 'change-down' : 'change-up'}`}>{change}</span>}
        </a>
      );
    })}
  </nav>
);
