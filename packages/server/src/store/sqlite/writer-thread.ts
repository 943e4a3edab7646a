/** The thread that writes: each message is one commit, and what arrives meanwhile goes together into the next. */
import { parentPort, workerData } from 'node:worker_threads';
import { openConnection } from './connection.ts';
import { createWriteEngine } from './engine.ts';
import { type Reply, type Request, toPlain } from './messages.ts';

const port = parentPort as NonNullable<typeof parentPort>;
const db = openConnection((workerData as { path: string }).path, 'serve');
const engine = createWriteEngine(db);
engine.eraseAgain();

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
