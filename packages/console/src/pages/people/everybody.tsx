/** Everybody of the range: contacts and browsers that nobody is known for, the last seen first. */
import { query, setQuery } from '../../address.ts';
import { api } from '../../api.ts';
import { Answered, Card } from '../../parts/card.tsx';
import { SaveCSV } from '../../parts/save-csv.tsx';
import { Ago, Empty } from '../../parts/small.tsx';
import { timezone } from '../../reading/account.ts';
import { filterWith } from '../../reading/filter.ts';
import { formatWhole } from '../../reading/format.ts';
import { usePages } from '../../reading/pages.ts';
import { nameOfPerson } from '../../reading/person.ts';
import { range } from '../../reading/range.ts';
import { PeopleTable } from './people-table.tsx';

const limit = 50;

export const Everybody = () => {
  const { from, to } = range.value;
  const usersAtLeast = query.value.get('browsers') === 'several' ? 2 : undefined;
  const request = { from, to, filter: filterWith(), timezone: timezone.value, usersAtLeast };
  const { answer, more } = usePages(`everybody ${JSON.stringify(request)}`, async (cursor, signal) => {
    const { person, nextCursor } = await api.reportPeople({ ...request, limit, cursor }, { signal });
    return { entries: person, nextCursor };
  });
  /** A count of people does not tell how many browsers each of them has. */
  const readCount = async () => {
    if (usersAtLeast !== undefined) return undefined;
    const { usersAtLeast: _, ...counted } = request;
    return (await api.reportTotals(counted)).total.people;
  };
  const tools = (
    <>
      <select
        aria-label="Browsers"
        value={query.value.get('browsers') ?? ''}
        onChange={(event) => setQuery({ browsers: event.currentTarget.value })}
      >
        <option value="">Any number of browsers</option>
        <option value="several">Several browsers</option>
      </select>
      <SaveCSV title="Recent visitors" operation="reportPeople" request={request} count={readCount} />
    </>
  );
  return (
    <Card title="Recent visitors" tools={tools} class="list">
      <Answered answer={answer} lines={12}>
        {(people) =>
          people.length === 0 ? (
            <Empty title="Nobody in this range" />
          ) : (
            <PeopleTable
              heads={['Browsers', 'Events', 'First', 'Last']}
              more={more}
              rows={people.map((person) => ({
                id: person.contactUUID || person.userUUID,
                name: nameOfPerson(person),
                detail: person.contactEmailaddress,
                isAnonymous: person.contactUUID === '',
                cells: [
                  formatWhole(person.users),
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
