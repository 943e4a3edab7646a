/** Limits connections so that the process does not run out of file descriptors. */
import { readFileSync } from 'node:fs';

/** File descriptors for the database, the erasure record, the log, pipes and threads. A server uses about 40. */
const reservedDescriptors = 64;

/** This number of idle connections takes 100 MB of memory. */
const maxConnections = 20_000;

/** The process's RLIMIT_NOFILE (getrlimit(2)). Node raises the soft limit to the hard limit. */
const readFileLimit = (): number => {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? maxConnections);
  } catch {
    // Takes 10 ms, so it is only a fallback for systems without /proc.
    const { userLimits } = process.report.getReport() as unknown as { userLimits?: { open_files?: { soft: unknown } } };
    return Number(userLimits?.open_files?.soft) || maxConnections;
  }
};

/** The file limit minus 64, but at least half of it and at most 20,000. */
export const computeMaxConnections = (files = readFileLimit()): number =>
  Math.min(maxConnections, Math.max(files - reservedDescriptors, Math.floor(files / 2)));
