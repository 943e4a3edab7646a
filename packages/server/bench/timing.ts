/** Asks one thing after the other, and tells how long each took. */
import { createLatencies, type Latencies } from './latencies.ts';

/** Of keys that belong to several `groups` in turns: how long those of each took. */
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

/** Of as many keys as there is time for: at most so many milliseconds, and one key. */
export const timeEach = async <Key>(
  keys: readonly Key[],
  ask: (key: Key) => Promise<unknown>,
  mostMilliseconds = Infinity,
): Promise<Latencies> => {
  const latencies = createLatencies();
  const until = performance.now() + mostMilliseconds;
  for (const key of keys) {
    const began = performance.now();
    if (began > until) break;
    await ask(key);
    latencies.record(performance.now() - began);
  }
  return latencies;
};
