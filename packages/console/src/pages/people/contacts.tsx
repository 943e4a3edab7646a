/** The contact list, with search, filter and bulk changes. */
import type { RequestFor } from '@firsthand/client';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api, messageOf } from '../../api.ts';
import { Card, ResponseView } from '../../parts/card.tsx';
import { Lazy } from '../../parts/lazy.tsx';
import { show } from '../../parts/notices.tsx';
import { SaveCSV } from '../../parts/save-csv.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { Badge, EmptyState, RelativeTime } from '../../parts/small.tsx';
import { canEdit } from '../../reading/account.ts';
import type { ContactResult } from '../../reading/contact-values.ts';
import { formatTime, formatWhole } from '../../reading/format.ts';
import { usePagination } from '../../reading/pages.ts';
import { nameOfPerson } from '../../reading/person.ts';
import { clearFetchCache } from '../../reading/use-fetch.ts';
import { BulkActions } from './bulk-actions.tsx';
import { ColumnChoice, ContactFilter, chosenColumns, columnTitles, contactSearch } from './contact-filter.tsx';
import { PeopleTable } from './people-table.tsx';

const limit = 50;
/** How many contacts can be selected at a time. */
const maxChosen = 10_000;

const cellOf = (contact: ContactResult, column: string): ComponentChildren => {
  if (column === 'tag')
    return (
      <span key="tags" class="badges">
        {contact.tag.map(({ tagID, tagName }) => (
          <Badge key={tagID}>{tagName}</Badge>
        ))}
      </span>
    );
  if (column === 'contactStatus')
    return contact.contactStatus === 'active' ? (
      <span class="soft">active</span>
    ) : (
      <Badge>{contact.contactStatus}</Badge>
    );
  if (column === 'lastSeenTime')
    return contact.lastSeenTime ? formatTime(contact.lastSeenTime, 'day', 'UTC') : <span class="soft">never</span>;
  if (column === 'createdTime') return <RelativeTime key="created" time={contact.createdTime} />;
  if (column.startsWith('attr:'))
    return contact.contactAttr.find(({ attrID }) => `attr:${attrID}` === column)?.attrValue;
  return contact[column as 'contactTelephone'];
};

/** Reads all pages of a contact search. Throws if there are more than can be selected. */
const readAll = async (request: RequestFor<'searchContact'>): Promise<ReadonlyMap<string, ContactResult>> => {
  const all = new Map<string, ContactResult>();
  for await (const { contact } of api.pages('searchContact', { ...request, limit: 1_000 })) {
    for (const each of contact) all.set(each.contactUUID, each);
    if (all.size > maxChosen)
      throw new Error(`You can select at most ${formatWhole(maxChosen)} contacts at a time. Narrow the filter.`);
  }
  return all;
};

const NoContacts = ({ isSearch }: { readonly isSearch: boolean }) => (
  <EmptyState title={isSearch ? 'No match' : 'No contacts yet'}>
    <p class="soft">
      {isSearch
        ? 'Try a different search or filter.'
        : 'Call tracker.createContact when a visitor tells you who they are. Everything they did before becomes part of their history.'}
    </p>
  </EmptyState>
);

const loadImport = () => import('../import-files.ts').then(({ ImportContacts }) => ImportContacts);

const ImportButton = ({ refresh }: { readonly refresh: () => void }) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="quiet" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Import
      </button>
      {isOpen && <Lazy load={loadImport} close={() => setOpen(false)} refresh={refresh} />}
    </>
  );
};

export const Contacts = () => {
  const search = contactSearch();
  const request = { ...search, sort: 'seen', order: 'desc' } as const;
  const key = `contacts ${JSON.stringify(request)}`;
  const [total, setTotal] = useState<{ readonly key: string; readonly count: number | undefined }>();
  const { response, more } = usePagination(key, async (cursor, signal) => {
    const page = await api.searchContact(
      { ...request, limit, cursor, ...(cursor === undefined && { include: ['count'] }) },
      { signal },
    );
    if (cursor === undefined) setTotal({ key, count: page.count });
    return { entries: page.contact, nextCursor: page.nextCursor };
  });
  const count = total?.key === key ? total.count : undefined;
  const [chosen, setChosen] = useState<ReadonlyMap<string, ContactResult>>(new Map());
  useEffect(() => setChosen(new Map()), [key]);
  const choose = (contacts: readonly ContactResult[], isChosen: boolean) => {
    const next = new Map(chosen);
    for (const contact of contacts)
      if (isChosen) next.set(contact.contactUUID, contact);
      else next.delete(contact.contactUUID);
    setChosen(next);
  };
  const chooseAll = async () => {
    try {
      setChosen(await readAll(request));
    } catch (error) {
      show({ text: messageOf(error), isProblem: true });
    }
  };
  const refresh = () => {
    clearFetchCache();
    response.reload();
  };
  const tools = (
    <>
      <SearchBox label="Name or e-mail address" />
      <ContactFilter />
      <ColumnChoice contacts={response.value ?? []} />
      {canEdit.value && <ImportButton refresh={refresh} />}
      <SaveCSV title="Contacts" operation="searchContact" request={request} count={count} />
    </>
  );
  const isSearch = Object.values(search).some((value) => value !== undefined);
  const columns = chosenColumns();
  const titles = columnTitles();
  return (
    <Card title={count === undefined ? 'Contacts' : `Contacts · ${formatWhole(count)}`} tools={tools} class="list">
      {chosen.size > 0 && (
        <BulkActions
          chosen={[...chosen.values()]}
          total={count}
          chooseAll={chooseAll}
          clear={() => setChosen(new Map())}
          refresh={refresh}
        />
      )}
      <ResponseView response={response} lines={12}>
        {(contacts) =>
          contacts.length === 0 ? (
            <NoContacts isSearch={isSearch} />
          ) : (
            <PeopleTable
              headers={columns.map((column) => titles.get(column) ?? column)}
              more={more}
              {...(canEdit.value && {
                choice: {
                  isChosen: (id: string) => chosen.has(id),
                  choose: (ids: readonly string[], isChosen: boolean) =>
                    choose(
                      contacts.filter(({ contactUUID }) => ids.includes(contactUUID)),
                      isChosen,
                    ),
                },
              })}
              rows={contacts.map((contact) => ({
                id: contact.contactUUID,
                name: nameOfPerson(contact),
                detail: contact.contactEmailaddress,
                isAnonymous: false,
                cells: columns.map((column) => cellOf(contact, column)),
              }))}
            />
          )
        }
      </ResponseView>
    </Card>
  );
};
