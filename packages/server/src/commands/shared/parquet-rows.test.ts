import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { type FormatName, type Reading, readMessages, type Source } from '@firsthand/import-formats';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/fixtures/command.ts';
import { readParquetMessages } from './parquet-rows.ts';

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../../../import-formats/test/${name}`, import.meta.url));

/** Writes a JSON lines file as Parquet with these columns. Values nested deeper than `depth` become JSON strings. */
const toParquet = async (name: string, columns: string, depth = -1): Promise<string> => {
  const path = join(temporaryFolder(), "it's.parquet");
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const rows = `SELECT ${columns} FROM read_json('${fixture(name)}', format = 'newline_delimited', maximum_depth = ${depth})`;
  await connection.run(`COPY (${rows}) TO '${path.replaceAll("'", "''")}' (FORMAT parquet)`);
  connection.closeSync();
  instance.closeSync();
  return path;
};

const readAll = async (readings: AsyncIterable<Reading>): Promise<Reading[]> => {
  const all: Reading[] = [];
  for await (const reading of readings) all.push(reading);
  return all;
};

describe('a Parquet file', () => {
  it.each<[string, FormatName, string, number]>([
    [
      'posthog.jsonl',
      'posthog',
      '* REPLACE (timestamp::TIMESTAMPTZ AS timestamp, properties::VARCHAR AS properties, person_properties::VARCHAR AS person_properties)',
      1,
    ],
    ['ga4.jsonl', 'ga4', '* REPLACE (event_timestamp::BIGINT AS event_timestamp)', -1],
  ])(
    'results in the same messages as a JSON lines file with the same rows: %s',
    async (name, format, columns, depth) => {
      const path = await toParquet(name, columns, depth);
      const source = Readable.toWeb(createReadStream(fixture(name))) as Source;
      const expected = await readAll(readMessages(source, format));
      expect(await readAll(readParquetMessages(path))).toEqual(expected);
      expect(await readAll(readParquetMessages(path, format))).toEqual(expected);
    },
  );

  it('is refused with an explanation if it is damaged or has an unknown format', async () => {
    const damaged = join(temporaryFolder(), 'damaged.parquet');
    await writeFile(damaged, 'PAR1');
    await expect(readAll(readParquetMessages(damaged))).rejects.toThrow(/^the Parquet file can't be read: /);
    const other = await toParquet('posthog.jsonl', 'event, uuid');
    await expect(readAll(readParquetMessages(other))).rejects.toThrow(
      /not match a format that can be imported: event, uuid$/,
    );
  });
});
