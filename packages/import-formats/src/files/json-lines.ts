import { createLineSplitter, type Line } from './lines.ts';
import { parseObject } from './parse-object.ts';
import type { FileRecord, ProblemRecord, RecordParser } from './record.ts';

function* parse(lines: Iterable<Line | ProblemRecord>): Generator<FileRecord> {
  for (const entry of lines) {
    if ('problem' in entry) yield entry;
    else if (entry.text.trim() !== '') yield { line: entry.line, ...parseObject(entry.text) };
  }
}

/** Reads one JSON object per line. A line that is not a JSON object does not affect other lines. */
export const createJSONLinesParser = (): RecordParser => {
  const lines = createLineSplitter();
  return { push: (chunk) => parse(lines.push(chunk)), end: () => parse(lines.end()) };
};
