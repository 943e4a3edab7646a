/** DuckDB on the same Parquet files, with the same memory and threads as our engine. */
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { whole } from '../table.ts';
import { readManifest } from './build-files.ts';
import { functions } from './plain-sql.ts';
import { type ReferenceDatabase, TooSlow } from './reference-database.ts';
import type { Cell } from './report-forms.ts';

interface BareParquetOptions {
  /** The folder of the account's report files, which must not change. */
  readonly accountFolder: string;
  /** The folder for data that does not fit in memory. */
  readonly spill: string;
  readonly memory: number;
  readonly threads: number;
  readonly limitMilliseconds: number;
  /** The contacts in the table `chosen`. */
  readonly chosen: Float64Array;
}

/** Attributes by column name. */
const columns = {
  path: 'path',
  campaign: 'campaign',
  browser: 'browser',
  price: 'price',
  referrer: 'referrer',
  country: '$country',
};
const maxSpillSize = '4GiB';

export const openBareParquet = async ({
  accountFolder,
  spill,
  memory,
  threads,
  limitMilliseconds,
  chosen,
}: BareParquetOptions): Promise<ReferenceDatabase> => {
  const { attributes, events, owners } = readManifest(accountFolder);
  const files = events.map(({ name }) => `'${join(accountFolder, name)}'`);
  const attributeColumns = Object.entries(columns).map(([name, attrID]) => `a${attributes.indexOf(attrID)} AS ${name}`);
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: `${memory / 2 ** 20}MiB`,
    threads: `${threads}`,
    temp_directory: spill,
    max_temp_directory_size: maxSpillSize,
  });
  const connection = await instance.connect();
  await connection.run(`CREATE VIEW events AS
    SELECT sequence, "user" AS user_id, "eventID" AS event_id, "eventTime" AS event_time, robot, ${attributeColumns.join(', ')}
    FROM read_parquet([${files.join(', ')}], union_by_name = true)`);
  await connection.run(`CREATE TABLE owners AS
    SELECT "user" AS user_id, after, through, contact FROM read_parquet('${join(accountFolder, owners.name)}')`);
  await connection.run(`CREATE TABLE chosen AS SELECT unnest([${chosen.join(', ')}]) AS contact`);
  await connection.run(functions.duckDB);

  return {
    name: 'plain SQL over the Parquet files',
    async query(sql) {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        connection.interrupt();
      }, limitMilliseconds);
      try {
        return (await connection.runAndReadAll(sql)).getRows() as unknown as Cell[][];
      } catch (error) {
        if (isLate) throw new TooSlow(`> ${whole(limitMilliseconds)}`);
        if ((error as Error).message.startsWith('Out of Memory')) throw new TooSlow('no memory');
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
    cpuMilliseconds() {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000;
    },
  };
};
