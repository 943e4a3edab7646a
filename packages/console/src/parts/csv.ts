/** CSV files (RFC 4180), escaped so that spreadsheets read no cell as a formula. */
import type { CSVFile } from '../reading/csv.ts';

type Cell = string | number | null | undefined;

/**
 * Positions where a spreadsheet may start a formula: at the start of a cell, and after a semicolon, tab or line break,
 * which locales with decimal commas treat as separators. East Asian versions also accept full-width signs.
 */
const formulas = /^(?=[=+\-@\t\r\n＝＋－＠])|(?<=[;\t\r\n])(?=[=+\-@＝＋－＠])/g;

/**
 * An apostrophe turns a formula into text (OWASP, CSV Injection). Rounding removes floating-point noise
 * (0.1999999999999).
 */
const toCell = (value: Cell): string => {
  if (typeof value === 'number') return String(Number(value.toFixed(6)));
  const safe = (value ?? '').replace(formulas, "'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export const toCSV = (header: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  [header, ...rows].map((row) => `${row.map(toCell).join(',')}\r\n`).join('');

export const download = (name: string, content: Blob): void => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};

/** The byte order mark makes Excel read UTF-8. */
export const toFile = (header: readonly string[], rows: readonly (readonly Cell[])[]): CSVFile => ({
  content: new Blob(['\ufeff', toCSV(header, rows)], { type: 'text/csv;charset=utf-8' }),
  rows: rows.length,
});
