/** The account's imports: starting one, listing earlier ones, and undoing them. */
import type { ResponseFor } from '@firsthand/client';
import { useState } from 'preact/hooks';
import { api } from '../../../api.ts';
import { Card, ResponseView } from '../../../parts/card.tsx';
import { Badge, EmptyState, Time } from '../../../parts/small.tsx';
import { Table } from '../../../parts/table.tsx';
import { canEdit, isOwner } from '../../../reading/account.ts';
import { formatWhole } from '../../../reading/format.ts';
import { clearFetchCache, type FetchState, useFetch } from '../../../reading/use-fetch.ts';
import { ImportContacts } from '../../people/import-contacts.tsx';
import { isRunning, runningID } from './event-import.ts';
import { ImportEvents } from './import-events.tsx';
import { type Import, UndoImport } from './undo-import.tsx';

const State = ({ item: { importID, state, kept } }: { readonly item: Import }) => {
  if (state === 'complete') return <Badge tone="good">complete</Badge>;
  if (state === 'undoing')
    return (
      <span role="status">
        <progress class="undoing" aria-label="Undoing" /> undoing…
      </span>
    );
  if (state === 'running')
    return <Badge tone="open">{runningID.value === importID ? 'importing' : 'not complete'}</Badge>;
  return (
    <>
      <Badge>undone</Badge>
      {kept > 0 && (
        <small class="soft kept">{`${formatWhole(kept)} ${kept === 1 ? 'contact stays' : 'contacts stay'}`}</small>
      )}
    </>
  );
};

const pollMs = 1_000;
const [firstLimit, maxLimit] = [100, 1_000];

/** Reads the newest imports, repeatedly while one of them changes. */
const useImports = (limit: number): FetchState<ResponseFor<'listImports'>> => {
  const [isUndoing, setUndoing] = useState(false);
  const isChanging = isUndoing || isRunning.value;
  const read = async (signal: AbortSignal) => {
    const response = await api.listImports({ limit }, { signal });
    setUndoing(response.import.some(({ state }) => state === 'undoing'));
    return response;
  };
  return useFetch(`imports ${limit}`, read, isChanging ? { everyMs: pollMs } : {});
};

const canUndo = ({ kind, state, importID }: Import): boolean =>
  (isOwner.value || kind === 'contacts') &&
  (state === 'complete' || state === 'running') &&
  importID !== runningID.value;

interface ListProps {
  readonly response: FetchState<ResponseFor<'listImports'>>;
  readonly reload: () => void;
  readonly more: (() => void) | undefined;
}

const List = ({ response, reload, more }: ListProps) => (
  <Card title="Imports" class="list">
    <ResponseView response={response} lines={4}>
      {({ import: imports }) =>
        imports.length === 0 ? (
          <EmptyState title="No imports yet" />
        ) : (
          <Table
            label="Imports, newest first"
            headers={['File', 'Contains', 'State', 'Began', ...numbers, '']}
            numbers={numbers}
            more={more}
            rows={imports.map((each) => ({
              key: each.importID,
              cells: [
                each.importName,
                each.kind,
                <State key="state" item={each} />,
                <Time key="began" time={each.createdTime} form="long" />,
                ...[each.imported, each.repeated, each.refused].map(formatWhole),
                canUndo(each) && <UndoImport key="undo" item={each} refresh={reload} />,
              ],
            }))}
          />
        )
      }
    </ResponseView>
  </Card>
);
const numbers = ['Imported', 'Repeated', 'Refused'];

const ImportContactsCard = ({ refresh }: { readonly refresh: () => void }) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <Card title="Import contacts">
      <div class="stacked">
        <p class="soft">
          A CSV file from Mautic, Klaviyo, HubSpot, Mailchimp or a spreadsheet (
          <a href="../docs/import-contacts">columns</a>). You see what would change before anything is imported.
        </p>
        <p>
          <button type="button" aria-haspopup="dialog" onClick={() => setOpen(true)}>
            Import contacts…
          </button>
        </p>
      </div>
      {isOpen && <ImportContacts close={() => setOpen(false)} refresh={refresh} />}
    </Card>
  );
};

const Sections = () => {
  const [limit, setLimit] = useState(firstLimit);
  const response = useImports(limit);
  const hasMore = limit < maxLimit && (response.value?.import.length ?? 0) >= limit;
  const reload = () => {
    clearFetchCache();
    response.reload();
  };
  return (
    <div class="settings">
      <div class="settings settings-columns">
        {isOwner.value ? (
          <ImportEvents />
        ) : (
          <Card title="Import events">
            <p class="soft">Only owners can import events, and undo that.</p>
          </Card>
        )}
        <ImportContactsCard refresh={reload} />
      </div>
      <List response={response} reload={reload} more={hasMore ? () => setLimit(maxLimit) : undefined} />
    </div>
  );
};

export const Imports = () =>
  canEdit.value ? (
    <Sections />
  ) : (
    <Card title="Import">
      <EmptyState title="Only editors and owners can import files" />
    </Card>
  );
