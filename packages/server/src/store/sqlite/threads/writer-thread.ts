/** The entry point of the writer thread. Each message becomes one commit (write-queue.ts). */
import { dirname } from 'node:path';
import type { Call } from '../calls.ts';
import { openConnection } from '../database/connection.ts';
import { syncDirectory } from '../database/file.ts';
import { createWriteEngine } from '../engine.ts';
import type { Tuning } from '../tuning.ts';
import { fromFlat, type Port, type Reply, type Request, toPlain } from './messages.ts';

/** Opens the database at `path` and replies to the requests from the port until it receives 'close'. */
export const start = (port: Port, path: string, tuning?: Tuning): void => {
  const db = openConnection(path, 'serve');
  const engine = createWriteEngine(db, tuning);
  engine.eraseAgain();
  while (engine.catchUp());
  // Syncs the folder, in which the write-ahead log exists by now. SQLite syncs it too, but ignores a failure
  // (os_unix.c, unixSync).
  syncDirectory(dirname(path));

  /** Ends the thread if the state on disk becomes unknown. */
  const orDie = <Value>(work: () => Value): Value => {
    try {
      return work();
    } catch (error) {
      port.postMessage({ fatal: (error as Error).message } satisfies Reply);
      // Does not close the database, because closing would write.
      port.close();
      throw error;
    }
  };

  /** The timer of the next maintenance step. */
  let maintenance: NodeJS.Timeout | undefined;
  const maintainAfter = (milliseconds: number) => {
    maintenance = setTimeout(() => {
      maintenance = undefined;
      const rest = orDie(() => engine.maintain());
      if (rest !== null) maintainAfter(rest);
    }, milliseconds);
  };

  port.on('message', (message: Request | 'close') => {
    if (message === 'close') {
      clearTimeout(maintenance);
      db.close();
      port.close();
      return;
    }
    const calls = message.calls.map(fromFlat);
    const began = performance.now();
    const committed = engine.committedMilliseconds();
    const written = orDie(() => engine.write(calls));
    const seconds = (performance.now() - began) / 1_000;
    const statementSeconds = (engine.committedMilliseconds() - committed) / 1_000;
    const outcomes = written.map((outcome, index) => toPlain(calls[index] as Call, outcome));
    port.postMessage({ id: message.id, outcomes, seconds, statementSeconds } satisfies Reply);
    orDie(() => engine.catchUp());
    if (maintenance === undefined) maintainAfter(0);
  });
  maintainAfter(0);
};
