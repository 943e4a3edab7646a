/** Splits a file into lines of UTF-8. A line that is too long or not UTF-8 is reported as a problem. */
import { maxRecordBytes } from './limits.ts';
import { createPendingBytes } from './pending-bytes.ts';
import type { ProblemRecord } from './record.ts';
import { decodeText, notUTF8 } from './text.ts';

export interface Line {
  readonly line: number;
  /** Without the line break, and without a carriage return before it. */
  readonly text: string;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

export const createLineSplitter = () => {
  let line = 0;
  const pending = createPendingBytes(maxRecordBytes);

  const take = (end: Uint8Array): Line | ProblemRecord => {
    line += 1;
    const bytes = pending.take(end);
    if (bytes === undefined) return { line, problem: `the line is longer than ${maxRecordBytes / 1024 / 1024} MiB` };
    const text = decodeText(bytes.at(-1) === carriageReturn ? bytes.subarray(0, -1) : bytes);
    return text === undefined ? { line, problem: notUTF8 } : { line, text };
  };

  return {
    *push(chunk: Uint8Array): Generator<Line | ProblemRecord> {
      let from = 0;
      for (let to = chunk.indexOf(lineFeed); to >= 0; to = chunk.indexOf(lineFeed, from)) {
        yield take(chunk.subarray(from, to));
        from = to + 1;
      }
      pending.add(chunk.subarray(from));
    },
    *end(): Generator<Line | ProblemRecord> {
      if (pending.size > 0) yield take(new Uint8Array());
    },
  };
};
