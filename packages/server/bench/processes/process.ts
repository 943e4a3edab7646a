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

/** In which the kernel counts here (sysconf(_SC_CLK_TCK)): the same on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** Time of a CPU that all its threads have taken: unlike what a clock says, about the same however busy the machine is. */
export const cpuSeconds = (pid: number): number | undefined => {
  // The name, which comes second, may hold anything.
  const fields = read(`/proc/${pid}/stat`)?.split(') ')[1]?.split(' ');
  return fields === undefined ? undefined : (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
};

/** The processes that it has started. */
export const childrenOf = (pid: number): number[] =>
  (read(`/proc/${pid}/task/${pid}/children`) ?? '').split(' ').filter(Boolean).map(Number);

/** Memory that it has at the moment. */
export const residentBytes = (pid: number): number | undefined => {
  const kibibytes = numberIn(read(`/proc/${pid}/status`), /^VmRSS:\s+(\d+) kB/m);
  return kibibytes === undefined ? undefined : kibibytes * 1024;
};
