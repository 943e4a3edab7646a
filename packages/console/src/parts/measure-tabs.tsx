/** The measures of a report as tabs: each with its count, and how it changed since the earlier range. */
import { hrefWith } from '../address.ts';
import { formatChange } from '../reading/format.ts';
import { type Measure, measures } from '../reading/measures.ts';
import type { Totals } from './plot/totals-plot.tsx';

export const MeasureTabs = ({ chosen, totals }: { readonly chosen: Measure; readonly totals: Totals }) => (
  <nav class="measures" aria-label="Measure">
    {measures.value.map(({ name, label, hint, of, forms }, index) => {
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
          <strong title={forms.decimal(now)}>{forms.short(now)}</strong>
          {change && <span class={`change ${change.startsWith('−') ? 'change-down' : 'change-up'}`}>{change}</span>}
        </a>
      );
    })}
  </nav>
);
