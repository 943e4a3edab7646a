/** Saves all rows of a list as a CSV file: says how many there are, then how many have arrived. */
import type { CSVOperation } from '@firsthand/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../api.ts';
import { type CSVFile, type CSVRequest, type Reading, readCSV } from '../reading/csv.ts';
import { formatWhole } from '../reading/format.ts';
import { download } from './csv.ts';
import { DialogForm } from './dialog-form.tsx';
import { show } from './notices.tsx';

interface SavedFile {
  readonly title: string;
  /** How many rows there are, or reads it. Where that is unknown, the dialog reads the file to count them. */
  readonly count?: number | (() => Promise<number | undefined>) | undefined;
  readonly read: (reading: Reading) => CSVFile | Promise<CSVFile>;
  /** Follows the number of rows. */
  readonly note?: string;
}

const rowsOf = (count: number): string => (count === 1 ? '1 row' : `${formatWhole(count)} rows`);

const SavingDialog = ({ title, count, read, note = '', close }: SavedFile & { readonly close: () => void }) => {
  const [total, setTotal] = useState(typeof count === 'number' ? count : undefined);
  /** While the file is read. */
  const [rows, setRows] = useState<number | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const ending = useRef(new AbortController());
  const file = useRef<CSVFile | undefined>(undefined);
  const { signal } = ending.current;
  const readFile = async () => {
    setProblem('');
    setRows(0);
    try {
      file.current = await read({ signal, progress: setRows });
      setTotal(file.current.rows);
    } catch (error) {
      if (!signal.aborted) setProblem(`The file is not complete and was not saved. ${messageOf(error)}`);
    }
    setRows(undefined);
  };
  const findTotal = async () => {
    const found = typeof count === 'function' ? await count().catch(() => undefined) : count;
    if (found === undefined) await readFile();
    else setTotal(found);
  };
  useEffect(() => {
    findTotal();
    return () => ending.current.abort();
  }, []);
  const save = async () => {
    if (!file.current) await readFile();
    if (!file.current) return;
    download(`${title.toLowerCase()}.csv`, file.current.content);
    close();
    show({ text: `Saved ${rowsOf(file.current.rows)}.` });
  };
  return (
    <DialogForm
      title={`${title} as CSV`}
      close={close}
      action="Save"
      submit={save}
      problem={problem}
      isDisabled={rows !== undefined || (total === undefined && problem === '')}
    >
      {rows === undefined ? (
        <p role="status">{total === undefined ? 'Counting the rows …' : `The file has ${rowsOf(total)}${note}.`}</p>
      ) : (
        <p>
          <progress max={total && Math.max(total, rows)} value={total && rows} aria-label="Rows received" />{' '}
          <span role="status">
            {formatWhole(rows)}
            {total !== undefined && ` of ${formatWhole(total)}`} rows
          </span>
        </p>
      )}
    </DialogForm>
  );
};

/** Saves a file of rows that the page has, or reads. */
export const SaveFile = (props: SavedFile) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        class="quiet save"
        aria-haspopup="dialog"
        aria-label={`${props.title}: save as CSV`}
        onClick={() => setOpen(true)}
      >
        CSV
      </button>
      {isOpen && <SavingDialog {...props} close={() => setOpen(false)} />}
    </>
  );
};

/** Saves all rows of an operation, whichever of them the page shows. */
export const SaveCSV = <Name extends CSVOperation>({
  operation,
  request,
  ...props
}: Omit<SavedFile, 'read'> & { readonly operation: Name; readonly request: CSVRequest<Name> }) => (
  <SaveFile {...props} read={(reading) => readCSV(operation, request, reading)} note=", not only those on this page" />
);
