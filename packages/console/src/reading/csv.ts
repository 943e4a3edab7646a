/** Reads CSV files from the server, with progress. */
import type { CSVOperation, RequestFor } from '@firsthand/client';
import { api } from '../api.ts';
import { createLineCount } from './line-count.ts';

export type CSVRequest<Name extends CSVOperation> = Omit<RequestFor<Name>, 'limit' | 'cursor'>;

export interface CSVFile {
  readonly content: Blob;
  /** The number of rows, without the header. */
  readonly rows: number;
}

export interface ReadOptions {
  readonly signal: AbortSignal;
  /** Called with the number of rows so far. */
  readonly progress: (rows: number) => void;
}

/** Reads the whole file. Rejects if the transfer is interrupted. */
export const readCSV = async <Name extends CSVOperation>(
  operation: Name,
  request: CSVRequest<Name>,
  { signal, progress }: ReadOptions,
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
