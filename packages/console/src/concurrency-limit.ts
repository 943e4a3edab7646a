/**
 * Runs at most `limit` tasks concurrently, and queues further tasks in order. A task that is aborted while queued does
 * not start.
 */
export const createConcurrencyLimit = (limit: number) => {
  let free = limit;
  const waiting: (() => void)[] = [];
  const release = (): void => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };
  const acquire = async (): Promise<void> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
  return async <Value>(work: () => Promise<Value>, signal: AbortSignal): Promise<Value> => {
    await acquire();
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      release();
    }
  };
};
