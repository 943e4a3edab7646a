/** Delays responses to whole steps of time, so that their duration does not reveal what the store found. */
import { setTimeout as pause } from 'node:timers/promises';

/** Longer than a commit takes on most disks, and too short for a person to notice. */
export const stepMilliseconds = 10;

/**
 * Returns the result of `work`, or throws its error, at the first step of 10 ms after it has settled. Steps count from this call.
 * Each step's timer is set independently of the work, so that a difference of microseconds in it doesn't move the response.
 */
export const answerInSteps = async <Value>(work: Promise<Value>): Promise<Value> => {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  work.then(settle, settle);
  do await pause(stepMilliseconds);
  while (!settled);
  return work;
};
