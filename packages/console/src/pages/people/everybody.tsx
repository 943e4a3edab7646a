/** Everybody of the range: contacts and browsers that nobody is known for, the last seen first. */
import { query, setQuery } from '../../address.ts';
import { api } from '../../api.ts';
import { Answered, Card } from '../../parts/card.tsx';
import { downloadCSV } from '../../parts/csv.ts';
import { Ago, Empty } from '../../parts/small.tsx';
import { timezone } from '../../reading/account.ts';
import { useAnswer } from '../../reading/answer.ts';
import { filterWith } from '../../reading/filter.ts';
import { formatWhole } from '../../reading/format.ts';
import { usePages } from '../../reading/pages.ts';
import { nameOfPerson } from '../../reading/person.ts';
import { range } from '../../reading/range.ts';
import { PeopleTable } from './people-table.tsx';

const limit = 50;

/** Chooses a saved segment. */
const SegmentChoice = () => {
  const { value } = useAnswer('segments', (signal) => api.listSegments({}, { signal }));
  if (!value || value.segment.length === 0) return null;
  return (
    <select
      aria-label="Segment"
      value={query.value.get('segment') ?? ''}
      onChange={(event) => setQuery({ segment: event.currentTarget.value })}
    >
      <option value="">Any segment</option>
      {value.segment.map(({ segmentName }) => (
        <option key={segmentName} value={segmentName}>
          {segmentName}
        </option>
      ))}
    </select>
  );
};

export const Everybody = () => {
  const { from, to } = range.value;
  const segment = query.value.get('segment');
  const filter = segment === null ? filterWith() : filterWith({ segment });
  const request = { from, to, filter, timezone: timezone.value, limit };
  const { answer, more } = usePages(`everybody ${JSON.stringify(request)}`, async (cursor, signal) => {
    const { person, nextCursor } = await api.reportPeople({ ...request, cursor }, { signal });
    return { entries: person, nextCursor };
  });
  const save = () =>
    downloadCSV(
      'people',
      ['contactUUID', 'userUUID', 'name', 'e-mail address', 'events', 'first', 'last'],
      (answer.value ?? []).map((person) => [
        person.contactUUID,
        person.userUUID,
        nameOfPerson(person),
        person.contactEmailaddress,
        person.events,
        person.firstTime,
        person.lastTime,
      ]),
    );
  const tools = (
    <>
      <SegmentChoice />
      <button type="button" class="quiet" onClick={save}>
        CSV
      </button>
    </>
  );
  return (
    <Card title="Everybody lately" tools={tools} class="list">
      <Answered answer={answer} lines={12}>
        {(people) =>
          people.length === 0 ? (
            <Empty title="Nobody in this range" />
          ) : (
            <PeopleTable
              heads={['Events', 'First', 'Last']}
              more={more}
              rows={people.map((person) => ({
                id: person.contactUUID || person.userUUID,
                name: nameOfPerson(person),
                detail: person.contactEmailaddress,
                isAnonymous: person.contactUUID === '',
                cells: [
                  formatWhole(person.events),
                  <Ago key="first" time={person.firstTime} />,
                  <Ago key="last" time={person.lastTime} />,
                ],
              }))}
            />
          )
        }
      </Answered>
    </Card>
  );
};
