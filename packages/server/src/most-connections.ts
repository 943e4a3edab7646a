/** How many connections a process may have open, so that it can still open files. */
import { readFileSync } from 'node:fs';

/** For the database, the erasure record, the log, pipes and threads: a server uses about 40. */
const forFiles = 64;

/** As many as idle ones take 100 MB of memory. */
const most = 20_000;

/** The files that this process may have open (getrlimit(2), RLIMIT_NOFILE). Node raises it to what the user may have. */
const openFiles = (): number => {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? most);
  } catch {
    // Takes 10 ms, and so is asked only where there is no /proc.
    const { userLimits } = process.report.getReport() as unknown as { userLimits?: { open_files?: { soft: unknown } } };
    return Number(userLimits?.open_files?.soft) || most;
  }
};

/** At least half of what may be open, however little that is. */
export const mostConnections = (files = openFiles()): number =>
  Math.min(most, Math.max(files - forFiles, Math.floor(files / 2)));
