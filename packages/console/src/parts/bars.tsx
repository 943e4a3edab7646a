/** A list of values with a bar each, as long as their share of the greatest. */

import { formatShare, formatWhole, moreRows } from '../reading/format.ts';
import { Empty } from './small.tsx';

interface Bar {
  readonly key: string;
  /** '' is written as (empty). */
  readonly label: string;
  readonly count: number;
  /** Where a click leads. */
  readonly href?: string | undefined;
  /** Whether it counts those without a value. */
  readonly isRest?: boolean;
  /** What a click does, in words. */
  readonly hint?: string | undefined;
}

interface BarsProps {
  readonly bars: readonly Bar[];
  /** What all counts are a part of. */
  readonly total: number;
  /** What is counted, as the head of its column. */
  readonly unit: string;
  readonly what: string;
  /** What further values count together, how many there are, and where all are seen, as far as that is known. */
  readonly others?:
    | { readonly groups?: number; readonly count: number; readonly href?: string | undefined }
    | undefined;
  /** What to say when there is no bar. */
  readonly none?: string;
}

export const Bars = ({ bars, total, unit, what, others, none = 'Nothing in this range' }: BarsProps) => {
  if (bars.length === 0) return <Empty title={none} />;
  const further = others?.groups === undefined ? 'Others' : moreRows(others.groups);
  const most = Math.max(...bars.map(({ count }) => count), 1);
  return (
    <table class="bars">
      <thead>
        <tr>
          <th scope="col">{what}</th>
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
                <span class="bar" style={{ width: `${(count / most) * 100}%` }} />
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
                <span class="bar-label">{further}</span>
              ) : (
                <a class="bar-label" href={others.href} title={`All ${what.toLowerCase()}`}>
                  {further}
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
