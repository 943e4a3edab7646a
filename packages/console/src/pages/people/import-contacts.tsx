/** The dialog that imports a CSV file of contacts: its columns, a dry run, the import and its undo. */
import {
  type ContactCounts,
  type ContactTarget,
  checkContacts,
  createRefusedTable,
  hashStream,
  importContacts,
  mapColumns,
  type RefusedRow,
  readContacts,
} from '@firsthand/import-formats';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, messageOf } from '../../api.ts';
import { download, toFile } from '../../parts/csv.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { hideNotice, show } from '../../parts/notices.tsx';
import { account } from '../../reading/account.ts';
import { formatWhole } from '../../reading/format.ts';

const targetNames: readonly (readonly [target: ContactTarget, name: string])[] = [
  ['contactEmailaddress', 'E-mail address'],
  ['contactExternalID', 'Your own ID'],
  ['contactTitle', 'Title'],
  ['contactFirstname', 'First name'],
  ['contactLastname', 'Last name'],
  ['contactTelephone', 'Telephone'],
  ['contactMobile', 'Mobile'],
  ['contactJobRole', 'Job'],
  ['contactProfileID', 'Profile'],
  ['contactTagID', 'Tags'],
  ['contactStatus', 'Status'],
];
const rowsShown = 3;
const refusedShown = 5;
/** How long the notice offers an undo. The list of imports offers it later. */
const undoMs = 60_000;
/** The maximum file size: all refused rows are held in memory. */
const maxBytes = 200 * 1024 * 1024;

type Columns = ReadonlyMap<string, ContactTarget | undefined>;
type Row = RefusedRow['row'];

/** Explains which two columns are imported as the same field; undefined if each field has one column. */
const findShared = (columns: Columns): string | undefined => {
  const columnOf = new Map<ContactTarget, string>();
  for (const [column, target] of columns) {
    if (target === undefined) continue;
    const other = columnOf.get(target);
    const name = targetNames.find(([each]) => each === target)?.[1] ?? target;
    if (other !== undefined) return `“${other}” and “${column}” are both imported as ${name}. Choose one of them.`;
    columnOf.set(target, column);
  }
  return undefined;
};

/** Reads the header and the first rows. Rejects with an UnreadableFileError. */
const readStart = async (
  file: File,
): Promise<{ readonly header: readonly string[]; readonly rows: readonly Row[] }> => {
  const rows: Row[] = [];
  let header: readonly string[] = [];
  for await (const { file: read, row } of readContacts(file.stream(), 'preview')) {
    header = read.header;
    if (row) rows.push(row);
    if (rows.length === rowsShown) break;
  }
  return { header, rows };
};

const saveRefused = (refused: readonly RefusedRow[], header: readonly string[]): void => {
  const table = createRefusedTable(header);
  download('refused contacts.csv', toFile(table.header, refused.map(table.toCells)).content);
};

interface Result {
  readonly counts: ContactCounts & { readonly unreadable: number };
  readonly refused: readonly RefusedRow[];
  /** Absent after a dry run. */
  readonly importID?: string;
}

const ResultView = ({ result, header }: { readonly result: Result; readonly header: readonly string[] }) => {
  const { counts, refused, importID } = result;
  const { unreadable } = counts;
  return (
    <>
      <p role="status">
        {importID === undefined ? 'This would be the result. Created' : 'Created'}: {formatWhole(counts.created)},
        changed: {formatWhole(counts.changed)}, unchanged: {formatWhole(counts.unchanged)}, refused:{' '}
        {formatWhole(counts.refused - unreadable)}
        {unreadable > 0 && `, invalid rows: ${formatWhole(unreadable)}`}.
      </p>
      {refused.length > 0 && (
        <>
          <ul class="refused-rows">
            {refused.slice(0, refusedShown).map(({ line, column, reason }) => (
              <li key={line}>
                Line {line}
                {column && `, ${column}`}: {reason}.
              </li>
            ))}
          </ul>
          <p>
            <button type="button" class="quiet" onClick={() => saveRefused(refused, header)}>
              Save refused rows
            </button>
          </p>
        </>
      )}
    </>
  );
};

/** The catalogue's attribute with a column's name, in any case. */
const findAttribute = (column: string): ContactTarget | undefined => {
  const name = column.trim().toLowerCase();
  const match = (account.value?.attr ?? []).find(
    ({ attrID, attrName, mergedInto }) =>
      mergedInto === undefined && (attrID.toLowerCase() === name || attrName.toLowerCase() === name),
  );
  return match && `contactAttr.${match.attrID}`;
};

/** Attribute columns in Firsthand's own export already have this form. */
const attributeOf = (column: string): string =>
  column.startsWith('contactAttr.') ? column : (findAttribute(column) ?? `contactAttr.${column}`);

const ColumnTable = ({
  header,
  rows,
  columns,
  choose,
  isDisabled,
}: {
  readonly header: readonly string[];
  readonly rows: readonly Row[];
  readonly columns: Columns;
  readonly choose: (column: string, target: ContactTarget | undefined) => void;
  readonly isDisabled: boolean;
}) => (
  <table class="table">
    <thead>
      <tr>
        <th>Column</th>
        <th>First rows</th>
        <th>Import as</th>
      </tr>
    </thead>
    <tbody>
      {header.map((column) => (
        <tr key={column}>
          <td>{column}</td>
          <td class="soft">{rows.flatMap((row) => String(row[column] ?? '').slice(0, 30) || []).join(', ')}</td>
          <td>
            <select
              aria-label={`Import ${column} as`}
              disabled={isDisabled}
              value={columns.get(column) ?? ''}
              onChange={({ currentTarget }) => choose(column, (currentTarget.value || undefined) as ContactTarget)}
            >
              <option value="">Not imported</option>
              {targetNames.map(([target, name]) => (
                <option key={target} value={target}>
                  {name}
                </option>
              ))}
              <option value={attributeOf(column)}>Attribute {attributeOf(column).slice('contactAttr.'.length)}</option>
            </select>
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

export const ImportContacts = ({ close, refresh }: { readonly close: () => void; readonly refresh: () => void }) => {
  const [file, setFile] = useState<File>();
  const [start, setStart] = useState<Awaited<ReturnType<typeof readStart>>>();
  const [columns, setColumns] = useState<Columns>(new Map());
  const [progress, setProgress] = useState<number>();
  const [result, setResult] = useState<Result>();
  const [problem, setProblem] = useState('');
  const controller = useRef(new AbortController());
  useEffect(() => () => controller.current.abort(), []);

  const attempt = async (work: () => Promise<void>) => {
    setProblem('');
    try {
      await work();
    } catch (error) {
      if (!controller.current.signal.aborted) setProblem(messageOf(error));
    }
    setProgress(undefined);
  };
  const open = (chosen: File | undefined) =>
    attempt(async () => {
      setFile(undefined);
      setResult(undefined);
      if (!chosen) return;
      const read = await readStart(chosen);
      const recognized = mapColumns(read.header);
      setColumns(new Map(read.header.map((name) => [name, recognized.get(name) ?? findAttribute(name)])));
      setStart(read);
      setFile(chosen);
    });
  const run = (given: File, dryRun: boolean) =>
    attempt(async () => {
      if (given.size > maxBytes)
        throw new Error('The file is larger than 200 MB: import it with `firsthand contact import`.');
      const shared = findShared(columns);
      if (shared !== undefined) throw new Error(shared);
      setProgress(0);
      hideNotice();
      const source = { open: () => given.stream(), columns };
      const { settings } = await checkContacts(source);
      const { signal } = controller.current;
      // Importing the same rows with the same settings continues the earlier import.
      const fingerprint = dryRun ? '' : await hashStream(given.stream(), settings);
      const created = dryRun
        ? undefined
        : await api.createImport({ kind: 'contacts', importName: given.name, fingerprint }, { signal });
      if (created?.state === 'complete') throw new Error('This file was imported before. Nothing has changed.');
      const { importID, position = 0 } = created ?? {};
      const refused: RefusedRow[] = [];
      const undo = async () => {
        await api.undoImport({ importID: importID ?? '' });
        refresh();
      };
      try {
        const counts = await importContacts({
          ...source,
          position,
          send: (batch) => api.importContacts({ ...batch, ...(dryRun ? { dryRun } : { importID }) }, { signal }),
          onRefused: (row) => void refused.push(row),
          onProgress: ({ created, changed, unchanged, refused }) =>
            setProgress(created + changed + unchanged + refused),
        });
        setResult({ counts, refused, ...(importID !== undefined && { importID }) });
        if (importID !== undefined) show({ text: `Imported ${given.name}.`, undo, visibleMs: undoMs });
      } catch (error) {
        // Contacts imported before an error remain.
        if (importID !== undefined) show({ text: `Imported part of ${given.name}.`, undo, visibleMs: undoMs });
        throw error;
      } finally {
        if (importID !== undefined) refresh();
      }
    });
  const isChecked = result !== undefined;
  const isImported = result?.importID !== undefined;
  return (
    <DialogForm
      title="Import contacts"
      class="import"
      close={close}
      action={isImported ? 'Done' : isChecked ? 'Import' : 'Check'}
      isDisabled={!file || progress !== undefined}
      problem={problem}
      submit={() => {
        if (isImported) return close();
        return file && run(file, !isChecked);
      }}
    >
      <p>
        <input
          type="file"
          disabled={progress !== undefined}
          accept=".csv,text/csv"
          aria-label="CSV file"
          onChange={({ currentTarget }) => open(currentTarget.files?.[0])}
        />
      </p>
      {!file && (
        <p class="hint">
          A CSV file from Mautic, Klaviyo, HubSpot, Mailchimp or a spreadsheet, with the names of columns on its first
          line. Nothing is stored before you have seen what would change.
        </p>
      )}
      {file && start && (
        <ColumnTable
          {...start}
          columns={columns}
          isDisabled={progress !== undefined}
          choose={(column, target) => {
            setColumns(new Map([...columns, [column, target]]));
            setResult(undefined);
          }}
        />
      )}
      {progress !== undefined && (
        <p role="status">
          {formatWhole(progress)} {progress === 1 ? 'row' : 'rows'}…
        </p>
      )}
      {result && start && <ResultView result={result} header={start.header} />}
    </DialogForm>
  );
};
