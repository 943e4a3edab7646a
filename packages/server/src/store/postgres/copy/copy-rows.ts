/** Writes rows with COPY in text format: https://www.postgresql.org/docs/current/sql-copy.html */
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from } from 'pg-copy-streams';
import type { Chunks } from '../../database-export.ts';

export type CopiedValue = string | number | boolean | null | Buffer;

const charactersPerChunk = 256 * 1024;

const escapeText = (text: string): string =>
  /[\\\t\n\r]/.test(text)
    ? text.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r')
    : text;

const toField = (value: CopiedValue): string => {
  if (value === null) return '\\N';
  if (typeof value === 'string') return escapeText(value);
  return Buffer.isBuffer(value) ? `\\\\x${value.toString('hex')}` : String(value);
};

async function* chunksOf(rows: Chunks<readonly CopiedValue[]>): AsyncGenerator<string> {
  let chunk = '';
  for await (const batch of rows) {
    for (const row of batch) {
      chunk += `${row.map(toField).join('\t')}\n`;
      if (chunk.length < charactersPerChunk) continue;
      yield chunk;
      chunk = '';
    }
  }
  yield chunk;
}

/** Copies rows into a table's columns, atomically. The connection must not be pipelined (`openCopyConnection`). */
export const copyRows = async (
  client: pg.Client,
  table: string,
  columns: readonly string[],
  rows: Chunks<readonly CopiedValue[]>,
): Promise<void> => {
  const names = columns.map((column) => `"${column}"`).join(', ');
  await pipeline(chunksOf(rows), client.query(from(`COPY "${table}" (${names}) FROM STDIN`)));
};
