/** The account that a task is for. */
interface TaskOwner {
  readonly account: number;
  /** Whether the task is for a share link. */
  readonly isShared?: boolean | undefined;
}

interface QueuedTask extends TaskOwner {
  readonly start: () => void;
}

/**
 * Runs at most `max` tasks concurrently; other tasks wait. Accounts take turns, and tasks for share links start last.
 * The last free slot is reserved for accounts with no running task, so that neither one account nor share links can
 * occupy all slots.
 */
export const createFairQueue = (max: number) => {
  let free = max;
  /** The number of running tasks by account, except tasks for share links. */
  const running = new Map<number, number>();
  /** In the order in which they start. The account that had the last turn has its tasks at the end. */
  let waiting: readonly QueuedTask[] = [];

  const canStart = ({ account, isShared }: TaskOwner): boolean => free > (isShared || running.has(account) ? 1 : 0);
  const count = ({ account, isShared }: TaskOwner, change: 1 | -1): void => {
    free -= change;
    if (isShared) return;
    const total = (running.get(account) ?? 0) + change;
    if (total > 0) running.set(account, total);
    else running.delete(account);
  };
  const startNext = (): void => {
    for (;;) {
      const next = waiting.find((task) => !task.isShared && canStart(task)) ?? waiting.find(canStart);
      if (!next) return;
      const others = waiting.filter((task) => task !== next);
      const isSame = ({ account }: TaskOwner) => account === next.account;
      waiting = [...others.filter((task) => !isSame(task)), ...others.filter(isSame)];
      count(next, 1);
      next.start();
    }
  };
  return async <Value>(owner: TaskOwner, task: () => Promise<Value>): Promise<Value> => {
    await new Promise<void>((start) => {
      waiting = [...waiting, { ...owner, start }];
      startNext();
    });
    try {
      return await task();
    } finally {
      count(owner, -1);
      startNext();
    }
  };
};
