/** A breakdown table: each value with all measures. Each count of people opens a list of those people. */
import type { RequestFor, ResponseFor } from '@firsthand/client';
import type { ComponentChildren } from 'preact';
import { hrefWith, query } from '../../address.ts';
import { Card, ResponseView } from '../../parts/card.tsx';
import { Overlap } from '../../parts/overlap.tsx';
import { SaveBreakdown } from '../../parts/save-counts.tsx';
import { EmptyState } from '../../parts/small.tsx';
import { Table } from '../../parts/table.tsx';
import { revenueAttrID } from '../../reading/account.ts';
import { hrefToAdd } from '../../reading/filter.ts';
import { formatDuration, formatShare, moreRows, plainNumbers } from '../../reading/format.ts';
import { type Counts, type Measure, measuresOf, measureText } from '../../reading/measures.ts';
import { useReport } from '../../reading/report.ts';
import { isShared, showsPart } from '../../reading/shared.ts';
import { getMissingValueLabel } from '../../reading/without-value.ts';
import { BarCell } from './bar-cell.tsx';
import type { Dimension } from './dimensions.ts';
import { NoValues } from './no-values.tsx';
import { OverTime } from './over-time.tsx';
import { chosenNumber, NumberLink, PeopleDialog, type PeopleRequest } from './people-dialog.tsx';

/** The initial limit, and the API's maximum. */
const [fewRows, allRows] = [50, 1_000];

interface BreakdownProps {
  /** The date range, filter and event. */
  readonly scope: Omit<RequestFor<'reportBreakdown'>, 'by'> & PeopleRequest;
  readonly dimension: Dimension;
  readonly measure: Measure;
  /** What the rows break down, for headings: the event's name, or `All events`. */
  readonly subject: string;
}

type Row = ResponseFor<'reportBreakdown'>['row'][number];
type ExtraCounts = Pick<Row, 'among' | 'visits'>;

interface Column {
  readonly header: string;
  /** `number` requests the list of people that a click opens; undefined if there is none. `text` is the row's name. */
  readonly cell: (counts: Counts & ExtraCounts, number: object | undefined, text: string) => ComponentChildren;
}

const measureColumn = (measure: Measure): Column => ({
  header: measure.label,
  cell: (counts, number, text) =>
    measure.name === 'people' && number !== undefined ? (
      <NumberLink key={measure.name} count={counts.people} chosen={number} label={text} />
    ) : (
      measureText(measure, counts)
    ),
});

const conversionColumn: Column = {
  header: 'Conversion',
  cell: ({ people, among }) => (among ? formatShare(people / among) : ''),
};

const visitColumn = (header: string, textOf: (visits: NonNullable<Row['visits']>) => string): Column => ({
  header,
  cell: ({ visits }) => (visits?.bounceRate == null ? '' : textOf(visits)),
});

const visitColumns = [
  visitColumn('Bounce rate', ({ bounceRate }) => formatShare(bounceRate ?? 0)),
  visitColumn('Pages per visit', ({ pages }) => plainNumbers.short(pages ?? 0)),
  visitColumn('Time per visit', ({ seconds }) => formatDuration(seconds ?? 0)),
];

const valueIn = ({ values }: Row): string | null => values[0] ?? null;

const sortRows = (rows: readonly Row[], { isOrdered }: Dimension, measure: Measure): Row[] =>
  rows.toSorted((a, b) =>
    isOrdered ? Number(valueIn(a)) - Number(valueIn(b)) : measure.getValue(b) - measure.getValue(a),
  );

/** The label for the rows that are not listed. Links to a list of all rows, unless this list is already the longest. */
const OthersLabel = ({ groups, isLast }: { readonly groups: number; readonly isLast: boolean }) =>
  isLast ? (
    <BarCell label={moreRows(groups)} share={0} />
  ) : (
    <a class="more-rows" href={hrefWith({ rows: 'all' })}>
      {moreRows(groups)}
    </a>
  );

const ConversionNote = () => (
  <p class="soft">
    Conversion is the share of people active in the range who did this event. It counts people, not visits.
  </p>
);

export const Breakdown = ({ scope, dimension, measure, subject }: BreakdownProps) => {
  const { by, title, label = String, condition } = dimension;
  // Visit measures make no sense for a single event.
  const isOfVisit = dimension.isOfVisit && scope.eventID === undefined;
  const isWhole = query.value.get('rows') === 'all';
  const sort = measure.name === 'revenue' ? undefined : measure.name;
  const grouped = { ...scope, by, sort, attrID: revenueAttrID.value };
  const isConversion = scope.eventID !== undefined && by !== 'event';
  const csvRequest = {
    ...grouped,
    ...(isConversion && { conversion: 'include' as const }),
    ...(isOfVisit && { visits: 'include' as const }),
  };
  const request = { ...csvRequest, limit: isWhole ? allRows : fewRows };
  const heading = by === 'event' && scope.eventID === undefined ? 'Events' : `${subject} by ${title.toLowerCase()}`;
  const response = useReport({ part: 'breakdown', title: heading, operation: 'reportBreakdown', request });
  const textOf = (value: string | null) =>
    value === null ? getMissingValueLabel(String(by)) : label(value) || '(empty)';
  const chosen = chosenNumber();
  const values = Array.isArray(chosen?.value) ? chosen.value : undefined;
  const nameOfRow = (row: Row) => row.eventName || textOf(valueIn(row));
  const tools = (
    <SaveBreakdown title="Breakdown" header={title} request={csvRequest} value={response.value} textOf={nameOfRow} />
  );
  const during = { from: response.value?.from, ...(scope.to !== undefined && { to: response.value?.to }) };
  // A click on a row adds a filter if a filter can express the value. Otherwise, it shows the people.
  const linkOf = (value: string, values: readonly (string | null)[], text: string) =>
    condition
      ? { href: hrefToAdd(condition(value, during)), hint: `Only ${text}` }
      : { href: hrefWith({ who: JSON.stringify({ value: values }) }), hint: `Show the people: ${text}` };
  const columns = [
    ...measuresOf(measure, response.value?.total).map(measureColumn),
    ...(isConversion ? [conversionColumn] : []),
    ...(isOfVisit ? visitColumns : []),
  ];
  const cellsOf = (...row: Parameters<Column['cell']>) => columns.map(({ cell }) => cell(...row));
  const isOverTime = isShared ? showsPart('over-time') : query.value.get('over') === 'time';
  return (
    <>
      {isOverTime && <OverTime request={grouped} title={heading} measure={measure} textOf={nameOfRow} />}
      <Card title={heading} tools={tools} class="breakdown">
        <ResponseView response={response} lines={10}>
          {({ row, total, others }) => {
            if (row.length === 0) return <EmptyState title="No data in this range" />;
            const rows = sortRows(row, dimension, measure);
            const max = Math.max(...row.map(measure.getValue), 1);
            return (
              <>
                {isConversion && <ConversionNote />}
                <NoValues by={String(by)} parameter="by" rows={rows} />
                <Table
                  label={heading}
                  headers={[title, ...columns.map(({ header }) => header)]}
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
                            share={measure.getValue(each) / max}
                            detail={
                              measure.getValue(total) > 0
                                ? formatShare(measure.getValue(each) / measure.getValue(total))
                                : ''
                            }
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
                              <OthersLabel key="label" groups={others.groups} isLast={isWhole || isShared} />,
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
        </ResponseView>
        {chosen && (
          <PeopleDialog
            title={values ? `${subject}, ${title.toLowerCase()}: ${textOf(values[0] ?? null)}` : subject}
            request={{ ...scope, ...(values && { by, value: values }) }}
          />
        )}
      </Card>
    </>
  );
};
