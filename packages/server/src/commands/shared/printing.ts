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

/** The lines of a table: columns under their names, as wide as their longest cell. */
export const toTable = (names: readonly string[], rows: readonly (readonly string[])[]): string[] => {
  const cells = [names, ...rows].map((row) => row.map(printable));
  const widths = names.map((_, column) => Math.max(...cells.map((row) => widthOf(row[column] as string))));
  const toLine = (row: readonly string[]) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] as number) - widthOf(cell)))
      .join('  ')
      .trimEnd();
  return cells.map(toLine);
};

/** The lines of a list: a name and its value on each. */
export const toList = (entries: readonly (readonly [name: string, value: string])[]): string[] => {
  const width = Math.max(...entries.map(([name]) => widthOf(name)));
  return entries.map(([name, value]) => `${name}${' '.repeat(width - widthOf(name))}  ${value}`.trimEnd());
};

export const toMinute = (time: number): string => `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')}Z`;
