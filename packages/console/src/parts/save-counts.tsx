/** Buttons that save a report as CSV: its intervals, or the rows of a breakdown. */
import type { ResponseFor } from '@firsthand/client';
import { moreRows } from '../reading/format.ts';
import { type Counts, measureHeaders, measureValues } from '../reading/measures.ts';
import { isShared } from '../reading/shared.ts';
import { toFile } from './csv.ts';
import { SaveCSV, SaveFile } from './save-csv.tsx';

type CountedRow = readonly [label: string, counts: Counts];

interface SaveCountsProps {
  readonly title: string;
  /** The header of the first column. */
  readonly header: string;
  readonly rows: readonly CountedRow[];
}

const SaveCounts = ({ title, header, rows }: SaveCountsProps) => (
  <SaveFile
    title={title}
    read={() =>
      toFile(
        [header, ...measureHeaders()],
        rows.map(([label, counts]) => [label, ...measureValues(counts)]),
      )
    }
  />
);

/** Saves the intervals. If there is a comparison, each row includes the matching interval of the earlier range. */
export const SaveIntervals = ({
  totals: { interval = [], earlier },
}: {
  readonly totals: ResponseFor<'reportTotals'>;
}) => {
  const headers = ['from', ...measureHeaders()];
  const read = () =>
    toFile(
      [...headers, ...(earlier ? headers.map((header) => `${header} (before)`) : [])],
      interval.map((row, index) => {
        const before = earlier?.interval?.[index];
        return [row.from, ...measureValues(row), ...(earlier ? [before?.from, ...measureValues(before)] : [])];
      }),
    );
  return <SaveFile title="Measures" read={read} />;
};

type Breakdown = ResponseFor<'reportBreakdown'>;

interface SaveBreakdownProps extends Omit<SaveCountsProps, 'rows'> {
  readonly request: Parameters<typeof SaveCSV<'reportBreakdown'>>[0]['request'];
  readonly value: Breakdown | undefined;
  readonly textOf: (row: Breakdown['row'][number]) => string;
}

/** Saves all rows of a breakdown. A share link can only read the rows that it shows. */
export const SaveBreakdown = ({ title, header, request, value, textOf }: SaveBreakdownProps) => {
  const { row = [], others } = value ?? {};
  if (!isShared) {
    const count = value && row.length + (others?.groups ?? 0);
    return <SaveCSV title={title} operation="reportBreakdown" request={request} count={count} />;
  }
  const rest: CountedRow[] = others ? [[moreRows(others.groups), others]] : [];
  return (
    <SaveCounts
      title={title}
      header={header}
      rows={[...row.map((each): CountedRow => [textOf(each), each]), ...rest]}
    />
  );
};
