/** Live: current visitors, and events as they are stored. */
import type { ResponseFor } from '@firsthand/client';
import { api } from '../api.ts';
import { Bars } from '../parts/bars.tsx';
import { Card, ResponseView } from '../parts/card.tsx';
import { Robots } from '../parts/robots.tsx';
import { formatCountry, formatWhole } from '../reading/format.ts';
import { useFetch } from '../reading/use-fetch.ts';
import { LiveEvents } from './live/live-events.tsx';

type LiveResponse = ResponseFor<'reportLive'>;
type List = LiveResponse['page'];

const everyMs = 5_000;

const lists = {
  page: { title: 'Pages', header: 'Page', emptyText: 'No pages' },
  referrerHost: { title: 'Referring sites', header: 'Site', emptyText: 'No visits from other sites' },
  country: { title: 'Countries', header: 'Country', emptyText: 'No countries' },
} as const;

const LiveList = ({
  list,
  people,
  header,
  emptyText,
  label = String,
}: {
  readonly list: List;
  readonly people: number;
  readonly header: string;
  readonly emptyText: string;
  readonly label?: (value: string) => string;
}) => (
  <Bars
    header={header}
    unit="People"
    emptyText={people === 0 ? 'No people in the last five minutes' : emptyText}
    total={people}
    bars={list.row
      .filter(({ value }) => value !== null)
      .map(({ value, people: count }) => ({ key: value ?? '', label: label(value ?? ''), count }))}
    others={list.others > 0 ? { count: list.others } : undefined}
  />
);

export const Live = () => {
  const response = useFetch('live', (signal) => api.reportLive({ limit: 6 }, { signal }), { everyMs });
  return (
    <>
      <header class="page-head">
        <h1>Live</h1>
        {(response.value || response.problem === undefined) && (
          <p class="now">
            People in the last five minutes:{' '}
            <strong>{response.value ? formatWhole(response.value.people) : '–'}</strong>
          </p>
        )}
        <Robots />
      </header>
      <div class="live">
        <LiveEvents />
        <div class="live-lists">
          {Object.entries(lists).map(([name, { title, header, emptyText }]) => (
            <Card key={name} title={title} class="group">
              <ResponseView response={response} lines={3}>
                {(value) => (
                  <LiveList
                    list={value[name as keyof typeof lists]}
                    people={value.people}
                    header={header}
                    emptyText={emptyText}
                    {...(name === 'country' && { label: formatCountry })}
                  />
                )}
              </ResponseView>
            </Card>
          ))}
        </div>
      </div>
    </>
  );
};
