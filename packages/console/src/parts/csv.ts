/** Tables as CSV files (RFC 4180) that a spreadsheet opens as text: no cell is taken for a formula. */
import type { CSVFile } from '../reading/csv.ts';

type Cell = string | number | null | undefined;

/**
 * Where a spreadsheet would find a formula: at the start of a cell, also behind a tab or a line break; and inside a text where the program
 * takes a semicolon, a tab or a line break for the end of a cell, as it does in countries that write a comma in numbers. Full-width signs
 * begin a formula in East Asian ones.
 */
const formulas = /^(?=[=+\-@\t\r\n＝＋－＠])|(?<=[;\t\r\n])(?=[=+\-@＝＋－＠])/g;

/** An apostrophe makes text of a formula (OWASP, CSV Injection). Sums of decimals are rounded: they may end in 0.1999999999999. */
const toCell = (value: Cell): string => {
  if (typeof value === 'number') return String(Number(value.toFixed(6)));
  const safe = (value ?? '').replace(formulas, "'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export const toCSV = (head: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  [head, ...rows].map((row) => `${row.map(toCell).join(',')}\r\n`).join('');

/** Hands the reader a file. */
export const download = (name: string, content: Blob): void => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};

/** The byte order mark makes Excel read UTF-8. */
export const toFile = (head: readonly string[], rows: readonly (readonly Cell[])[]): CSVFile => ({
  content: new Blob(['\ufeff', toCSV(head, rows)], { type: 'text/csv;charset=utf-8' }),
  rows: rows.length,
});
