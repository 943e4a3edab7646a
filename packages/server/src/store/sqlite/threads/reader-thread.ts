/** The entry point of a reader thread. Other reads run between the steps of a long read. */

import type { Call } from '../calls.ts';
import { openConnection } from '../database/connection.ts';
import { createReadEngine } from '../engine.ts';
import type { Tuning } from '../tuning.ts';
import { type Port, type Reply, type Request, toPlain } from './messages.ts';

/** Opens the database at `path` and replies to the requests from the port until it receives 'close'. */
export const start = (port: Port, path: string, tuning?: Tuning): void => {
  const db = openConnection(path, 'read');
  const read = createReadEngine(db, tuning);

  const inFlight = new Set<Promise<void>>();

  const answer = async ({ id, calls }: Request): Promise<void> => {
    const settled = await Promise.allSettled(calls.map(read));
    const outcomes = settled.map((outcome, index) =>
      toPlain(
        calls[index] as Call,
        outcome.status === 'fulfilled' ? { value: outcome.value } : { error: outcome.reason },
      ),
    );
    port.postMessage({ id, outcomes } satisfies Reply);
  };

  port.on('message', async (request: Request | 'close') => {
    if (request === 'close') {
      await Promise.all(inFlight);
      db.close();
      port.close();
      return;
    }
    const reply = answer(request).finally(() => inFlight.delete(reply));
    inFlight.add(reply);
  });
};
