/** Saves all rows of a list as a CSV file: how many there are, then how many have arrived. */
import type { CSVOperation } from '@firsthand/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../api.ts';
import { type CSVRequest, readCSV } from '../reading/csv.ts';
import { formatWhole } from '../reading/format.ts';
import { download } from './csv.ts';
import { DialogForm } from './dialog-form.tsx';
import { show } from './notices.tsx';

interface SaveCSVProps<Name extends CSVOperation> {
  readonly title: string;
  readonly operation: Name;
  readonly request: CSVRequest<Name>;
  /** How many rows there are, or reads it; undefined: that is not known. */
  readonly count?: number | (() => Promise<number | undefined>) | undefined;
}

const rowsOf = (count: number): string => (count === 1 ? '1 row' : `${formatWhole(count)} rows`);

const SavingDialog = <Name extends CSVOperation>({
  title,
  operation,
  request,
  count,
  close,
}: SaveCSVProps<Name> & { readonly close: () => void }) => {
  const [total, setTotal] = useState(typeof count === 'number' ? count : undefined);
  const [rows, setRows] = useState<number | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const reading = useRef(new AbortController());
  useEffect(() => {
    if (typeof count === 'function') count().then(setTotal, () => {});
    return () => reading.current.abort();
  }, []);
  const save = async () => {
    setProblem('');
    setRows(0);
    let arrived = 0;
    const progress = (now: number) => {
      arrived = now;
      setRows(now);
    };
    try {
      const file = await readCSV(operation, request, { signal: reading.current.signal, progress });
      download(`${title.toLowerCase()}.csv`, file);
      close();
      show({ text: `Saved ${rowsOf(arrived)}.` });
    } catch (error) {
      setRows(undefined);
      if (!reading.current.signal.aborted)
        setProblem(`The file is not complete and was not saved. ${messageOf(error)}`);
    }
  };
  const all = total === undefined ? 'all rows' : rowsOf(total);
  return (
    <DialogForm
      title={`${title} as CSV`}
      close={close}
      action="Save"
      submit={save}
      problem={problem}
      isDisabled={rows !== undefined}
    >
      {rows === undefined ? (
        <p>The file has {all}, not only those on this page.</p>
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

export const SaveCSV = <Name extends CSVOperation>(props: SaveCSVProps<Name>) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="quiet save" aria-label={`${props.title}: save as CSV`} onClick={() => setOpen(true)}>
        CSV
      </button>
      {isOpen && <SavingDialog {...props} close={() => setOpen(false)} />}
    </>
  );
};
