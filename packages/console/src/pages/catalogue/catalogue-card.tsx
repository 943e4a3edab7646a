/** One catalogue: its entries in a table, with a search, CSV, and a way to add. */
import { api } from '../../api.ts';
import { Answered, Card } from '../../parts/card.tsx';
import { toFile } from '../../parts/csv.ts';
import { SaveFile } from '../../parts/save-csv.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { Empty } from '../../parts/small.tsx';
import { account, mayChange, readAccount } from '../../reading/account.ts';
import { useAnswer } from '../../reading/answer.ts';
import { formatWhole } from '../../reading/format.ts';
import { Add } from './adding.tsx';
import { CatalogueTable } from './catalogue-table.tsx';
import { type Entry, entriesOf, entriesWith, type Kind, kinds } from './entries.ts';

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

/** The counts of events, which a merge changes. Reads the catalogue again. */
const useUses = (kind: Kind) =>
  useAnswer(`uses ${kind} ${account.value?.event.map(({ mergedInto = '' }) => mergedInto)}`, async (signal) => {
    const { eventDefinition = [] } =
      kind === 'event' ? await api.getEvent({ include: 'definition', limit: 1 }, { signal }) : {};
    // Names may have been listed since the account was read: without it, their events would seem not to be listed.
    await readAccount();
    return eventDefinition;
  });

export const CatalogueCard = ({ kind, text }: { readonly kind: Kind; readonly text: string }) => {
  const answer = useUses(kind);
  const { title, one, about } = kinds[kind];
  const catalogues = account.value;
  const entries = catalogues ? entriesOf(kind, catalogues, answer.value ?? []) : [];
  const found = entriesWith(text, entries);
  const tools = (
    <>
      <SearchBox label="Name or ID" />
      <SaveFile title={title} read={() => fileOf(kind, found)} />
      {mayChange.value && <Add kind={kind} entries={entries} />}
    </>
  );
  return (
    <Card title={`${title} · ${formatWhole(entries.length)}`} tools={tools} class="list">
      <p class="soft">Browser tokens: whether pages may send this name.</p>
      <Answered answer={answer} lines={8}>
        {() =>
          found.length > 0 ? (
            <CatalogueTable kind={kind} entries={found} all={entries} />
          ) : (
            <Empty title={entries.length > 0 ? `No ${one} has this name or ID` : `No ${title.toLowerCase()} yet`}>
              <p class="soft">{entries.length > 0 ? 'Search for another text.' : about}</p>
            </Empty>
          )
        }
      </Answered>
    </Card>
  );
};
