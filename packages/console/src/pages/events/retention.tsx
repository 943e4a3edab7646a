/** Retention: how many people whose first event was in a period came back later. */
import type { ResponseFor } from '@firsthand/client';
import { query, setQuery } from '../../address.ts';
import { Card, ResponseView } from '../../parts/card.tsx';
import { toFile } from '../../parts/csv.ts';
import { SaveFile } from '../../parts/save-csv.tsx';
import { EmptyState } from '../../parts/small.tsx';
import { account, timezone } from '../../reading/account.ts';
import { filterWith } from '../../reading/filter.ts';
import { formatShare, formatWhole } from '../../reading/format.ts';
import { beginsInterval, dayIn, range, today } from '../../reading/range.ts';
import { slowReports, useReport } from '../../reading/report.ts';
import { EventChoice, ParameterChoice, readChoiceParameter } from './choices.tsx';
import { CohortTable, cohortName, intervalHeader } from './cohort-table.tsx';
import { GroupChoice, GroupTable, nameOfGroup, readGroupBy, titleOfGroups, toPeopleRequest } from './group-table.tsx';
import { chosenNumber, PeopleDialog } from './people-dialog.tsx';

const any = 'any';
const intervals = { week: 'Week', day: 'Day', month: 'Month' } as const;

type Interval = keyof typeof intervals;
type Cohorts = ResponseFor<'reportRetention'>['cohort'];

/** Matches the page view's name in the script tag's `data-page-views` and in most catalogues. */
const pageView = /^page ?views?(?:ed)?$/i;

/**
 * The eventID in the URL; '' for any event. Page views are the default: counting any event would include events from a
 * server, such as a shipped order.
 */
const chosenEvent = (parameter: string): string => {
  const value = query.value.get(parameter) ?? '';
  if (/^\d{1,9}$/.test(value)) return value;
  const match = account.value?.event.find(({ eventName, mergedInto }) => !mergedInto && pageView.test(eventName));
  return value === any || match === undefined ? '' : String(match.eventID);
};

const conditionOf = (eventID: string) => (eventID === '' ? undefined : { event: [Number(eventID)] });

const laterWords = (later: number, interval: string): string => {
  if (later === 0) return `in the same ${interval}`;
  return later === 1 ? `in the next ${interval}` : `${later} ${interval}s later`;
};

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

/**
 * The share of people who came back 0, 1, 2 … periods later. Each share covers only the cohorts that are old enough.
 */
const sharesOf = (cohorts: Cohorts): string[] =>
  cohorts.map((_, later) => {
    const old = cohorts.filter(({ back }) => later < back.length);
    const people = sumOf(old.map((cohort) => cohort.people));
    return people === 0 ? '' : formatShare(sumOf(old.map(({ back }) => back[later] ?? 0)) / people);
  });

/** The CSV file's rows, one for each cohort, or for each cohort of each group. */
const fileOf = ({ cohort: all, row }: ResponseFor<'reportRetention'>, interval: Interval) => {
  const headers = ['from', 'people', ...all.map((_, later) => intervalHeader(later, interval))];
  const rowsOf = (cohorts: Cohorts) => cohorts.map(({ from, people, back }) => [from, people, ...back]);
  if (!row) return toFile(headers, rowsOf(all));
  const groups = [{ name: 'All', cohort: all }, ...row.map((each) => ({ ...each, name: nameOfGroup(each) }))];
  return toFile(
    [titleOfGroups(), ...headers],
    groups.flatMap(({ name, cohort }) => rowsOf(cohort).map((cells) => [name, ...cells])),
  );
};

/** For each cohort, whether the range covers only part of its interval. */
const findPartial = (cohorts: Cohorts, interval: Interval, to: string | undefined): boolean[] =>
  cohorts.map(
    ({ from }, index) =>
      (index === 0 && !beginsInterval(dayIn(timezone.value, Date.parse(from)), interval)) ||
      (index === cohorts.length - 1 && (to === undefined || to > today.value || !beginsInterval(to, interval))),
  );

export const Retention = () => {
  const { from, to } = range.value;
  const [first, back] = [chosenEvent('first'), chosenEvent('back')];
  const interval = readChoiceParameter('interval', intervals);
  const request = {
    first: conditionOf(first),
    back: conditionOf(back),
    interval,
    from,
    to,
    filter: filterWith(),
    timezone: timezone.value,
    ...readGroupBy(),
  };
  const response = useReport({ part: 'retention', title: 'Retention', operation: 'reportRetention', request });
  const cohorts = response.value?.cohort ?? [];
  const isPartial = findPartial(cohorts, interval, to);
  const shown = response.value;
  const tools = shown && <SaveFile title="Retention" read={() => fileOf(shown, interval)} />;
  const chosen = chosenNumber();
  const period = chosen?.cohort === undefined ? undefined : cohorts[chosen.cohort - 1];
  const since = period ? `First seen in the ${interval} of ${cohortName(period.from, interval)}` : 'First seen';
  return (
    <>
      <div class="ask">
        <EventChoice
          label="First event"
          any="Any event"
          value={first}
          choose={(eventID) => setQuery({ first: eventID || any })}
        />
        <EventChoice
          label="Return event"
          any="Any event"
          value={back}
          choose={(eventID) => setQuery({ back: eventID || any })}
        />
        <ParameterChoice label="Interval" parameter="interval" options={intervals} />
        <GroupChoice />
      </div>
      <Card title="Who came back" tools={tools} class="retention">
        <p class="soft">
          Each row shows the people whose first event was in that {interval}. “Same {interval}” counts those who
          returned later in that {interval}, often within minutes; “{intervalHeader(1, interval)}” is the {interval}{' '}
          after.
          {isPartial.some(Boolean) && ` Italics mark a ${interval} that is not complete.`}
        </p>
        <ResponseView response={response} lines={8} slow={slowReports}>
          {({ cohort, row, others }) =>
            cohort.every(({ people }) => people === 0) ? (
              <EmptyState title="No people in this range" />
            ) : (
              <>
                <CohortTable cohorts={cohort} interval={interval} isPartial={isPartial} />
                {row && (
                  <GroupTable
                    label="Retention by group"
                    headers={['People', ...cohort.map((_, later) => intervalHeader(later, interval))]}
                    others={others?.groups}
                    total={sumOf(cohort.map(({ people }) => people))}
                    rows={row.map(({ values, eventName, cohort: own }) => ({
                      values,
                      eventName,
                      people: sumOf(own.map(({ people }) => people)),
                      cells: [formatWhole(sumOf(own.map(({ people }) => people))), ...sharesOf(own)],
                    }))}
                  />
                )}
              </>
            )
          }
        </ResponseView>
        {chosen?.cohort !== undefined && (
          <PeopleDialog
            title={chosen.later === undefined ? since : `${since}, back ${laterWords(chosen.later, interval)}`}
            request={{ ...toPeopleRequest(request, chosen), cohort: chosen.cohort, later: chosen.later }}
          />
        )}
      </Card>
    </>
  );
};
