/** Reading every byte of a server's files. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Which of the texts are found, whatever their case, and where: `<text> in <file>`. */
export const findTraces = (folder: string, prefix: string, traces: readonly string[], log = ''): string[] => {
  const found: string[] = [];
  for (const name of readdirSync(folder).filter((each) => each.startsWith(prefix))) {
    const bytes = readFileSync(join(folder, name));
    for (const trace of traces) {
      for (const form of new Set([trace, trace.toUpperCase()]))
        if (bytes.includes(form)) found.push(`${form} in ${name}`);
    }
  }
  for (const trace of traces) if (log.toLowerCase().includes(trace.toLowerCase())) found.push(`${trace} in the log`);
  return found;
};
