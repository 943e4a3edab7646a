/** The process that sends, seen from the one that measures. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Load, LoadResult } from './load.ts';

/** Beyond this share of a core it is the load that is measured. */
const mostCores = 0.9;

export interface Loading {
  /** Throws when an answer is not 200. */
  run(load: Load): Promise<LoadResult>;
  stop(): void;
}

export const startLoad = (): Loading => {
  const child = fork(new URL('./load.ts', import.meta.url), [], { execArgv: ['--import', 'tsx'] });
  return {
    async run(load) {
      child.send(load);
      const [result] = (await once(child, 'message')) as [LoadResult];
      if (result.refused > 0) throw new Error(`${result.refused} answers were not 200`);
      if (result.cores > mostCores) console.log(`(the load took ${result.cores.toFixed(2)} of a core)`);
      return result;
    },
    stop: () => child.disconnect(),
  };
};
