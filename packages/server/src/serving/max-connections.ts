/** Computes how many connections a process may have open without running out of files. */
import { readFileSync } from 'node:fs';

/** Descriptors for the database, the erasure record, the log, pipes and threads. A server uses about 40. */
const forFiles = 64;

/** This many idle connections take 100 MB of memory. */
const most = 20_000;

/** The files that this process may have open (getrlimit(2), RLIMIT_NOFILE). Node raises its soft limit to the hard limit. */
const openFiles = (): number => {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? most);
  } catch {
    // Takes 10 ms, so it is used only without /proc.
    const { userLimits } = process.report.getReport() as unknown as { userLimits?: { open_files?: { soft: unknown } } };
    return Number(userLimits?.open_files?.soft) || most;
  }
};

/** The most connections: all but 64 of the files, at least half of them, and at most 20,000. */
export const defaultMaxConnections = (files = openFiles()): number =>
  Math.min(most, Math.max(files - forFiles, Math.floor(files / 2)));
