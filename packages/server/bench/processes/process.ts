/** Figures of the kernel about a process (Linux, proc(5)); undefined on other systems. */
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

/** Bytes written to the disk because of the process. */
export const writtenBytes = (pid: number): number | undefined =>
  numberIn(read(`/proc/${pid}/io`), /^write_bytes: (\d+)/m);

/** Bytes that the process has written to files, whether or not they have reached the disk. */
export const handedBytes = (pid: number): number | undefined => numberIn(read(`/proc/${pid}/io`), /^wchar: (\d+)/m);

/** The unit of the kernel’s times (sysconf(_SC_CLK_TCK)): the same on every Linux that Node supports. */
const ticksPerSecond = 100;

/** Processor time of all its threads. It hardly depends on how busy the machine is. */
export const cpuSeconds = (pid: number): number | undefined => {
  // The second field, the name, may hold any character.
  const fields = read(`/proc/${pid}/stat`)?.split(') ')[1]?.split(' ');
  return fields === undefined ? undefined : (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
};

/** Processor time of the children that have ended, and of theirs. */
export const cpuSecondsOfEnded = (pid: number): number | undefined => {
  const fields = read(`/proc/${pid}/stat`)?.split(') ')[1]?.split(' ');
  return fields === undefined ? undefined : (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
};

/** The child processes. */
export const childrenOf = (pid: number): number[] =>
  (read(`/proc/${pid}/task/${pid}/children`) ?? '').split(' ').filter(Boolean).map(Number);

/** Resident memory. */
export const residentBytes = (pid: number): number | undefined => {
  const kibibytes = numberIn(read(`/proc/${pid}/status`), /^VmRSS:\s+(\d+) kB/m);
  return kibibytes === undefined ? undefined : kibibytes * 1024;
};
