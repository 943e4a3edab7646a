/** Writes CSV rows (RFC 4180), escaped so that a spreadsheet treats no cell as a formula. */

export type Cell = string | number | boolean | null | undefined;

/**
 * Matches where a spreadsheet would start a formula: at the start of a cell or, in locales with decimal commas, after a
 * semicolon, tab or line break inside it. East Asian versions also accept full-width signs.
 */
const formulas = /^(?=[=+\-@\t\r\n＝＋－＠])|(?<=[;\t\r\n])(?=[=+\-@＝＋－＠])/g;

/**
 * An apostrophe turns a formula into text (OWASP, CSV Injection). Numbers are rounded, because sums can end in
 * 0.1999999999999.
 */
const toCell = (value: Cell): string => {
  if (typeof value === 'number') return String(Number(value.toFixed(6)));
  if (typeof value !== 'string') return String(value ?? '');
  const safe = value.replace(formulas, "'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export const toCSVLine = (cells: readonly Cell[]): string => `${cells.map(toCell).join(',')}\r\n`;
