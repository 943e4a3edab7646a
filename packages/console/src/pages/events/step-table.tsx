/** The steps of a funnel, each with a bar for its share of the first step. */
import { Table } from '../../parts/table.tsx';
import { formatLength, formatShare } from '../../reading/format.ts';
import { NumberLink } from './people-dialog.tsx';

interface StepTableProps {
  readonly names: readonly string[];
  readonly reached: readonly number[];
  /** The median seconds from the first step to each step, if known. */
  readonly medians: readonly (number | null | undefined)[];
  readonly unit: string;
}

export const StepTable = ({ names, reached, medians, unit }: StepTableProps) => {
  const [first = 0] = reached;
  const shareOf = (count: number, whole: number) => (whole === 0 ? '–' : formatShare(count / whole));
  return (
    <div class="step-table">
      <Table
        label="Funnel"
        headers={['Step', unit, 'Share of first step', 'Share of previous step', 'Median time', 'Dropped off']}
        rows={reached.map((count, index) => {
          const name = `Step ${index + 1}, ${names[index] ?? ''}`;
          const following = reached[index + 1];
          const before = reached[index - 1];
          return {
            key: String(index),
            cells: [
              <span key="step" class="step-bar">
                <span>
                  {index + 1}. {names[index]}
                </span>
                <span class="step-track">
                  <span style={{ width: `${(count / Math.max(first, 1)) * 100}%` }} />
                </span>
              </span>,
              <NumberLink key="reached" count={count} chosen={{ reached: index + 1 }} label={`${name}, reached`} />,
              shareOf(count, first),
              before === undefined ? '' : shareOf(count, before),
              medians[index] == null ? (
                ''
              ) : (
                <span title="From the first step">{formatLength(1_000 * medians[index])}</span>
              ),
              following === undefined ? (
                ''
              ) : (
                <NumberLink
                  key="dropped"
                  count={count - following}
                  chosen={{ dropped: index + 1 }}
                  label={`${name}, dropped off`}
                />
              ),
            ],
          };
        })}
      />
    </div>
  );
};
