/** Answers on standard output: one JSON value, or a table for people. */

export const printLine = (line: string): void => void process.stdout.write(`${line}\n`);

export const printJSON = (value: unknown): void => printLine(JSON.stringify(value));

/** Somebody else's text in a terminal: without the control characters that could move its cursor. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd');

const widthOf = (text: string): number => [...text].length;

/** Columns under their names, as wide as they need to be. */
export const toTable = (names: readonly string[], rows: readonly (readonly string[])[]): string => {
  const cells = [names, ...rows].map((row) => row.map(printable));
  const widths = names.map((_, column) => Math.max(...cells.map((row) => widthOf(row[column] as string))));
  const toLine = (row: readonly string[]) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] as number) - widthOf(cell)))
      .join('  ')
      .trimEnd();
  return cells.map(toLine).join('\n');
};

/** Names and values, one a line. */
export const toList = (entries: readonly (readonly [name: string, value: string])[]): string => {
  const width = Math.max(...entries.map(([name]) => widthOf(name)));
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}`.trimEnd()).join('\n');
};

export const toMinute = (time: number): string => `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')}Z`;
