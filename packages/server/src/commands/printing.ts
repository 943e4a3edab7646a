/** What commands write to a terminal: one JSON value, or a table for people, and complaints. */

/** Controls (C0, DEL, C1), controls of format (bidirectional ones too), separators of lines and paragraphs. */
const controls = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Somebody else's text in a terminal: without the characters that could move its cursor or change what is shown before them. */
export const printable = (text: string): string => text.replace(controls, '\ufffd');

/** One line, or several. Any of them may hold what a client sent. */
export const printLine = (lines: string | readonly string[]): void => {
  for (const line of [lines].flat()) process.stdout.write(`${printable(line)}\n`);
};

/** What went wrong, on standard error. A message may quote what a client sent. */
export const printComplaint = (text: string): void => {
  for (const line of text.split('\n')) process.stderr.write(`${printable(line)}\n`);
};

const toEscape = (control: string): string =>
  // Some are two units, as JSON writes them.
  control.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The value as it is: JSON.stringify leaves most controls as they are, and JSON has escapes for them. */
export const printJSON = (value: unknown): void =>
  void process.stdout.write(`${JSON.stringify(value).replace(controls, toEscape)}\n`);

const widthOf = (text: string): number => [...text].length;

/** Columns under their names, as wide as they need to be. */
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

/** Names and values, one a line. */
export const toList = (entries: readonly (readonly [name: string, value: string])[]): string[] => {
  const width = Math.max(...entries.map(([name]) => widthOf(name)));
  return entries.map(([name, value]) => `${name}${' '.repeat(width - widthOf(name))}  ${value}`.trimEnd());
};

export const toMinute = (time: number): string => `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')}Z`;
