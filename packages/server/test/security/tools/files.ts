/** Reads and searches every byte of a server's files. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Bytes = ReadonlyMap<string, Buffer>;

/** Reads the current content of the files whose names begin with `prefix`. */
export const readFiles = (folder: string, prefix: string): Bytes =>
  new Map(
    readdirSync(folder)
      .filter((name) => name.startsWith(prefix))
      .map((name) => [name, readFileSync(join(folder, name))]),
  );

/** Lists where the traces occur, as sent or in upper case, as `<trace> in <file>`. */
export const findTraces = (files: Bytes, traces: readonly string[], log = ''): string[] => {
  const matches: string[] = [];
  for (const [name, bytes] of files) {
    for (const trace of traces) {
      for (const form of new Set([trace, trace.toUpperCase()]))
        if (bytes.includes(form)) matches.push(`${form} in ${name}`);
    }
  }
  for (const trace of traces) if (log.toLowerCase().includes(trace.toLowerCase())) matches.push(`${trace} in the log`);
  return matches;
};
