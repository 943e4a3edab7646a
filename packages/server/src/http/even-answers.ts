/** Answers that come at whole steps of time, so that how long they took tells nothing of what was found. */
import { setTimeout as pause } from 'node:timers/promises';

/** Longer than a commit takes on most disks, and too short to be noticed by who fills in a form. */
export const stepMilliseconds = 10;

/**
 * Settles as `work` does, at the first whole step since this call at which it has. A step's timer is set without regard
 * to the work, so that a difference of microseconds in it doesn't move the answer.
 */
export const answerEvenly = async <Value>(work: Promise<Value>): Promise<Value> => {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  work.then(settle, settle);
  do await pause(stepMilliseconds);
  while (!settled);
  return work;
};
