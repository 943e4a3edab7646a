/** Reads the kernel's figures for a process (Linux, proc(5)). They are undefined on other systems. */
import { readFileSync } from 'node:fs';

const read = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
};

const parseNumber = (text: string | undefined, pattern: RegExp): number | undefined => {
  const number = pattern.exec(text ?? '')?.[1];
  return number === undefined ? undefined : Number(number);
};

/** Bytes that the process caused to be written to disk. */
export const writtenBytes = (pid: number): number | undefined =>
  parseNumber(read(`/proc/${pid}/io`), /^write_bytes: (\d+)/m);

/** Bytes that the process has written to files, whether or not they have reached the disk. */
export const requestedWriteBytes = (pid: number): number | undefined =>
  parseNumber(read(`/proc/${pid}/io`), /^wchar: (\d+)/m);

/** The unit of the kernel's times (sysconf(_SC_CLK_TCK)), the same on every Linux that Node supports. */
const ticksPerSecond = 100;

/** The CPU time of all threads, which hardly depends on how busy the machine is. */
export const cpuSeconds = (pid: number): number | undefined => {
  // The second field, the name, can contain any character.
  const fields = read(`/proc/${pid}/stat`)?.split(') ')[1]?.split(' ');
  return fields === undefined ? undefined : (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
};

/** The CPU time of child processes that have exited, and of their descendants. */
export const readExitedCPUSeconds = (pid: number): number | undefined => {
  const fields = read(`/proc/${pid}/stat`)?.split(') ')[1]?.split(' ');
  return fields === undefined ? undefined : (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
};

export const listChildren = (pid: number): number[] =>
  (read(`/proc/${pid}/task/${pid}/children`) ?? '').split(' ').filter(Boolean).map(Number);

export const residentBytes = (pid: number): number | undefined => {
  const kibibytes = parseNumber(read(`/proc/${pid}/status`), /^VmRSS:\s+(\d+) kB/m);
  return kibibytes === undefined ? undefined : kibibytes * 1024;
};
