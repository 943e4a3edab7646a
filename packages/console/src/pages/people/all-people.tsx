/** All people in the range: contacts and anonymous browsers. */
import { query, setQuery } from '../../address.ts';
import { api } from '../../api.ts';
import { Card, ResponseView } from '../../parts/card.tsx';
import { SaveCSV } from '../../parts/save-csv.tsx';
import { EmptyState, RelativeTime } from '../../parts/small.tsx';
import { revenueAttrID, timezone } from '../../reading/account.ts';
import { attributeName, conditions, filterWith } from '../../reading/filter.ts';
import { currencyFormats, formatWhole } from '../../reading/format.ts';
import { usePagination } from '../../reading/pages.ts';
import { nameOfPerson } from '../../reading/person.ts';
import { range } from '../../reading/range.ts';
import { useFetch } from '../../reading/use-fetch.ts';
import { readChoiceParameter } from '../events/choices.tsx';
import { PeopleTable } from './people-table.tsx';

const limit = 50;

type Order = 'lastTime' | 'events' | 'sum';

export const AllPeople = () => {
  const { from, to } = range.value;
  const usersAtLeast = query.value.get('browsers') === 'several' ? 2 : undefined;
  const attrID = revenueAttrID.value;
  const orders: Readonly<Partial<Record<Order, string>>> = {
    lastTime: 'Most recent first',
    events: 'Most events first',
    ...(attrID !== undefined && { sum: `Highest ${attributeName(attrID).toLowerCase()} first` }),
  };
  const sort = readChoiceParameter<Order>('sort', orders as Readonly<Record<Order, string>>);
  const request = { from, to, filter: filterWith(), timezone: timezone.value, usersAtLeast, attrID, sort };
  const { response, more } = usePagination(`everybody ${JSON.stringify(request)}`, async (cursor, signal) => {
    const { person, nextCursor } = await api.reportPeople({ ...request, limit, cursor }, { signal });
    return { entries: person, nextCursor };
  });
  /** reportTotals accepts neither a minimum number of browsers nor a sort order. */
  const { usersAtLeast: _, sort: __, ...countRequest } = request;
  const total = useFetch(`people count ${usersAtLeast} ${JSON.stringify(countRequest)}`, async (signal) =>
    usersAtLeast === undefined ? (await api.reportTotals(countRequest, { signal })).total.people : undefined,
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
        <option value="several">2 or more browsers</option>
      </select>
      <SaveCSV title="Everyone" operation="reportPeople" request={request} count={count} />
    </>
  );
  return (
    <Card title={count === undefined ? 'Everyone' : `Everyone · ${formatWhole(count)}`} tools={tools} class="list">
      {conditions.value.length > 0 && <p class="soft">Counts only events that match the filter.</p>}
      <ResponseView response={response} lines={12}>
        {(people) =>
          people.length === 0 ? (
            <EmptyState title="No people in this range" />
          ) : (
            <PeopleTable
              headers={[...numbers, 'First seen', 'Last seen']}
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
                    : [person.value?.sum == null ? '–' : currencyFormats.value.decimal(person.value.sum)]),
                  <RelativeTime key="first" time={person.firstTime} />,
                  <RelativeTime key="last" time={person.lastTime} />,
                ],
              }))}
            />
          )
        }
      </ResponseView>
    </Card>
  );
};
