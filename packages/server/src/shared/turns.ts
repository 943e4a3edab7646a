/** The owner of a task. `isShared`: it is for a share link. */
interface TurnOf {
  readonly account: number;
  readonly isShared?: boolean | undefined;
}

interface Waiting extends TurnOf {
  readonly begin: () => void;
}

/**
 * Runs at most `max` tasks concurrently; the others wait. Accounts take turns, and tasks of share links start last. The last free place is
 * only for a member of an account that has no other task running, so that neither an account nor share links occupy all places.
 */
export const createTurns = (max: number) => {
  let free = max;
  /** The tasks that run, without those of share links. */
  const running = new Map<number, number>();
  /** In the order in which they start. The tasks of the account that had the last turn are at the end. */
  let waiting: readonly Waiting[] = [];

  const canBegin = ({ account, isShared }: TurnOf): boolean => free > (isShared || running.has(account) ? 1 : 0);
  const count = ({ account, isShared }: TurnOf, change: 1 | -1): void => {
    free -= change;
    if (isShared) return;
    const ofAccount = (running.get(account) ?? 0) + change;
    if (ofAccount > 0) running.set(account, ofAccount);
    else running.delete(account);
  };
  const beginNext = (): void => {
    for (;;) {
      const next = waiting.find((task) => !task.isShared && canBegin(task)) ?? waiting.find(canBegin);
      if (!next) return;
      const others = waiting.filter((task) => task !== next);
      const isSame = ({ account }: TurnOf) => account === next.account;
      waiting = [...others.filter((task) => !isSame(task)), ...others.filter(isSame)];
      count(next, 1);
      next.begin();
    }
  };
  return async <Value>(of: TurnOf, task: () => Promise<Value>): Promise<Value> => {
    await new Promise<void>((begin) => {
      waiting = [...waiting, { ...of, begin }];
      beginNext();
    });
    try {
      return await task();
    } finally {
      count(of, -1);
      beginNext();
    }
  };
};
