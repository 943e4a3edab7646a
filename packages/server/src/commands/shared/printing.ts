/** Writes the output of commands: one JSON value, or tables and lists for people, and error messages. */

/** Control characters (C0, DEL, C1), format characters (bidirectional ones too), line and paragraph separators. */
const controls = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Untrusted text, made safe for a terminal: characters that could move the cursor or change other text are replaced. */
export const printable = (text: string): string => text.replace(controls, '\ufffd');

/** Prints one line or several, any of which may hold text from a client. */
export const printLine = (lines: string | readonly string[]): void => {
  for (const line of [lines].flat()) process.stdout.write(`${printable(line)}\n`);
};

/** Prints an error message on standard error. It may quote text from a client. */
export const printComplaint = (text: string): void => {
  for (const line of text.split('\n')) process.stderr.write(`${printable(line)}\n`);
};

const toEscape = (control: string): string =>
  // Some control characters are two UTF-16 units, which JSON escapes one by one.
  control.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Prints a value as JSON, with all control characters escaped: JSON.stringify leaves most of them as they are. */
export const printJSON = (value: unknown): void =>
  void process.stdout.write(`${JSON.stringify(value).replace(controls, toEscape)}\n`);

const widthOf = (text: string): number => [...text].length;

/** The lines of a table whose columns are as wide as their longest cell. All rows have as many cells as the first. */
export const toTable = (rows: readonly (readonly string[])[]): string[] => {
  const cells = rows.map((row) => row.map(printable));
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => widthOf(row[column] as string)))) ?? [];
  const toLine = (row: readonly string[]) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] as number) - widthOf(cell)))
      .join('  ')
      .trimEnd();
  return cells.map(toLine);
};

/** A number is printed as it is. A text, which may come from a client, must not become a formula in a spreadsheet. */
export type Cell = string | number | null;

/**
 * What spreadsheets take for the beginning of a formula, after which OWASP ("CSV Injection") puts nothing but a quote before it. The
 * last four are the full-width forms of the first.
 */
const formula = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/** A field of RFC 4180: in quotes where it holds a quote, a comma or a line break. */
const toField = (cell: Cell): string => {
  if (typeof cell !== 'string') return cell === null ? '' : String(cell);
  const text = formula.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Prints rows as CSV (RFC 4180), with their texts as they are; on a terminal, control characters are replaced. */
export const printCSV = (rows: readonly (readonly Cell[])[]): void => {
  const safe = (text: string) => (process.stdout.isTTY ? printable(text) : text);
  for (const row of rows) process.stdout.write(`${row.map(toField).map(safe).join(',')}\r\n`);
};

/** `time` is in milliseconds since 1970, or ISO 8601. */
export const toMinute = (time: number | string): string =>
  `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')}Z`;
