/** The greatest groups of a breakdown over time: a line each. */
import type { AnswerFor, RequestFor } from '@firsthand/client';
import { Answered, Card } from '../../parts/card.tsx';
import { Plot } from '../../parts/plot/plot.tsx';
import { isLastOpen, labelForms, tickForms } from '../../parts/plot/totals-plot.tsx';
import { Empty } from '../../parts/small.tsx';
import { formatTime } from '../../reading/format.ts';
import type { Measure } from '../../reading/measures.ts';
import { range } from '../../reading/range.ts';
import { useReport } from '../../reading/report.ts';

const lines = 5;

interface OverTimeProps {
  readonly request: RequestFor<'reportBreakdown'>;
  readonly title: string;
  readonly measure: Measure;
  readonly textOf: (row: AnswerFor<'reportBreakdown'>['row'][number]) => string;
}

export const OverTime = ({ request, title, measure: { label, of, forms }, textOf }: OverTimeProps) => {
  const { interval } = range.value;
  const heading = `${title} over time`;
  const answer = useReport({
    part: 'over-time',
    title: heading,
    operation: 'reportBreakdown',
    request: { ...request, interval, limit: lines },
  });
  return (
    <Card title={heading} class="over-time">
      <Answered answer={answer} lines={9}>
        {({ row }) => {
          const intervals = row[0]?.interval ?? [];
          if (row.length === 0) return <Empty title="Nothing in this range" />;
          const drawn = row.map((each, index) => ({
            label: textOf(each),
            values: (each.interval ?? []).map(of),
            color: `--line-${index + 1}`,
          }));
          return (
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
                title={`${label} of the greatest ${lines} by ${interval}`}
                forms={forms}
                isOpen={isLastOpen(intervals)}
                labels={intervals.map(({ from }) => formatTime(from, labelForms[interval]))}
                ticks={intervals.map(({ from }) => formatTime(from, tickForms[interval]))}
                lines={drawn}
              />
            </>
          );
        }}
      </Answered>
    </Card>
  );
};
