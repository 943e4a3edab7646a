/** What went wrong with a request, as the refusal that its client is told; the rest is for the log. */
import type { Logger } from 'pino';
import { describeFault } from '../faults.ts';
import { Refusal } from '../refusal.ts';
import { createNotKeptLog } from './not-kept-log.ts';

/** Logs what whoever runs the service must know, under the requestID. */
export const createToRefusal = (log: Logger) => {
  const logNotKept = createNotKeptLog(log);
  return (requestID: string, error: unknown): Refusal => {
    if (!(error instanceof Refusal)) {
      log.error({ requestID, fault: describeFault(error) }, 'a request failed');
      return new Refusal('internal');
    }
    // A store that can't keep things says why in the cause; a full queue has none.
    if (error.code === 'not_kept' && error.cause !== undefined) logNotKept(requestID, error.cause);
    return error;
  };
};
