/** Live: who is here now, and events as they are stored. */
import type { AnswerFor } from '@firsthand/client';
import { api } from '../api.ts';
import { Bars } from '../parts/bars.tsx';
import { Answered, Card } from '../parts/card.tsx';
import { useAnswer } from '../reading/answer.ts';
import { formatCountry, formatWhole } from '../reading/format.ts';
import { LiveEvents } from './live/live-events.tsx';

type LiveAnswer = AnswerFor<'reportLive'>;
type List = LiveAnswer['page'];

const everyMs = 5_000;

const lists = {
  page: { title: 'On which pages', what: 'Page' },
  referrerHost: { title: 'From where', what: 'Site' },
  country: { title: 'From which countries', what: 'Country' },
} as const;

const LiveList = ({
  list,
  people,
  what,
  label = String,
}: {
  readonly list: List;
  readonly people: number;
  readonly what: string;
  readonly label?: (value: string) => string;
}) => (
  <Bars
    what={what}
    unit="People"
    none="Nobody in the last five minutes"
    total={people}
    bars={list.row
      .filter(({ value }) => value !== null)
      .map(({ value, people: count }) => ({ key: value ?? '', label: label(value ?? ''), count }))}
    others={list.others > 0 ? { count: list.others } : undefined}
  />
);

export const Live = () => {
  const answer = useAnswer('live', (signal) => api.reportLive({ limit: 6 }, { signal }), { everyMs });
  return (
    <>
      <header class="page-head">
        <h1>Live</h1>
        {(answer.value || answer.problem === undefined) && (
          <p class="now">
            <strong>{answer.value ? formatWhole(answer.value.people) : '–'}</strong> people in the last five minutes
          </p>
        )}
      </header>
      <div class="live">
        <LiveEvents />
        <div class="live-lists">
          {Object.entries(lists).map(([name, { title, what }]) => (
            <Card key={name} title={title} class="group">
              <Answered answer={answer} lines={3}>
                {(value) => (
                  <LiveList
                    list={value[name as keyof typeof lists]}
                    people={value.people}
                    what={what}
                    {...(name === 'country' && { label: formatCountry })}
                  />
                )}
              </Answered>
            </Card>
          ))}
        </div>
      </div>
    </>
  );
};
