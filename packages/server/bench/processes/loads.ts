/** Controls the process that generates load. */
import { once } from 'node:events';
import { forkBuilt } from './fork.ts';
import type { Load, LoadResult } from './load.ts';

interface LoadGenerator {
  /** Throws if any response is not 200. */
  run(load: Load): Promise<LoadResult>;
  stop(): void;
}

/** The loads to measure: single events, and batches. */
export const shapes = [
  { events: 1, connections: 64 },
  { events: 50, connections: 32 },
] as const;

export const startLoad = async (): Promise<LoadGenerator> => {
  let maxCores = 0;
  const child = await forkBuilt('load');
  return {
    async run(load) {
      child.send(load);
      const [result] = (await once(child, 'message')) as [LoadResult];
      if (result.refused > 0) throw new Error(`${result.refused} responses were not 200`);
      maxCores = Math.max(maxCores, result.cores);
      return result;
    },
    stop() {
      child.disconnect();
      console.log(`(generating the load took up to ${maxCores.toFixed(2)} of a core; near 1, it was the bottleneck)\n`);
    },
  };
};
