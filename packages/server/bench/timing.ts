/** Asks one thing after the other, and tells how long each took. */
import { createLatencies, type Latencies } from './latencies.ts';

export const timeEach = async <Key>(keys: readonly Key[], ask: (key: Key) => Promise<unknown>): Promise<Latencies> => {
  const latencies = createLatencies();
  for (const key of keys) {
    const began = performance.now();
    await ask(key);
    latencies.record(performance.now() - began);
  }
  return latencies;
};
