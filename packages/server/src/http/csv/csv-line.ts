/** Rows of CSV files (RFC 4180) that a spreadsheet opens as text: no cell is taken for a formula. */

export type Cell = string | number | boolean | null | undefined;

/**
 * Where a spreadsheet would find a formula: at the start of a cell, also behind a tab or a line break; and inside a text where the program
 * takes a semicolon, a tab or a line break for the end of a cell, as it does in countries that write a comma in numbers. Full-width signs
 * begin a formula in East Asian ones.
 */
const formulas = /^(?=[=+\-@\t\r\n＝＋－＠])|(?<=[;\t\r\n])(?=[=+\-@＝＋－＠])/g;

/** An apostrophe makes text of a formula (OWASP, CSV Injection). Sums of decimals are rounded: they may end in 0.1999999999999. */
const toCell = (value: Cell): string => {
  if (typeof value === 'number') return String(Number(value.toFixed(6)));
  if (typeof value !== 'string') return String(value ?? '');
  const safe = value.replace(formulas, "'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export const toCSVLine = (cells: readonly Cell[]): string => `${cells.map(toCell).join(',')}\r\n`;
