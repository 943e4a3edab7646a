/** Runs something while another process asks the server without a pause. */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { type EntryName, forkBuilt } from './forking.ts';

const lookMilliseconds = 100;

/**
 * Runs `work` while a process of this name runs, from its `first` response on. Returns the result, and the responses that the process got in
 * a second meanwhile.
 */
export const meanwhile = async <Value>(
  name: Extract<EntryName, 'reader' | 'asker'>,
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
    while ((await countResponses()) < first) await wait(lookMilliseconds);
    const before = await countResponses();
    const began = performance.now();
    const value = await work();
    const responses = (await countResponses()) - before;
    return { value, perSecond: responses / ((performance.now() - began) / 1_000) };
  } finally {
    if (child.connected) child.disconnect();
    await exited;
  }
};
