/** Runs work while another process sends requests to the server without a pause. */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { type EntryName, forkBuilt } from './fork.ts';

const pollMilliseconds = 100;

/**
 * Runs `work` while a process with this name runs, once it has received `first` responses. Returns the result, and the
 * process's responses per second.
 */
export const runAlongside = async <Value>(
  name: Extract<EntryName, 'reader' | 'report-client'>,
  args: readonly number[],
  work: () => Promise<Value>,
  { first = 0 }: { readonly first?: number } = {},
): Promise<{ readonly value: Value; readonly perSecond: number }> => {
  const child = await forkBuilt(name, ...args.map(String));
  const exited = once(child, 'exit');
  const countResponses = async (): Promise<number> => {
    child.send('how many?');
    const [responses] = (await Promise.race([
      once(child, 'message'),
      exited.then(() => {
        throw new Error(`the ${name} ended`);
      }),
    ])) as [number];
    return responses;
  };
  try {
    while ((await countResponses()) < first) await wait(pollMilliseconds);
    const before = await countResponses();
    const startTime = performance.now();
    const value = await work();
    const responses = (await countResponses()) - before;
    return { value, perSecond: responses / ((performance.now() - startTime) / 1_000) };
  } finally {
    if (child.connected) child.disconnect();
    await exited;
  }
};
