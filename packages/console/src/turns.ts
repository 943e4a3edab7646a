/** Runs at most so many works at once, the others in their order; one whose signal is aborted while it waits is not begun. */
export const createTurns = (most: number) => {
  let free = most;
  const waiting: (() => void)[] = [];
  const release = (): void => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };
  const take = async (): Promise<void> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((begin) => waiting.push(begin));
  };
  return async <Value>(work: () => Promise<Value>, signal: AbortSignal): Promise<Value> => {
    await take();
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      release();
    }
  };
};
