/** The measures of a report as tabs: each with its count, and how it changed since the earlier range. */
import { hrefWith } from '../address.ts';
import { formatChange, type NumberForms, plainNumbers } from '../reading/format.ts';
import type { Counts, Totals } from './plot/totals-plot.tsx';

export interface Measure {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly of: (counts: Counts) => number;
  /** How its numbers are written, if not as plain ones. */
  readonly forms?: NumberForms;
}

interface MeasureTabsProps {
  readonly measures: readonly Measure[];
  readonly chosen: string;
  readonly totals: Totals;
}

export const MeasureTabs = ({ measures, chosen, totals }: MeasureTabsProps) => (
  <nav class="measures" aria-label="Measure">
    {measures.map(({ name, label, hint, of, forms = plainNumbers }, index) => {
      const now = of(totals.total);
      const change = totals.earlier && formatChange(now, of(totals.earlier.total));
      return (
        <a
          key={name}
          href={hrefWith({ measure: index === 0 ? null : name })}
          aria-current={name === chosen ? 'true' : undefined}
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
