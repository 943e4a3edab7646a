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

export const timeEach = async <Key>(keys: readonly Key[], ask: (key: Key) => Promise<unknown>): Promise<Latencies> => {
  const [latencies] = await timeInTurns(keys, 1, ask);
  return latencies as Latencies;
};
