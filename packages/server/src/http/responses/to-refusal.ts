/** Converts an error to the refusal that is sent to the client. The log has the details. */
import type { Logger } from 'pino';
import { describeFault } from '../../logging/faults.ts';
import { Refusal } from '../../shared/refusal.ts';

const everyMilliseconds = 60_000;

/**
 * Returns a function that logs why the store can't write. It logs at most once a minute, because every failing request
 * would log the same line. `clock` is monotonic, in milliseconds.
 */
export const createUnavailableLog = (log: Logger, clock = () => performance.now()) => {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let requests = 0;
  return (requestID: string, cause: unknown): void => {
    requests += 1;
    const now = clock();
    if (now - loggedAt < everyMilliseconds) return;
    log.error({ requestID, requests, fault: describeFault(cause) }, 'the store cannot write');
    loggedAt = now;
    requests = 0;
  };
};

/** Returns a function that converts an error to a refusal. It logs faults of the service with the requestID. */
export const createErrorConverter = (log: Logger) => {
  const logUnavailable = createUnavailableLog(log);
  return (requestID: string, error: unknown): Refusal => {
    if (!(error instanceof Refusal)) {
      log.error({ requestID, fault: describeFault(error) }, 'a request failed');
      return new Refusal('internal');
    }
    // Only a store that can't write sets `cause`: a full queue is not logged.
    if (error.code === 'unavailable' && error.cause !== undefined) logUnavailable(requestID, error.cause);
    return error;
  };
};
