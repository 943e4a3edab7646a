/** COPY, in its text format: https://www.postgresql.org/docs/current/sql-copy.html */
import { finished } from 'node:stream/promises';
import type pg from 'pg';
import { from } from 'pg-copy-streams';

export type CopiedValue = string | number | boolean | null | Buffer;

const charactersPerChunk = 256 * 1024;

const escaped = (text: string): string =>
  /[\\\t\n\r]/.test(text)
    ? text.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r')
    : text;

const toField = (value: CopiedValue): string => {
  if (value === null) return '\\N';
  if (typeof value === 'string') return escaped(value);
  return Buffer.isBuffer(value) ? `\\\\x${value.toString('hex')}` : String(value);
};

/** Copies rows into the columns of a table; answers how many. The connection is one without a pipeline. */
export const copyRows = async (
  client: pg.Client,
  table: string,
  columns: readonly string[],
  rows: Iterable<readonly CopiedValue[]>,
): Promise<number> => {
  const names = columns.map((column) => `"${column}"`).join(', ');
  const stream = client.query(from(`COPY "${table}" (${names}) FROM STDIN`));
  const done = finished(stream);
  let count = 0;
  let chunk = '';
  for (const row of rows) {
    chunk += `${row.map(toField).join('\t')}\n`;
    count += 1;
    if (chunk.length < charactersPerChunk) continue;
    if (!stream.write(chunk)) await Promise.race([new Promise((resolve) => stream.once('drain', resolve)), done]);
    chunk = '';
  }
  stream.end(chunk);
  await done;
  return count;
};
