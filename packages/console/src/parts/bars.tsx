/** A list of values with bars. */

import { formatShare, formatWhole, moreRows } from '../reading/format.ts';
import { EmptyState } from './small.tsx';

interface Bar {
  readonly key: string;
  /** '' is shown as (empty). */
  readonly label: string;
  readonly count: number;
  readonly href?: string | undefined;
  /** Whether this is the row for events without a value. */
  readonly isRest?: boolean;
  /** The link's tooltip. */
  readonly hint?: string | undefined;
}

interface BarsProps {
  readonly bars: readonly Bar[];
  /** The total from which shares are computed. */
  readonly total: number;
  /** The header of the count column. */
  readonly unit: string;
  readonly header: string;
  /** The values that are not shown: how many, their total count if known, and a link to all values. */
  readonly others?:
    | { readonly groups?: number; readonly count: number; readonly href?: string | undefined }
    | undefined;
  /** The text if there are no bars. */
  readonly emptyText?: string;
}

export const Bars = ({ bars, total, unit, header, others, emptyText = 'No data in this range' }: BarsProps) => {
  if (bars.length === 0) return <EmptyState title={emptyText} />;
  const othersLabel = others?.groups === undefined ? 'Others' : moreRows(others.groups);
  const max = Math.max(...bars.map(({ count }) => count), 1);
  return (
    <table class="bars">
      <thead>
        <tr>
          <th scope="col">{header}</th>
          <th scope="col" class="number">
            {unit}
          </th>
        </tr>
      </thead>
      <tbody>
        {bars.map(({ key, label: text, count, href, hint, isRest }) => {
          const label = text || '(empty)';
          return (
            <tr key={key} class={isRest ? 'rest' : undefined}>
              <th scope="row">
                <span class="bar" style={{ width: `${(count / max) * 100}%` }} />
                {href === undefined ? (
                  <span class="bar-label" title={label}>
                    {label}
                  </span>
                ) : (
                  <a class="bar-label" href={href} title={hint ?? label}>
                    {label}
                  </a>
                )}
              </th>
              <td class="number">
                {formatWhole(count)} <span class="share">{total > 0 ? formatShare(count / total) : ''}</span>
              </td>
            </tr>
          );
        })}
      </tbody>
      {others && (
        <tfoot>
          <tr>
            <th scope="row">
              {others.href === undefined ? (
                <span class="bar-label">{othersLabel}</span>
              ) : (
                <a class="bar-label" href={others.href} title={`All ${header.toLowerCase()}`}>
                  {othersLabel}
                </a>
              )}
            </th>
            <td class="number">
              {formatWhole(others.count)} <span class="share" />
            </td>
          </tr>
        </tfoot>
      )}
    </table>
  );
};
