/** Turns an error into the refusal that the client gets. Details go to the log. */
import type { Logger } from 'pino';
import { describeFault } from '../../logging/faults.ts';
import { Refusal } from '../../shared/refusal.ts';

const everyMilliseconds = 60_000;

/**
 * Returns a function that logs why the store can't write, at most once a minute, because each failing request would log the same
 * line. `clock` is monotonic, in milliseconds.
 */
export const createUnavailableLog = (log: Logger, clock = () => performance.now()) => {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let requests = 0;
  return (requestID: string, cause: unknown): void => {
    requests += 1;
    const now = clock();
    if (now - loggedAt < everyMilliseconds) return;
    log.error({ requestID, requests, fault: describeFault(cause) }, 'the store cannot keep what it is sent');
    loggedAt = now;
    requests = 0;
  };
};

/** Returns the function that turns an error into a refusal. It logs the faults of the service under the requestID. */
export const createToRefusal = (log: Logger) => {
  const logUnavailable = createUnavailableLog(log);
  return (requestID: string, error: unknown): Refusal => {
    if (!(error instanceof Refusal)) {
      log.error({ requestID, fault: describeFault(error) }, 'a request failed');
      return new Refusal('internal');
    }
    // A store that can't write gives the reason as the cause. A full queue has no cause, and is not logged.
    if (error.code === 'unavailable' && error.cause !== undefined) logUnavailable(requestID, error.cause);
    return error;
  };
};
