/** Turns an error into the refusal that the client gets. Details go to the log. */
import type { Logger } from 'pino';
import { describeFault } from '../../faults.ts';
import { Refusal } from '../../refusal.ts';
import { createNotKeptLog } from './not-kept-log.ts';

/** Returns the function that turns an error into a refusal. It logs the faults of the service under the requestID. */
export const createToRefusal = (log: Logger) => {
  const logNotKept = createNotKeptLog(log);
  return (requestID: string, error: unknown): Refusal => {
    if (!(error instanceof Refusal)) {
      log.error({ requestID, fault: describeFault(error) }, 'a request failed');
      return new Refusal('internal');
    }
    // A store that can't write gives the reason as the cause. A full queue has no cause, and is not logged.
    if (error.code === 'not_kept' && error.cause !== undefined) logNotKept(requestID, error.cause);
    return error;
  };
};
