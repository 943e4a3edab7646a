/** The values that all steps of an incremental export use. */
import type { Store } from '../../store/store.ts';
import type { EventFiles } from './event-files.ts';
import type { ParquetWriter } from './parquet-writer.ts';

export interface Run {
  readonly store: Store;
  readonly account: number;
  readonly folder: string;
  readonly writer: ParquetWriter;
  readonly files: EventFiles;
}

/** The maximum number of users per call to `listUserLinks` and `namePeople`. */
export const usersPerRead = 1_000;

export const chunksOf = <Each>(list: readonly Each[], size: number): Each[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, nth) => list.slice(nth * size, (nth + 1) * size));
