/** Funnel: how many people, or sessions, go through a series of events, and where they drop off. */
import type { ResponseFor } from '@firsthand/client';
import { query, setQuery } from '../../address.ts';
import { api } from '../../api.ts';
import { Card, ResponseView } from '../../parts/card.tsx';
import { toFile } from '../../parts/csv.ts';
import { SaveFile } from '../../parts/save-csv.tsx';
import { EmptyState } from '../../parts/small.tsx';
import { account, nameOf, timezone } from '../../reading/account.ts';
import { filterWith } from '../../reading/filter.ts';
import { formatShare, moreRows } from '../../reading/format.ts';
import { range } from '../../reading/range.ts';
import { slowReports, useReport } from '../../reading/report.ts';
import { isShared } from '../../reading/shared.ts';
import { ParameterChoice, readChoiceParameter } from './choices.tsx';
import {
  GroupChoice,
  GroupTable,
  maxGroups,
  nameOfGroup,
  readGroupBy,
  titleOfGroups,
  toPeopleRequest,
} from './group-table.tsx';
import { chosenNumber, NumberLink, PeopleDialog } from './people-dialog.tsx';
import { StepTable } from './step-table.tsx';
import { maxSteps, minSteps, Steps } from './steps.tsx';

/** The maximum number of groups that the API returns. */
const allGroups = 1_000;
const hour = 3_600;
const windows = { '30d': '30 days', '7d': '7 days', '1d': '1 day', '1h': '1 hour' } as const;
const secondsOf = { '30d': 720 * hour, '7d': 168 * hour, '1d': 24 * hour, '1h': hour } as const;
const units = { person: 'Person', session: 'Session' } as const;

/** The eventIDs of the steps in the URL. If there are fewer than two, the first two events in the catalogue. */
const stepsIn = (): readonly string[] => {
  const steps = (query.value.get('steps') ?? '').split(',').filter((id) => /^\d{1,9}$/.test(id));
  if (steps.length >= minSteps) return steps.slice(0, maxSteps);
  const [first, second = first] = (account.value?.event ?? []).flatMap(({ eventID, mergedInto }) =>
    mergedInto === undefined ? String(eventID) : [],
  );
  return first === undefined || second === undefined ? [] : [first, second];
};

/**
 * The CSV cells for each step: count, share of the first step, share of the previous step, median seconds, drop-off.
 */
const stepsOf = (steps: ResponseFor<'reportFunnel'>['step']): (number | null | undefined)[][] =>
  steps.map(({ reached, seconds }, index) => {
    const shareOf = (whole: number | undefined) => (whole ? Number((reached / whole).toFixed(4)) : undefined);
    const next = steps[index + 1]?.reached;
    return [
      reached,
      shareOf(steps[0]?.reached),
      shareOf(steps[index - 1]?.reached),
      seconds?.median,
      next === undefined ? undefined : reached - next,
    ];
  });

/** The CSV file's rows, one for each step, or for each step of each group. */
const fileOf = ({ step, row, others }: ResponseFor<'reportFunnel'>, names: readonly string[], unit: string) => {
  const rowsOf = (steps: typeof step) => stepsOf(steps).map((cells, index) => [index + 1, names[index], ...cells]);
  const headers = [
    'step',
    'event',
    unit,
    'Share of first step',
    'Share of previous step',
    'Median seconds',
    'Dropped off',
  ];
  if (!row) return toFile(headers, rowsOf(step));
  const groups = [
    { name: 'All', step },
    ...row.map((each) => ({ name: nameOfGroup(each), step: each.step })),
    ...(others ? [{ name: moreRows(others.groups), step: others.step }] : []),
  ];
  return toFile(
    [titleOfGroups(), ...headers],
    groups.flatMap((group) => rowsOf(group.step).map((cells) => [group.name, ...cells])),
  );
};

const FunnelCard = ({ steps }: { readonly steps: readonly string[] }) => {
  const { from, to } = range.value;
  const per = readChoiceParameter('per', units);
  const request = {
    step: steps.map((id) => ({ event: [Number(id)] })),
    within: secondsOf[readChoiceParameter('within', windows)],
    per,
    from,
    to,
    filter: filterWith(),
    timezone: timezone.value,
    ...readGroupBy(),
  };
  const names = steps.map((id) => nameOf('event', id));
  const response = useReport({
    part: 'funnel',
    title: `Funnel: ${names.join(', ')}`,
    operation: 'reportFunnel',
    request: { ...request, times: 'include', ...(request.by && { limit: maxGroups }) },
  });
  const unit = per === 'session' ? 'Sessions' : 'People';
  const shown = response.value;
  const readFile = async (funnel: ResponseFor<'reportFunnel'>, signal: AbortSignal) =>
    fileOf(
      request.by && !isShared
        ? await api.reportFunnel({ ...request, times: 'include', limit: allGroups }, { signal })
        : funnel,
      names,
      unit,
    );
  const tools = shown && <SaveFile title="Funnel" read={({ signal }) => readFile(shown, signal)} />;
  const chosen = chosenNumber();
  const number = chosen?.reached ?? chosen?.dropped;
  const name = names[Number(number) - 1] ?? '';
  return (
    <Card title="Funnel" tools={tools} class="funnel">
      <ResponseView response={response} lines={steps.length * 2} slow={slowReports}>
        {({ step, row, others }) =>
          step[0] === undefined || step[0].reached === 0 ? (
            <EmptyState title="No one did the first step in this range" />
          ) : (
            <>
              <StepTable
                names={names}
                reached={step.map(({ reached }) => reached)}
                medians={step.map(({ seconds }) => seconds?.median)}
                unit={unit}
              />
              {row && (
                <GroupTable
                  label="Funnel by group"
                  headers={[...names, 'Share of first step']}
                  others={others?.groups}
                  total={per === 'session' ? undefined : step[0].reached}
                  rows={row.map(({ values, eventName, step: steps }) => ({
                    values,
                    eventName,
                    people: steps[0]?.reached ?? 0,
                    cells: [
                      ...steps.map(({ reached }, index) => (
                        <NumberLink
                          key={String(index)}
                          count={reached}
                          chosen={{ reached: index + 1, value: values }}
                          label={`Step ${index + 1}, ${names[index]}`}
                        />
                      )),
                      formatShare((steps.at(-1)?.reached ?? 0) / Math.max(1, steps[0]?.reached ?? 0)),
                    ],
                  }))}
                />
              )}
            </>
          )
        }
      </ResponseView>
      {chosen && number !== undefined && (
        <PeopleDialog
          title={`${per === 'session' ? 'People whose session reached' : 'People who reached'} step ${number}${name && `, ${name}`}${chosen.reached === undefined ? ', but not the next one' : ''}`}
          request={{ ...toPeopleRequest(request, chosen), reached: chosen.reached, dropped: chosen.dropped }}
        />
      )}
    </Card>
  );
};

export const Funnel = () => {
  const steps = stepsIn();
  if (steps.length === 0) return <EmptyState title="No events yet. Choose the steps once the first events arrive." />;
  return (
    <>
      <Card title="Steps" class="steps-card">
        {!isShared && <Steps steps={steps} change={(changed) => setQuery({ steps: changed.join(',') })} />}
        <div class="ask">
          <ParameterChoice label="Within" parameter="within" options={windows} />
          <ParameterChoice label="Per" parameter="per" options={units} />
          <GroupChoice />
        </div>
      </Card>
      <FunnelCard steps={steps} />
    </>
  );
};
