/** Explore: one event or all events, over time and broken down by a dimension. */
import { query, setQuery } from '../../address.ts';
import { Card, ResponseView } from '../../parts/card.tsx';
import { MeasureTabs } from '../../parts/measure-tabs.tsx';
import { TotalsPlot } from '../../parts/plot/totals-plot.tsx';
import { SaveIntervals } from '../../parts/save-counts.tsx';
import { nameOf, revenueAttrID, timezone } from '../../reading/account.ts';
import { filterWith } from '../../reading/filter.ts';
import { findMeasure, type Measure } from '../../reading/measures.ts';
import { comparePeriod, range } from '../../reading/range.ts';
import { slowReports, useReport } from '../../reading/report.ts';
import { isShared, showsPart } from '../../reading/shared.ts';
import { Breakdown } from './breakdown.tsx';
import { EventChoice, ParameterChoice, readChoiceParameter, readEventParameter } from './choices.tsx';
import { dimensions } from './dimensions.ts';

/** The request fields that all reports in this tab share. */
const readScope = () => {
  const { from, to } = range.value;
  const event = readEventParameter('event');
  return {
    from,
    to,
    filter: filterWith(),
    timezone: timezone.value,
    eventID: event === '' ? undefined : Number(event),
  };
};

const Total = ({ measure, subject }: { readonly measure: Measure; readonly subject: string }) => {
  const { interval } = range.value;
  const request = { ...readScope(), interval, compare: comparePeriod.value, attrID: revenueAttrID.value };
  const response = useReport({ part: 'totals', title: `Measures of ${subject}`, operation: 'reportTotals', request });
  return (
    <Card title="Measures" class="measures-card" tools={response.value && <SaveIntervals totals={response.value} />}>
      <ResponseView response={response} lines={9} slow={slowReports}>
        {(totals) => (
          <>
            <MeasureTabs chosen={measure} totals={totals} />
            <TotalsPlot totals={totals} measure={measure} interval={interval} />
          </>
        )}
      </ResponseView>
    </Card>
  );
};

const forms = { table: 'Table', time: 'Chart over time' } as const;

export const Explore = () => {
  const all = dimensions();
  const dimension = all[readChoiceParameter('by', all)];
  const event = readEventParameter('event');
  const measure = findMeasure(query.value.get('measure'));
  const subject = event === '' ? 'All events' : nameOf('event', event);
  const titles = Object.fromEntries(Object.entries(all).map(([by, { title }]) => [by, title]));
  return (
    <>
      <div class="ask">
        <EventChoice label="Event" any="All events" value={event} choose={(eventID) => setQuery({ event: eventID })} />
        <ParameterChoice label="Break down by" parameter="by" options={titles} />
        {!isShared && <ParameterChoice label="Show as" parameter="over" options={forms} />}
      </div>
      <Total measure={measure} subject={subject} />
      {dimension && showsPart('breakdown') && (
        <Breakdown scope={readScope()} dimension={dimension} measure={measure} subject={subject} />
      )}
    </>
  );
};
