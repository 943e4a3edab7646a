/** The largest groups of a breakdown over time, each as a line. */
import type { RequestFor, ResponseFor } from '@firsthand/client';
import { Card, ResponseView } from '../../parts/card.tsx';
import { toFile } from '../../parts/csv.ts';
import { Plot } from '../../parts/plot/plot.tsx';
import { SaveFile } from '../../parts/save-csv.tsx';
import { EmptyState } from '../../parts/small.tsx';
import type { Measure } from '../../reading/measures.ts';
import { range } from '../../reading/range.ts';
import { useReport } from '../../reading/report.ts';

const lines = 5;

interface OverTimeProps {
  readonly request: RequestFor<'reportBreakdown'>;
  readonly title: string;
  readonly measure: Measure;
  readonly textOf: (row: ResponseFor<'reportBreakdown'>['row'][number]) => string;
}

export const OverTime = ({ request, title, measure: { label, getValue, forms }, textOf }: OverTimeProps) => {
  const { interval } = range.value;
  const heading = `${title} over time`;
  const response = useReport({
    part: 'over-time',
    title: heading,
    operation: 'reportBreakdown',
    request: { ...request, interval, limit: lines },
  });
  const row = response.value?.row ?? [];
  const intervals = row[0]?.interval ?? [];
  const drawn = row.map((each, index) => ({
    label: textOf(each),
    values: (each.interval ?? []).map(getValue),
    color: `--line-${index + 1}`,
  }));
  const read = () =>
    toFile(
      ['from', ...drawn.map((line) => line.label)],
      intervals.map(({ from }, index) => [from, ...drawn.map(({ values }) => values[index])]),
    );
  return (
    <Card title={heading} tools={row.length > 0 && <SaveFile title="Over time" read={read} />} class="over-time">
      <ResponseView response={response} lines={9}>
        {() =>
          row.length === 0 ? (
            <EmptyState title="No data in this range" />
          ) : (
            <>
              <ul class="plot-legend">
                {drawn.map((line) => (
                  <li key={line.label}>
                    <span style={{ background: `var(${line.color})` }} aria-hidden="true" />
                    {line.label}
                  </li>
                ))}
              </ul>
              <Plot
                title={`${label} of the top ${lines} by ${interval}`}
                {...{ forms, interval, intervals }}
                lines={drawn}
              />
            </>
          )
        }
      </ResponseView>
    </Card>
  );
};
