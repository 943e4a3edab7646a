/** Reading every byte of a server's files. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Bytes = ReadonlyMap<string, Buffer>;

/** The files whose names begin so, as they are now. */
export const readFiles = (folder: string, prefix: string): Bytes =>
  new Map(
    readdirSync(folder)
      .filter((name) => name.startsWith(prefix))
      .map((name) => [name, readFileSync(join(folder, name))]),
  );

/** Which of the texts are found, as they are or in capitals, and where: `<text> in <file>`. */
export const findTraces = (files: Bytes, traces: readonly string[], log = ''): string[] => {
  const found: string[] = [];
  for (const [name, bytes] of files) {
    for (const trace of traces) {
      for (const form of new Set([trace, trace.toUpperCase()]))
        if (bytes.includes(form)) found.push(`${form} in ${name}`);
    }
  }
  for (const trace of traces) if (log.toLowerCase().includes(trace.toLowerCase())) found.push(`${trace} in the log`);
  return found;
};
