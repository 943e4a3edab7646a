/** Everybody of the range: contacts and browsers that nobody is known for, the last seen first. */
import { query, setQuery } from '../../address.ts';
import { api } from '../../api.ts';
import { Answered, Card } from '../../parts/card.tsx';
import { SaveCSV } from '../../parts/save-csv.tsx';
import { Ago, Empty } from '../../parts/small.tsx';
import { revenueAttrID, timezone } from '../../reading/account.ts';
import { useAnswer } from '../../reading/answer.ts';
import { attributeName, filterWith } from '../../reading/filter.ts';
import { formatWhole, moneyForms } from '../../reading/format.ts';
import { usePages } from '../../reading/pages.ts';
import { nameOfPerson } from '../../reading/person.ts';
import { range } from '../../reading/range.ts';
import { chosenIn } from '../events/choices.tsx';
import { PeopleTable } from './people-table.tsx';

const limit = 50;

type Order = 'lastTime' | 'events' | 'sum';

export const Everybody = () => {
  const { from, to } = range.value;
  const usersAtLeast = query.value.get('browsers') === 'several' ? 2 : undefined;
  const attrID = revenueAttrID.value;
  const orders: Readonly<Partial<Record<Order, string>>> = {
    lastTime: 'Last seen first',
    events: 'Most events first',
    ...(attrID !== undefined && { sum: `Highest ${attributeName(attrID).toLowerCase()} first` }),
  };
  const sort = chosenIn<Order>('sort', orders as Readonly<Record<Order, string>>);
  const request = { from, to, filter: filterWith(), timezone: timezone.value, usersAtLeast, attrID, sort };
  const { answer, more } = usePages(`everybody ${JSON.stringify(request)}`, async (cursor, signal) => {
    const { person, nextCursor } = await api.reportPeople({ ...request, limit, cursor }, { signal });
    return { entries: person, nextCursor };
  });
  /** A count of people does not include how many browsers each has. */
  const { usersAtLeast: _, sort: __, ...counted } = request;
  const total = useAnswer(`people count ${usersAtLeast} ${JSON.stringify(counted)}`, async (signal) =>
    usersAtLeast === undefined ? (await api.reportTotals(counted, { signal })).total.people : undefined,
  );
  const count = total.isOld ? undefined : total.value;
  const numbers = ['Browsers', 'Events', ...(attrID === undefined ? [] : [attributeName(attrID)])];
  const tools = (
    <>
      <select
        aria-label="Order"
        value={sort}
        onChange={({ currentTarget: { value } }) => setQuery({ sort: value === 'lastTime' ? null : value })}
      >
        {Object.entries(orders).map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
      <select
        aria-label="Browsers"
        value={query.value.get('browsers') ?? ''}
        onChange={(event) => setQuery({ browsers: event.currentTarget.value })}
      >
        <option value="">Any number of browsers</option>
        <option value="several">Several browsers</option>
      </select>
      <SaveCSV title="Everyone" operation="reportPeople" request={request} count={count} />
    </>
  );
  return (
    <Card title={count === undefined ? 'Everyone' : `Everyone · ${formatWhole(count)}`} tools={tools} class="list">
      <Answered answer={answer} lines={12}>
        {(people) =>
          people.length === 0 ? (
            <Empty title="No people in this range" />
          ) : (
            <PeopleTable
              heads={[...numbers, 'First', 'Last']}
              numbers={numbers}
              more={more}
              rows={people.map((person) => ({
                id: person.contactUUID || person.userUUID,
                name: nameOfPerson(person),
                detail: person.contactEmailaddress,
                isAnonymous: person.contactUUID === '',
                cells: [
                  formatWhole(person.users),
                  formatWhole(person.events),
                  ...(attrID === undefined
                    ? []
                    : [person.value?.sum == null ? '–' : moneyForms.value.decimal(person.value.sum)]),
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
