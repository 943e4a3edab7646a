/** Contacts, found by text, tag and status. */
import type { RequestFor } from '@firsthand/client';
import { query, setQuery } from '../../address.ts';
import { api } from '../../api.ts';
import { Answered, Card } from '../../parts/card.tsx';
import { downloadCSV } from '../../parts/csv.ts';
import { SearchBox } from '../../parts/search-box.tsx';
import { Ago, Badge, Empty } from '../../parts/small.tsx';
import { account } from '../../reading/account.ts';
import { formatTime } from '../../reading/format.ts';
import { usePages } from '../../reading/pages.ts';
import { nameOfPerson } from '../../reading/person.ts';
import { PeopleTable } from './people-table.tsx';

const limit = 50;
const statuses = ['active', 'unsubscribed', 'archived'] as const;

const Choice = ({
  parameter,
  label,
  options,
}: {
  readonly parameter: string;
  readonly label: string;
  readonly options: readonly (readonly [string, string])[];
}) => (
  <select
    aria-label={label}
    value={query.value.get(parameter) ?? ''}
    onChange={(event) => setQuery({ [parameter]: event.currentTarget.value })}
  >
    <option value="">{label}</option>
    {options.map(([value, name]) => (
      <option key={value} value={value}>
        {name}
      </option>
    ))}
  </select>
);

export const Contacts = () => {
  const text = query.value.get('text') ?? undefined;
  const tag = query.value.get('tag') ?? undefined;
  const status = query.value.get('status') ?? undefined;
  const request: RequestFor<'searchContact'> = {
    text,
    contactTagID: tag,
    contactStatus: statuses.find((each) => each === status),
    sort: 'seen',
    order: 'desc',
    limit,
  };
  const { answer, more } = usePages(`contacts ${JSON.stringify(request)}`, async (cursor, signal) => {
    const { contact, nextCursor } = await api.searchContact({ ...request, cursor }, { signal });
    return { entries: contact, nextCursor };
  });
  const save = () =>
    downloadCSV(
      'contacts',
      ['contactUUID', 'first name', 'last name', 'e-mail address', 'status', 'tags', 'created', 'last seen'],
      (answer.value ?? []).map((contact) => [
        contact.contactUUID,
        contact.contactFirstname,
        contact.contactLastname,
        contact.contactEmailaddress,
        contact.contactStatus,
        contact.tag.map(({ tagName }) => tagName).join(' '),
        contact.createdTime,
        contact.lastSeenTime,
      ]),
    );
  const tools = (
    <>
      <SearchBox label="Name or e-mail address" />
      <Choice
        parameter="tag"
        label="Any tag"
        options={(account.value?.tag ?? [])
          .filter(({ mergedInto }) => mergedInto === undefined)
          .map(({ tagID, tagName }) => [tagID, tagName])}
      />
      <Choice parameter="status" label="Any status" options={statuses.map((each) => [each, each])} />
      <button type="button" class="quiet" onClick={save}>
        CSV
      </button>
    </>
  );
  const isSearch = Boolean(text || tag || status);
  return (
    <Card title="Contacts" tools={tools} class="list">
      <Answered answer={answer} lines={12}>
        {(contacts) =>
          contacts.length === 0 ? (
            <Empty title={isSearch ? 'No match' : 'Nobody is known yet'}>
              <p class="soft">
                {isSearch
                  ? 'Another text, tag or status may find somebody.'
                  : 'When a visitor says who they are, tracker.createContact makes a contact of them, with all that they did before.'}
              </p>
            </Empty>
          ) : (
            <PeopleTable
              heads={['Tags', 'Status', 'Last seen', 'Created']}
              more={more}
              rows={contacts.map((contact) => ({
                id: contact.contactUUID,
                name: nameOfPerson(contact),
                detail: contact.contactEmailaddress,
                isAnonymous: false,
                cells: [
                  <span key="tags" class="badges">
                    {contact.tag.map(({ tagID, tagName }) => (
                      <Badge key={tagID}>{tagName}</Badge>
                    ))}
                  </span>,
                  contact.contactStatus === 'active' ? (
                    <span class="soft">active</span>
                  ) : (
                    <Badge>{contact.contactStatus}</Badge>
                  ),
                  contact.lastSeenTime ? (
                    formatTime(contact.lastSeenTime, 'day', 'UTC')
                  ) : (
                    <span class="soft">never</span>
                  ),
                  <Ago key="created" time={contact.createdTime} />,
                ],
              }))}
            />
          )
        }
      </Answered>
    </Card>
  );
};
