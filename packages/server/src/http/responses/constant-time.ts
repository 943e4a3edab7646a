/** Delays responses to fixed time steps, so that their duration does not reveal what the store found. */
import { setTimeout as pause } from 'node:timers/promises';

/** Longer than a commit takes on most disks, but too short for a person to notice. */
export const stepMilliseconds = 10;

/**
 * Returns the result of `work`, or throws its error, at the first 10 ms step after it settles, counted from this call.
 * The timers run independently of the work, so differences of microseconds don't shift the response.
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
