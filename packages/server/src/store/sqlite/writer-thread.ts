/** The thread that writes: each message is one commit, and what arrives meanwhile goes together into the next. */
import { dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { openConnection } from './connection.ts';
import { createWriteEngine } from './engine.ts';
import { syncDirectory } from './file.ts';
import { type Reply, type Request, toPlain } from './messages.ts';

const port = parentPort as NonNullable<typeof parentPort>;
const { path } = workerData as { path: string };
const db = openConnection(path, 'serve');
const engine = createWriteEngine(db);
engine.eraseAgain();
// The log is there by now. SQLite syncs its folder too, but takes no notice when that fails (os_unix.c, unixSync).
syncDirectory(dirname(path));

/** Ends the thread when it can no longer be known what is on the disk. */
const orDie = <Value>(work: () => Value): Value => {
  try {
    return work();
  } catch (error) {
    port.postMessage({ fatal: String((error as Error).message ?? error) } satisfies Reply);
    // Not closed: closing would write.
    port.close();
    throw error;
  }
};

/** The next step of tidying up, when there is one. */
let tidying: NodeJS.Timeout | undefined;
const tidyAfter = (milliseconds: number) => {
  tidying = setTimeout(() => {
    tidying = undefined;
    const rest = orDie(() => engine.tidy());
    if (rest !== null) tidyAfter(rest);
  }, milliseconds);
};

port.on('message', (request: Request | 'close') => {
  if (request === 'close') {
    clearTimeout(tidying);
    db.close();
    port.close();
    return;
  }
  const outcomes = orDie(() => engine.write(request.calls)).map(toPlain);
  port.postMessage({ id: request.id, outcomes } satisfies Reply);
  if (tidying === undefined) tidyAfter(0);
});
tidyAfter(0);
