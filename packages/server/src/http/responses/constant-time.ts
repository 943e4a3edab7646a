/** Delays responses to fixed time steps, so that their duration does not reveal what the store found. */
import { setTimeout as pause } from 'node:timers/promises';

/** Longer than a commit takes on most disks, but too short for a person to notice. */
export const stepMilliseconds = 10;

/**
 * Waits for `work` and then until a multiple of 10 ms since this call, and returns the result or throws the error. The
 * timers run independently of the work, so differences of microseconds don't shift the response.
 */
export const respondInSteps = async <Value>(work: Promise<Value>): Promise<Value> => {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  work.then(settle, settle);
  do await pause(stepMilliseconds);
  while (!settled);
  return work;
};
