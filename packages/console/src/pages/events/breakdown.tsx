/** The table of a breakdown: each value with all measures. A number of people opens those people. */
import type { AnswerFor, RequestFor } from '@firsthand/client';
import { hrefWith, query } from '../../address.ts';
import { Answered, Card } from '../../parts/card.tsx';
import { Overlap } from '../../parts/overlap.tsx';
import { SaveBreakdown } from '../../parts/save-counts.tsx';
import { Empty } from '../../parts/small.tsx';
import { Table } from '../../parts/table.tsx';
import { revenueAttrID } from '../../reading/account.ts';
import { hrefToAdd } from '../../reading/filter.ts';
import { formatDuration, formatShare, moreRows, plainNumbers } from '../../reading/format.ts';
import { type Counts, type Measure, measuresOf, measureText } from '../../reading/measures.ts';
import { useReport } from '../../reading/report.ts';
import { isShared, showsPart } from '../../reading/shared.ts';
import { withoutValue } from '../../reading/without-value.ts';
import { BarCell } from './bar-cell.tsx';
import type { Dimension } from './dimensions.ts';
import { NoValues } from './no-values.tsx';
import { OverTime } from './over-time.tsx';
import { chosenNumber, NumberLink, type PeopleRequest, Who } from './who.tsx';

/** At first, and the most that the API gives. */
const [fewRows, allRows] = [50, 1_000];

interface BreakdownProps {
  /** The range, the filter and the event. */
  readonly asked: Omit<RequestFor<'reportBreakdown'>, 'by'> & PeopleRequest;
  readonly dimension: Dimension;
  readonly measure: Measure;
  /** The name of what is broken down. */
  readonly what: string;
}

type Row = AnswerFor<'reportBreakdown'>['row'][number];
type Further = Pick<Row, 'among' | 'visits'>;
const visitHeads = ['Bounce rate', 'Pages per visit', 'Time per visit'];
const visitCells = ({ visits }: Further): string[] => {
  if (visits?.bounceRate == null) return visitHeads.map(() => '');
  const { bounceRate, pages, seconds } = visits;
  return [formatShare(bounceRate), plainNumbers.short(pages ?? 0), formatDuration(seconds ?? 0)];
};
const valueIn = ({ values }: Row): string | null => values[0] ?? null;

export const Breakdown = ({ asked, dimension, measure, what }: BreakdownProps) => {
  const { by, title, label = String, condition, isOrdered } = dimension;
  // Measures of a visit do not describe a single event.
  const isOfVisit = dimension.isOfVisit && asked.eventID === undefined;
  const isWhole = query.value.get('rows') === 'all';
  const sort = measure.name === 'revenue' ? undefined : measure.name;
  const grouped = { ...asked, by, sort, attrID: revenueAttrID.value };
  const isConversion = asked.eventID !== undefined && by !== 'event';
  const csvRequest = {
    ...grouped,
    ...(isConversion && { conversion: 'include' as const }),
    ...(isOfVisit && { visits: 'include' as const }),
  };
  const request = { ...csvRequest, limit: isWhole ? allRows : fewRows };
  const heading = by === 'event' && asked.eventID === undefined ? 'Events' : `${what} by ${title.toLowerCase()}`;
  const answer = useReport({ part: 'breakdown', title: heading, operation: 'reportBreakdown', request });
  const textOf = (value: string | null) => (value === null ? withoutValue(String(by)) : label(value) || '(empty)');
  const chosen = chosenNumber();
  const values = Array.isArray(chosen?.value) ? chosen.value : undefined;
  const nameOfRow = (row: Row) => row.eventName || textOf(valueIn(row));
  const tools = (
    <SaveBreakdown title="Breakdown" what={title} request={csvRequest} value={answer.value} textOf={nameOfRow} />
  );
  /** What a click on a row does: it filters where a filter says it, and shows the people where none does. */
  const during = { from: answer.value?.from, ...(asked.to !== undefined && { to: answer.value?.to }) };
  const linkOf = (value: string, values: readonly (string | null)[], text: string) =>
    condition
      ? { href: hrefToAdd(condition(value, during)), hint: `Only ${text}` }
      : { href: hrefWith({ who: JSON.stringify({ value: values }) }), hint: `Show the people: ${text}` };
  const shown = measuresOf(measure, answer.value?.total);
  const cellsOf = (counts: Counts & Further, number: object | undefined, text: string) => [
    ...shown.map((each) =>
      each.name === 'people' && number !== undefined ? (
        <NumberLink key={each.name} count={counts.people} chosen={number} label={text} />
      ) : (
        measureText(each, counts)
      ),
    ),
    ...(isConversion ? [counts.among ? formatShare(counts.people / counts.among) : ''] : []),
    ...(isOfVisit ? visitCells(counts) : []),
  ];
  const isOverTime = isShared ? showsPart('over-time') : query.value.get('over') === 'time';
  return (
    <>
      {isOverTime && <OverTime request={grouped} title={heading} measure={measure} textOf={nameOfRow} />}
      <Card title={heading} tools={tools} class="breakdown">
        <Answered answer={answer} lines={10}>
          {({ row, total, others }) => {
            if (row.length === 0) return <Empty title="Nothing in this range" />;
            const rows = row.toSorted((a, b) =>
              isOrdered ? Number(valueIn(a)) - Number(valueIn(b)) : measure.of(b) - measure.of(a),
            );
            const most = Math.max(...row.map(measure.of), 1);
            return (
              <>
                {isConversion && (
                  <p class="soft">
                    Conversion is the share of people with any event in the range who did this one. It counts people,
                    not visits.
                  </p>
                )}
                <NoValues by={String(by)} parameter="by" rows={rows} />
                <Table
                  label={heading}
                  heads={[
                    title,
                    ...shown.map((each) => each.label),
                    ...(isConversion ? ['Conversion'] : []),
                    ...(isOfVisit ? visitHeads : []),
                  ]}
                  rows={[
                    {
                      key: 'all',
                      cells: [<BarCell key="label" label="All" share={0} />, ...cellsOf(total, {}, 'All')],
                    },
                    ...rows.map((each) => {
                      const value = valueIn(each);
                      const text = nameOfRow(each);
                      return {
                        key: `value ${value}`,
                        cells: [
                          <BarCell
                            key="label"
                            label={text}
                            share={measure.of(each) / most}
                            detail={measure.of(total) > 0 ? formatShare(measure.of(each) / measure.of(total)) : ''}
                            {...(value !== null && !isShared && linkOf(value, each.values, text))}
                          />,
                          ...cellsOf(each, { value: each.values }, text),
                        ],
                      };
                    }),
                    ...(others
                      ? [
                          {
                            key: 'others',
                            cells: [
                              isWhole || isShared ? (
                                <BarCell key="label" label={moreRows(others.groups)} share={0} />
                              ) : (
                                <a key="label" class="more-rows" href={hrefWith({ rows: 'all' })}>
                                  {moreRows(others.groups)}
                                </a>
                              ),
                              ...cellsOf(others, undefined, ''),
                            ],
                          },
                        ]
                      : []),
                  ]}
                />
                <Overlap rows={rows} others={others} total={total} />
              </>
            );
          }}
        </Answered>
        {chosen && (
          <Who
            title={values ? `${what}, ${title.toLowerCase()}: ${textOf(values[0] ?? null)}` : what}
            request={{ ...asked, ...(values && { by, value: values }) }}
          />
        )}
      </Card>
    </>
  );
};
