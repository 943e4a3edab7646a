/** Times requests one after the other. */
import { createLatencies, type Latencies } from './latencies.ts';

/** Times the keys of several `groups` in turns, and returns the times of each group. */
export const timeInTurns = async <Key>(
  keys: readonly Key[],
  groups: number,
  ask: (key: Key) => Promise<unknown>,
): Promise<Latencies[]> => {
  const latencies = Array.from({ length: groups }, createLatencies);
  for (const [nth, key] of keys.entries()) {
    const began = performance.now();
    await ask(key);
    latencies[nth % groups]?.record(performance.now() - began);
  }
  return latencies;
};

/** Times as many keys as fit into this many milliseconds, at least one. */
export const timeEach = async <Key>(
  keys: readonly Key[],
  ask: (key: Key) => Promise<unknown>,
  maxMilliseconds = Infinity,
): Promise<Latencies> => {
  const latencies = createLatencies();
  const until = performance.now() + maxMilliseconds;
  for (const key of keys) {
    const began = performance.now();
    if (began > until) break;
    await ask(key);
    latencies.record(performance.now() - began);
  }
  return latencies;
};
