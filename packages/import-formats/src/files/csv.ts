/** Reads CSV (RFC 4180) with a header. Line breaks within quotes are part of the cell. */
import { maxRecordBytes } from './limits.ts';
import { createLineSplitter, type Line } from './lines.ts';
import type { FileRecord, ProblemRecord, RecordParser } from './record.ts';

type Separator = ',' | ';' | '\t';

/** A cell, quoted or not, and the separator after it. Sticky, so that each match starts where the last one ended. */
const cellPatterns: Readonly<Record<Separator, RegExp>> = {
  ',': /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y,
  ';': /(?:"((?:[^"]|"")*)"|([^";]*))(;|$)/y,
  '\t': /(?:"((?:[^"]|"")*)"|([^"\t]*))(\t|$)/y,
};

/** Returns the most frequent separator in the first line: Excel writes semicolons in locales with decimal commas. */
export const findSeparator = (start: string): Separator => {
  const [line = ''] = start.replaceAll(/"[^"]*"/g, '').split('\n');
  const separators: readonly Separator[] = [',', ';', '\t'];
  const countOf = (separator: Separator) => line.split(separator).length;
  return separators.reduce((best, each) => (countOf(each) > countOf(best) ? each : best));
};

/** Returns a record's cells; undefined if an unquoted cell has a quote, or text follows a closing quote. */
const toCells = (record: string, separator: Separator): string[] | undefined => {
  if (!record.includes('"')) return record.split(separator);
  const cells: string[] = [];
  const cellPattern = cellPatterns[separator];
  cellPattern.lastIndex = 0;
  for (;;) {
    const match = cellPattern.exec(record);
    if (match === null) return undefined;
    const [, quoted, plain = '', end] = match;
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '') return cells;
  }
};

const hasUnpairedQuote = (text: string): boolean => {
  let isOpen = false;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) isOpen = !isOpen;
  return isOpen;
};

const toRow = (header: readonly string[], cells: readonly string[]): Record<string, string> => {
  const row: Record<string, string> = {};
  for (const [index, name] of header.entries()) row[name] = cells[index] ?? '';
  return row;
};

export const createCSVParser = (separator: Separator = ','): RecordParser => {
  const lines = createLineSplitter();
  let header: readonly string[] | undefined;
  /** The beginning of a record with a line break in a cell. */
  let open: { readonly first: number; readonly texts: string[]; length: number } | undefined;

  const toRecord = (line: number, text: string): FileRecord => {
    const cells = toCells(text, separator);
    if (cells === undefined) {
      const problem = 'a cell has a quote in the middle: enclose such cells in quotes, and double the quotes in them';
      return { line, problem };
    }
    if (header === undefined) {
      header = cells;
      return { line, header };
    }
    if (cells.length === header.length) return { line, row: toRow(header, cells) };
    return {
      line,
      problem: `the row has ${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}, but the header has ${header.length}`,
    };
  };

  const giveUpOpen = ({ first, texts }: NonNullable<typeof open>): ProblemRecord => {
    open = undefined;
    const unread = texts.length - 1;
    const lines = unread === 1 ? 'the next line is' : `the next ${unread} lines are`;
    const extent = unread > 0 ? `, and ${lines} not read` : '';
    return { line: first, problem: `a quote is not closed${extent}` };
  };

  function* read(entries: Iterable<Line | ProblemRecord>): Generator<FileRecord> {
    for (const entry of entries) {
      if ('problem' in entry) {
        if (open) yield giveUpOpen(open);
        yield entry;
        continue;
      }
      const { line, text } = entry;
      const isUnpaired = hasUnpairedQuote(text);
      if (open === undefined && !isUnpaired) {
        if (text !== '') yield toRecord(line, text);
        continue;
      }
      open ??= { first: line, texts: [], length: 0 };
      open.texts.push(text);
      open.length += text.length + 1;
      if (open.texts.length > 1 && isUnpaired) {
        const { first, texts } = open;
        open = undefined;
        yield toRecord(first, texts.join('\n'));
      } else if (open.length > maxRecordBytes) yield giveUpOpen(open);
    }
  }

  return {
    push: (chunk) => read(lines.push(chunk)),
    *end() {
      yield* read(lines.end());
      if (open) yield giveUpOpen(open);
    },
  };
};
