/** Runs at most so many works at once; the others wait for their turn. Accounts that wait take turns. */
export const createTurns = (most: number) => {
  let free = most;
  /** In the order of the accounts' turns. */
  const waiting = new Map<number, (() => void)[]>();
  const takeNext = (): (() => void) | undefined => {
    for (const [account, works] of waiting) {
      const next = works.shift();
      waiting.delete(account);
      if (works.length > 0) waiting.set(account, works);
      return next;
    }
    return undefined;
  };
  return async <Value>(account: number, work: () => Promise<Value>): Promise<Value> => {
    if (free > 0) free -= 1;
    else
      await new Promise<void>((resolve) => {
        waiting.set(account, [...(waiting.get(account) ?? []), resolve]);
      });
    try {
      return await work();
    } finally {
      const next = takeNext();
      if (next) next();
      else free += 1;
    }
  };
};
