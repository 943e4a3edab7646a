/** What the kernel says of a process (Linux, proc(5)); undefined elsewhere. */
import { readFileSync } from 'node:fs';

const read = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
};

const numberIn = (text: string | undefined, pattern: RegExp): number | undefined => {
  const found = pattern.exec(text ?? '')?.[1];
  return found === undefined ? undefined : Number(found);
};

/** Bytes that it has caused to be written to the disk. */
export const writtenBytes = (pid: number): number | undefined =>
  numberIn(read(`/proc/${pid}/io`), /^write_bytes: (\d+)/m);

/** Bytes that it has handed to the kernel, or to SQLite's files: grows while it works. */
export const handedBytes = (pid: number): number | undefined => numberIn(read(`/proc/${pid}/io`), /^wchar: (\d+)/m);

/** Memory that it has at the moment. */
export const residentBytes = (pid: number): number | undefined => {
  const kibibytes = numberIn(read(`/proc/${pid}/status`), /^VmRSS:\s+(\d+) kB/m);
  return kibibytes === undefined ? undefined : kibibytes * 1024;
};
