/** Prints command output (JSON, CSV, tables or lines) and error messages. */

/**
 * Control characters (C0, DEL, C1), format characters (including bidirectional controls), line and paragraph
 * separators.
 */
const controls = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Makes untrusted text safe for a terminal: replaces characters that could move the cursor or change other text. */
export const toPrintable = (text: string): string => text.replace(controls, '\ufffd');

/** Prints one or more lines, which can contain text from a client. */
export const printLine = (lines: string | readonly string[]): void => {
  for (const line of [lines].flat()) process.stdout.write(`${toPrintable(line)}\n`);
};

/** Prints a message on standard error, which can contain text from a client. */
export const printError = (text: string): void => {
  for (const line of text.split('\n')) process.stderr.write(`${toPrintable(line)}\n`);
};

const toEscape = (control: string): string =>
  // A control character outside the BMP is two UTF-16 units, which JSON escapes separately.
  control.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Prints a value as JSON with all control characters escaped; JSON.stringify escapes only some. */
export const printJSON = (value: unknown): void =>
  void process.stdout.write(`${JSON.stringify(value).replace(controls, toEscape)}\n`);

const measureWidth = (text: string): number => [...text].length;

/** The lines of a table with aligned columns. All rows have as many cells as the first. */
export const toTable = (rows: readonly (readonly string[])[]): string[] => {
  const cells = rows.map((row) => row.map(toPrintable));
  const widths =
    cells[0]?.map((_, column) => Math.max(...cells.map((row) => measureWidth(row[column] as string)))) ?? [];
  const toLine = (row: readonly string[]) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] as number) - measureWidth(cell)))
      .join('  ')
      .trimEnd();
  return cells.map(toLine);
};

/** Only strings can come from a client, so only strings are escaped to prevent spreadsheet formulas. */
export type Cell = string | number | null;

/** Characters that start a formula in spreadsheets (OWASP, "CSV Injection"); the last four are the full-width forms. */
const formula = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/** An RFC 4180 field: quoted if it contains a quote, a comma or a line break. */
const toField = (cell: Cell): string => {
  if (typeof cell !== 'string') return cell === null ? '' : String(cell);
  const text = formula.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

export const toCSVLine = (row: readonly Cell[]): string => `${row.map(toField).join(',')}\r\n`;

/** Prints rows as CSV (RFC 4180). Replaces control characters only on a terminal. */
export const printCSV = (rows: readonly (readonly Cell[])[]): void => {
  const safe = (text: string) => (process.stdout.isTTY ? toPrintable(text) : text);
  for (const row of rows) process.stdout.write(`${row.map(toField).map(safe).join(',')}\r\n`);
};

/** Formats a time, in milliseconds since 1970 or ISO 8601, to the minute. */
export const toMinute = (time: number | string): string =>
  `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')}Z`;
