/** Times sequential requests. */
import { createLatencies, type Latencies } from './latencies.ts';

/** Times the keys in several `groups` alternately. Returns each group's times. */
export const timeAlternating = async <Key>(
  keys: readonly Key[],
  groups: number,
  request: (key: Key) => Promise<unknown>,
): Promise<Latencies[]> => {
  const latencies = Array.from({ length: groups }, createLatencies);
  for (const [nth, key] of keys.entries()) {
    const startTime = performance.now();
    await request(key);
    latencies[nth % groups]?.record(performance.now() - startTime);
  }
  return latencies;
};

/** Times as many keys as possible within `maxMilliseconds`, but at least one. */
export const timeEach = async <Key>(
  keys: readonly Key[],
  request: (key: Key) => Promise<unknown>,
  maxMilliseconds = Infinity,
): Promise<Latencies> => {
  const latencies = createLatencies();
  const until = performance.now() + maxMilliseconds;
  for (const key of keys) {
    const startTime = performance.now();
    if (startTime > until) break;
    await request(key);
    latencies.record(performance.now() - startTime);
  }
  return latencies;
};
