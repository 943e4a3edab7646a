import type { RefusedRow } from './import-contacts.ts';

/** These column names are not recognized, so a file of refused rows can be fixed and imported as it is. */
const problemColumns = ['line', 'column', 'reason'];

/** Returns the layout of a file of refused rows: columns about the problem, then the imported file's columns. */
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
