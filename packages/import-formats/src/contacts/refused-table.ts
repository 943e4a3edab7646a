import type { RefusedRow } from './import-contacts.ts';

/** These names of columns are not recognized, so a file of refused rows can be fixed and imported as it is. */
const problemColumns = ['line', 'column', 'reason'];

/** Returns the layout of a file of refused rows: the columns of the imported file, after those about the problem. */
export const createRefusedTable = (header: readonly string[]) => {
  const columns = header.filter((name) => !problemColumns.includes(name));
  return {
    header: [...problemColumns, ...columns],
    toCells: ({ line, column, reason, row }: RefusedRow): (string | number)[] => [
      ...[line, column, reason],
      ...columns.map((name) => String(row[name] ?? '')),
    ],
  };
};
