/** A row of a file: a JSON object, or the cells of a CSV record by the names in its header. */
export type Row = Readonly<Record<string, unknown>>;

interface Position {
  /** The line of the file on which the record begins. The first line is 1. */
  readonly line: number;
}

interface RowRecord extends Position {
  readonly row: Row;
}

/** The names of the columns of a CSV file. It is always the first record of such a file, and never a later one. */
interface HeaderRecord extends Position {
  readonly header: readonly string[];
}

/** A record that can't be read. The message does not contain the line. */
export interface ProblemRecord extends Position {
  readonly problem: string;
}

export type FileRecord = RowRecord | HeaderRecord | ProblemRecord;

/** Reads the records of one file from its chunks, in order. */
export interface RecordParser {
  push(chunk: Uint8Array): Iterable<FileRecord>;
  /** Call it after the last chunk. Returns the last record, if there is one. */
  end(): Iterable<FileRecord>;
}

/** The file, or the rest of it, can't be read. The message explains why, and what to do. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError';
}
