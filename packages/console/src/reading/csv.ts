/** CSV files that the server sends with all rows of a list, and how many of them have arrived. */
import type { CSVOperation, RequestFor } from '@firsthand/client';
import { api } from '../api.ts';
import { createLineCount } from './line-count.ts';

export type CSVRequest<Name extends CSVOperation> = Omit<RequestFor<Name>, 'limit' | 'cursor'>;

export interface CSVFile {
  readonly content: Blob;
  /** How many rows it has below its head. */
  readonly rows: number;
}

export interface Reading {
  readonly signal: AbortSignal;
  /** Called with the number of rows so far. */
  readonly progress: (rows: number) => void;
}

/** Reads the whole file. Rejects if it does not arrive to its end. */
export const readCSV = async <Name extends CSVOperation>(
  operation: Name,
  request: CSVRequest<Name>,
  { signal, progress }: Reading,
): Promise<CSVFile> => {
  const stream = await api.csv(operation, request, { signal });
  // The byte order mark makes Excel read UTF-8.
  const parts: BlobPart[] = ['\ufeff'];
  const linesUntil = createLineCount();
  let rows = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { content: new Blob(parts, { type: 'text/csv;charset=utf-8' }), rows };
    parts.push(value);
    rows = linesUntil(value) - 1;
    progress(rows);
  }
};
