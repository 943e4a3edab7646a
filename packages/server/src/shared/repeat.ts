import { setTimeout as wait } from 'node:timers/promises';

/**
 * Runs `work` now and again after each pause, whose milliseconds it resolves with; it must not reject. Returns a function that stops
 * this, and resolves when the current run is done. The signal is aborted then. A pause does not keep the process running.
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
