/** Not for people: `firsthand serve` starts it for each of its WORKERS. */
import type { Command } from 'commander';
import { WrongUsage } from './failing.ts';

export const define = (command: Command): void => {
  command.action(async () => {
    if (!process.connected) throw new WrongUsage('a worker is started by firsthand serve: give that --workers');
    const { runWorker } = await import('../workers/worker.ts');
    runWorker();
  });
};
