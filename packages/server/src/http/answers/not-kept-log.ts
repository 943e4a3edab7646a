/** Logs why the store can't write, at most once a minute, because each failing request would log the same line. */
import type { Logger } from 'pino';
import { describeFault } from '../../faults.ts';

const everyMilliseconds = 60_000;

/** `clock` is monotonic, in milliseconds. */
export const createNotKeptLog = (log: Logger, clock = () => performance.now()) => {
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
