/** One catalogue: a table of its entries with search, CSV export, and an “Add” button. */
import { api } from '../../api.ts';
import { Card, ResponseView } from '../../parts/card.tsx';
import { toFile } from '../../parts/csv.ts';
import { SaveFile } from '../../parts/save-csv.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { EmptyState } from '../../parts/small.tsx';
import { account, canEdit, readAccount } from '../../reading/account.ts';
import { formatWhole } from '../../reading/format.ts';
import { useFetch } from '../../reading/use-fetch.ts';
import { AddEntry } from './add-entry.tsx';
import { CatalogueTable } from './catalogue-table.tsx';
import { type Entry, entriesOf, type Kind, kinds, searchEntries } from './entries.ts';

const fileOf = (kind: Kind, entries: readonly Entry[]) => {
  const isEvent = kind === 'event';
  return toFile(
    [
      'ID',
      'name',
      'merged IDs',
      ...(kind === 'attr' ? ['type'] : []),
      'browser tokens',
      ...(isEvent ? ['events', 'first', 'last'] : []),
    ],
    entries.map(({ id, name, type, browser, uses, merged }) => [
      id,
      name,
      merged.map((other) => other.id).join(' '),
      ...(kind === 'attr' ? [type] : []),
      browser ? 'yes' : 'no',
      ...(isEvent ? [uses?.count ?? 0, uses?.firstTime, uses?.lastTime] : []),
    ]),
  );
};

/** The event counts. Rereads them and the catalogue after each merge, which changes the counts. */
const useEventCounts = (kind: Kind) =>
  useFetch(`uses ${kind} ${account.value?.event.map(({ mergedInto = '' }) => mergedInto)}`, async (signal) => {
    const { eventDefinition = [] } =
      kind === 'event' ? await api.getEvent({ include: 'definition', limit: 1 }, { signal }) : {};
    // New names may have been added since the account was last read; without a reload, their events would appear as
    // “not listed”.
    await readAccount();
    return eventDefinition;
  });

export const CatalogueCard = ({ kind, text }: { readonly kind: Kind; readonly text: string }) => {
  const response = useEventCounts(kind);
  const { title, singular, description } = kinds[kind];
  const catalogues = account.value;
  const entries = catalogues ? entriesOf(kind, catalogues, response.value ?? []) : [];
  const matches = searchEntries(text, entries);
  const tools = (
    <>
      <SearchBox label="Name or ID" />
      <SaveFile title={title} read={() => fileOf(kind, matches)} />
      {canEdit.value && <AddEntry kind={kind} entries={entries} />}
    </>
  );
  return (
    <Card title={`${title} · ${formatWhole(entries.length)}`} tools={tools} class="list">
      <p class="soft">“Browser tokens” shows whether pages may use an entry.</p>
      <ResponseView response={response} lines={8}>
        {() =>
          matches.length > 0 ? (
            <CatalogueTable kind={kind} entries={matches} all={entries} />
          ) : (
            <EmptyState
              title={entries.length > 0 ? `No ${singular} has this name or ID` : `No ${title.toLowerCase()} yet`}
            >
              <p class="soft">{entries.length > 0 ? 'Try a different search.' : description}</p>
            </EmptyState>
          )
        }
      </ResponseView>
    </Card>
  );
};
