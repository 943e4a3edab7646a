export const median = (figures: readonly number[]): number => {
  const sorted = [...figures].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
};

export const whole = (figure: number): string => Math.round(figure).toLocaleString('en');

/** A Markdown table, padded for terminals. The first `words` columns are left-aligned; the others contain figures. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[], words = 1): string => {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => (column < words ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...rows.map(line)].join('\n');
};

/** The quotient, to two decimal places. */
export const ratio = (ours: number, floor: number): string => (ours / floor).toFixed(2);

/** `20 s`, `5 min`. */
export const duration = (minutes: number): string =>
  minutes < 1 ? `${Number((minutes * 60).toFixed(1))} s` : `${minutes} min`;
