/** The measures of the range, each beside that of the earlier range, and the plot of the chosen one. */
import type { RequestFor } from '@firsthand/client';
import { hrefOf, query } from '../../address.ts';
import { api } from '../../api.ts';
import { Answered, Card } from '../../parts/card.tsx';
import { downloadCSV } from '../../parts/csv.ts';
import { type Measure, MeasureTabs } from '../../parts/measure-tabs.tsx';
import { type Counts, type Totals, TotalsPlot } from '../../parts/plot/totals-plot.tsx';
import { currency, revenueAttrID, timezone } from '../../reading/account.ts';
import { useAnswer } from '../../reading/answer.ts';
import { attributeName, filterWith } from '../../reading/filter.ts';
import { formatWhole, moneyForms } from '../../reading/format.ts';
import { comparison, range } from '../../reading/range.ts';
import { useReport } from '../../reading/report.ts';
import { isShared } from '../../reading/shared.ts';

const sumOf = (counts: Counts): number => counts.value?.sum ?? 0;

const measures = (revenue: string | undefined): readonly Measure[] => [
  {
    name: 'people',
    label: 'People',
    hint: 'Contacts, and browsers that nobody is known for: a person with two phones counts once.',
    of: ({ people }) => people,
  },
  { name: 'users', label: 'Browsers', hint: 'Distinct browsers.', of: ({ users }) => users },
  {
    name: 'sessions',
    label: 'Sessions',
    hint: 'All events of a browser without a pause of 30 minutes.',
    of: ({ sessions }) => sessions,
  },
  {
    name: 'events',
    label: 'Events',
    hint: 'Page views and everything else that was logged.',
    of: ({ events }) => events,
  },
  ...(revenue === undefined
    ? []
    : [
        {
          name: 'revenue',
          label: attributeName(revenue),
          hint: `The sum of the attribute ${revenue}.${currency.value ? '' : ' Choose its currency in Settings, Account.'}`,
          of: sumOf,
          forms: moneyForms.value,
        },
      ]),
];

/** How many events of robots are left out, where nothing else has arrived. */
const LeftOut = ({ request }: { readonly request: RequestFor<'reportTotals'> }) => {
  const { value } = useAnswer(`robots ${JSON.stringify(request)}`, (signal) =>
    api.reportTotals({ ...request, robots: 'include' }, { signal }),
  );
  const count = value?.total.events ?? 0;
  if (count === 0) return null;
  return (
    <p class="hint">
      {count === 1
        ? '1 event of a robot arrived and is left out. '
        : `${formatWhole(count)} events of robots arrived and are left out. `}
      <a href={hrefOf('live')}>Live shows robots too</a>
    </p>
  );
};

export const Measures = () => {
  const { from, to, interval } = range.value;
  const revenue = revenueAttrID.value;
  const request = {
    from,
    to,
    interval,
    compare: comparison.value,
    filter: filterWith(),
    attrID: revenue,
    timezone: timezone.value,
  };
  const answer = useReport({ part: 'totals', title: 'Measures', operation: 'reportTotals', request });
  const all = measures(revenue);
  const chosen = all.find(({ name }) => name === query.value.get('measure')) ?? (all[0] as Measure);
  const save = ({ interval: rows = [] }: Totals) =>
    downloadCSV(
      'totals',
      ['from', ...all.map(({ label, forms }) => (forms && currency.value ? `${label} (${currency.value})` : label))],
      rows.map((row) => [row.from, ...all.map(({ of }) => of(row))]),
    );
  const tools = answer.value && (
    <button type="button" class="quiet" onClick={() => answer.value && save(answer.value)}>
      CSV
    </button>
  );
  return (
    <>
      {answer.value?.total.events === 0 && !isShared && <LeftOut request={request} />}
      <Card title="Measures" class="measures-card" tools={tools}>
        <Answered answer={answer} lines={9}>
          {(totals) => (
            <>
              <MeasureTabs measures={all} chosen={chosen.name} totals={totals} />
              <TotalsPlot
                totals={totals}
                label={chosen.label}
                of={chosen.of}
                interval={interval}
                forms={chosen.forms}
              />
            </>
          )}
        </Answered>
      </Card>
    </>
  );
};
