/** A row in a file: a JSON object, or a CSV record's cells by the names in its header. */
export type Row = Readonly<Record<string, unknown>>;

interface Position {
  /** The line on which the record begins. The first line is 1. */
  readonly line: number;
}

interface RowRecord extends Position {
  readonly row: Row;
}

/** A CSV file's column names. Always the first record in such a file, and never a later one. */
interface HeaderRecord extends Position {
  readonly header: readonly string[];
}

/** A record that can't be read. The message does not contain the line. */
export interface ProblemRecord extends Position {
  readonly problem: string;
}

export type FileRecord = RowRecord | HeaderRecord | ProblemRecord;

/** Reads one file's records from its chunks, in order. */
export interface RecordParser {
  push(chunk: Uint8Array): Iterable<FileRecord>;
  /** Call it after the last chunk. Returns the last record, if there is one. */
  end(): Iterable<FileRecord>;
}

/** The file, or the rest of it, can't be read. The message explains why, and what to do. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError';
}
