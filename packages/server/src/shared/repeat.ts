import { setTimeout as wait } from 'node:timers/promises';

/**
 * Runs `work` immediately and then repeatedly. `work` resolves with the pause until its next run, in milliseconds, and
 * must not reject. A pause does not keep the process running.
 *
 * Returns a function that stops repeating: it aborts the signal and resolves when the current run is done.
 */
export const repeat = (work: (signal: AbortSignal) => Promise<number>): (() => Promise<void>) => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const run = async () => {
    while (!signal.aborted) {
      const pause = await work(signal);
      await wait(pause, undefined, { signal, ref: false }).catch(() => {});
    }
  };
  const running = run();
  return () => {
    stopping.abort();
    return running;
  };
};
