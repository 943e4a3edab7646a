/** The measures of the range, each compared with the previous period, and a plot of the chosen one. */
import type { RequestFor } from '@firsthand/client';
import { hrefOf, query } from '../../address.ts';
import { api } from '../../api.ts';
import { Card, ResponseView } from '../../parts/card.tsx';
import { MeasureTabs } from '../../parts/measure-tabs.tsx';
import { type Totals, TotalsPlot } from '../../parts/plot/totals-plot.tsx';
import { SaveIntervals } from '../../parts/save-counts.tsx';
import { revenueAttrID, timezone } from '../../reading/account.ts';
import { filterWith } from '../../reading/filter.ts';
import { formatDuration, formatShare, formatWhole, plainNumbers } from '../../reading/format.ts';
import { findMeasure } from '../../reading/measures.ts';
import { comparePeriod, range } from '../../reading/range.ts';
import { slowReports, useReport } from '../../reading/report.ts';
import { isShared } from '../../reading/shared.ts';
import { useFetch } from '../../reading/use-fetch.ts';

/** The number of excluded bot events, if there are no other events. */
const RobotHint = ({ request }: { readonly request: RequestFor<'reportTotals'> }) => {
  const { value } = useFetch(`robots ${JSON.stringify(request)}`, (signal) =>
    api.reportTotals({ ...request, robots: 'include' }, { signal }),
  );
  const count = value?.total.events ?? 0;
  if (count === 0) return null;
  return (
    <p class="hint">
      {count === 1 ? '1 event from a bot is not counted. ' : `${formatWhole(count)} events from bots are not counted. `}
      <a href={hrefOf('live')}>See bots in Live</a>
    </p>
  );
};

const VisitFacts = ({ totals: { total } }: { readonly totals: Totals }) => {
  const { bounceRate, pages, seconds } = total.visits ?? {};
  if (bounceRate == null || pages == null || seconds == null) return null;
  return (
    <dl class="visit-facts">
      <div title="The share of visits with a single page view and no other event.">
        <dt>Bounce rate</dt>
        <dd>{formatShare(bounceRate)}</dd>
      </div>
      <div>
        <dt>Pages per visit</dt>
        <dd>{plainNumbers.short(Math.round(pages * 10) / 10)}</dd>
      </div>
      <div title="The average time from a visit’s first event to its last.">
        <dt>Time per visit</dt>
        <dd>{formatDuration(seconds)}</dd>
      </div>
    </dl>
  );
};

export const Measures = () => {
  const { from, to, interval } = range.value;
  const request = {
    from,
    to,
    interval,
    compare: comparePeriod.value,
    filter: filterWith(),
    attrID: revenueAttrID.value,
    timezone: timezone.value,
    visits: 'include' as const,
  };
  const response = useReport({ part: 'totals', title: 'Measures', operation: 'reportTotals', request });
  const chosen = findMeasure(query.value.get('measure'));
  return (
    <>
      {response.value?.total.events === 0 && !isShared && <RobotHint request={request} />}
      <Card title="Measures" class="measures-card" tools={response.value && <SaveIntervals totals={response.value} />}>
        <ResponseView response={response} lines={9} slow={slowReports}>
          {(totals) => (
            <>
              <MeasureTabs chosen={chosen} totals={totals} />
              <VisitFacts totals={totals} />
              <TotalsPlot totals={totals} measure={chosen} interval={interval} />
            </>
          )}
        </ResponseView>
      </Card>
    </>
  );
};
