/** A catalogue's entries, with their controls. */
import type { ComponentChildren } from 'preact';
import { RelativeTime } from '../../parts/small.tsx';
import { Switch } from '../../parts/switch.tsx';
import { Table } from '../../parts/table.tsx';
import { canEdit } from '../../reading/account.ts';
import { formatWhole } from '../../reading/format.ts';
import { type AttrType, attrTypes, type Entry, type Kind, kinds } from './entries.ts';
import { EntryName } from './entry-name.tsx';
import { MergedEntries, MergeEntry } from './merge-entry.tsx';
import { typeOptions } from './new-entry.ts';
import { RemoveEntry } from './remove-entry.tsx';
import { setBrowser, setType } from './undoable-changes.ts';

interface Column {
  readonly header: string;
  readonly render: (entry: Entry) => ComponentChildren;
}

const Type = ({ entry }: { readonly entry: Entry }) => {
  const { name, type = 'text' } = entry;
  if (!canEdit.value) return <>{attrTypes[type]}</>;
  return (
    <select
      aria-label={`Type of ${name}`}
      value={type}
      onChange={(event) => setType(entry, event.currentTarget.value as AttrType)}
    >
      {typeOptions.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  );
};

const never = <span class="soft">never</span>;

const columnsOf = (kind: Kind, all: readonly Entry[]): readonly Column[] => [
  {
    header: 'Name',
    render: (entry) => (
      <>
        <EntryName kind={kind} entry={entry} entries={all} />
        <MergedEntries kind={kind} entry={entry} />
      </>
    ),
  },
  { header: 'ID', render: ({ id }) => <code>{id}</code> },
  ...(kind === 'attr' ? [{ header: 'Type', render: (entry: Entry) => <Type entry={entry} /> }] : []),
  ...(kind === 'event'
    ? [
        { header: 'Events', render: ({ uses }: Entry) => formatWhole(uses?.count ?? 0) },
        { header: 'First', render: ({ uses }: Entry) => (uses ? <RelativeTime time={uses.firstTime} /> : never) },
        { header: 'Last', render: ({ uses }: Entry) => (uses ? <RelativeTime time={uses.lastTime} /> : never) },
      ]
    : []),
  {
    header: 'Browser tokens',
    render: (entry) => (
      <Switch
        label={`Browser tokens may use ${entry.name}`}
        isOn={entry.browser}
        isDisabled={!canEdit.value || !entry.isListed}
        change={(isOn) => setBrowser(kind, entry, isOn)}
      />
    ),
  },
  ...(canEdit.value
    ? [
        {
          header: '',
          render: (entry: Entry) =>
            entry.isListed &&
            entry.merged.length === 0 && (
              <>
                <MergeEntry kind={kind} entry={entry} entries={all} />
                <RemoveEntry kind={kind} entry={entry} />
              </>
            ),
        },
      ]
    : []),
];

interface CatalogueTableProps {
  readonly kind: Kind;
  readonly entries: readonly Entry[];
  /** All entries in the catalogue, as merge targets. */
  readonly all: readonly Entry[];
}

export const CatalogueTable = ({ kind, entries, all }: CatalogueTableProps) => {
  const columns = columnsOf(kind, all);
  return (
    <Table
      label={kinds[kind].title}
      headers={columns.map(({ header }) => header)}
      numbers={['Events']}
      rows={entries.map((entry) => ({ key: entry.id, cells: columns.map(({ render }) => render(entry)) }))}
    />
  );
};
