/** The button and dialog that save all of a list's rows as CSV, with row count and progress. */
import type { CSVOperation } from '@firsthand/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../api.ts';
import { type CSVFile, type CSVRequest, type ReadOptions, readCSV } from '../reading/csv.ts';
import { formatWhole } from '../reading/format.ts';
import { download } from './csv.ts';
import { DialogForm } from './dialog-form.tsx';
import { show } from './notices.tsx';

interface SaveFileProps {
  readonly title: string;
  /** The number of rows, or a function that reads it. If unknown, the dialog reads the file to count them. */
  readonly count?: number | (() => Promise<number | undefined>) | undefined;
  readonly read: (reading: ReadOptions) => CSVFile | Promise<CSVFile>;
  /** Shown after the number of rows. */
  readonly note?: string;
}

const rowsOf = (count: number): string => (count === 1 ? '1 row' : `${formatWhole(count)} rows`);

const SaveDialog = ({ title, count, read, note = '', close }: SaveFileProps & { readonly close: () => void }) => {
  const [total, setTotal] = useState(typeof count === 'number' ? count : undefined);
  /** The rows received so far, while the file is being read. */
  const [rows, setRows] = useState<number | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const controller = useRef(new AbortController());
  const file = useRef<CSVFile | undefined>(undefined);
  const { signal } = controller.current;
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
  const readTotal = async () => {
    const rowCount = typeof count === 'function' ? await count().catch(() => undefined) : count;
    if (rowCount === undefined) await readFile();
    else setTotal(rowCount);
  };
  useEffect(() => {
    readTotal();
    return () => controller.current.abort();
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
        <p role="status">{total === undefined ? 'Counting rows…' : `The file has ${rowsOf(total)}${note}.`}</p>
      ) : (
        <p>
          <progress max={total && Math.max(total, rows)} value={total && rows} aria-label="Rows received" />{' '}
          <span role="status">{total === undefined ? rowsOf(rows) : `${formatWhole(rows)} of ${rowsOf(total)}`}</span>
        </p>
      )}
    </DialogForm>
  );
};

/** Saves rows as a file. */
export const SaveFile = (props: SaveFileProps) => {
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
      {isOpen && <SaveDialog {...props} close={() => setOpen(false)} />}
    </>
  );
};

/** Saves all rows in an operation's response, including those that the page does not show. */
export const SaveCSV = <Name extends CSVOperation>({
  operation,
  request,
  ...props
}: Omit<SaveFileProps, 'read'> & { readonly operation: Name; readonly request: CSVRequest<Name> }) => (
  <SaveFile
    {...props}
    read={(reading) => readCSV(operation, request, reading)}
    note=", including those not on this page"
  />
);
