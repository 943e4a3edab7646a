/**
 * Group commit: collects the batches that arrive during commits into the next one. Batches of an account go together,
 * and accounts take turns. On a cluster, a commit has one account, because its transaction is on one shard.
 */
import { Refusal } from '../../../shared/refusal.ts';
import type { EventBatch, EventOutcome } from '../../store.ts';
import { isConflict, isLockTimeout } from '../database/connection.ts';
import { maxCommits } from '../database/pools.ts';

/**
 * The maximum number of accounts per commit, because a transaction locks each of its accounts, and PostgreSQL's lock
 * table has room for only a few thousand locks.
 */
const maxAccounts = 32;
/** The maximum number of events per commit, because all of its clients wait until it ends. */
const maxEvents = 4_000;

/** After this many timeouts without any stored batch, the rest is refused: a migration must hold a global lock. */
const maxLockTimeouts = 2;

type WriteQueue = (batch: EventBatch) => Promise<EventOutcome[]>;
type Store = (batches: readonly EventBatch[]) => Promise<EventOutcome[][]>;
type Measure = (events: number, seconds: number) => void;

interface Queued {
  readonly batch: EventBatch;
  readonly resolve: (outcomes: EventOutcome[]) => void;
  readonly reject: (error: unknown) => void;
}

const eventsIn = (queued: readonly Queued[]): number => queued.reduce((sum, { batch }) => sum + batch.events.length, 0);

/**
 * Whether events of other accounts might still be stored. A Refusal for any reason other than a conflict or a lock
 * timeout means that the database cannot store anything now.
 */
const mayOthersSucceed = (error: unknown): boolean =>
  !(error instanceof Refusal) || isConflict(error.cause) || isLockTimeout(error);

const groupByAccount = (queued: readonly Queued[]): Map<number, Queued[]> => {
  const queues = new Map<number, Queued[]>();
  for (const each of queued) {
    const queue = queues.get(each.batch.account);
    if (queue) queue.push(each);
    else queues.set(each.batch.account, [each]);
  }
  return queues;
};

/**
 * Divides batches that could not be stored together: by account, then by batch. Returns [] if dividing them would not
 * help.
 */
const divide = (queued: readonly Queued[], error: unknown): (readonly Queued[])[] => {
  if (!mayOthersSucceed(error)) return [];
  const accounts = groupByAccount(queued);
  if (accounts.size > 1) return [...accounts.values()];
  return error instanceof Refusal || queued.length === 1 ? [] : queued.map((each) => [each]);
};

interface QueueOptions {
  /** Receives the events and each commit's duration. */
  readonly measure?: Measure;
  readonly isDistributed?: boolean;
}

/**
 * Returns a function that stores a batch. `store` stores several batches in one commit. If that fails, each account is
 * stored separately, then each batch, unless the database is unavailable.
 */
export const createWriteQueue = (store: Store, { measure, isDistributed = false }: QueueOptions = {}): WriteQueue => {
  const limits = isDistributed
    ? { accounts: 1, commits: maxCommits.onCluster, commitsOfAccount: 1 }
    : { accounts: maxAccounts, commits: maxCommits.here, commitsOfAccount: maxCommits.here };
  /** By account, longest wait first. */
  const queues = new Map<number, Queued[]>();
  let commits = 0;
  /** The number of running commits, by account. */
  const inFlight = new Map<number, number>();
  let isScheduled = false;

  /**
   * Takes the next commit's batches. On a cluster, an account has one commit at a time, because commits cost more
   * there.
   */
  const take = (): Queued[] => {
    const batches: Queued[] = [];
    let accounts = 0;
    let events = 0;
    for (const [account, queue] of [...queues]) {
      if ((inFlight.get(account) ?? 0) >= limits.commitsOfAccount) continue;
      let count = 0;
      for (const { batch } of queue) {
        if (batches.length + count > 0 && events + batch.events.length > maxEvents) break;
        events += batch.events.length;
        count += 1;
      }
      if (count === 0) break;
      const isWhole = count === queue.length;
      batches.push(...queue.splice(0, count));
      accounts += 1;
      // The account's remaining batches wait behind the other accounts.
      queues.delete(account);
      if (!isWhole) queues.set(account, queue);
      if (!isWhole || accounts === limits.accounts) break;
    }
    return batches;
  };

  /** Returns the first error if some batches were not stored. Only the account or batch that causes an error fails. */
  const commit = async (queued: readonly Queued[]): Promise<unknown> => {
    try {
      const began = performance.now();
      const outcomes = await store(queued.map(({ batch }) => batch));
      measure?.(eventsIn(queued), (performance.now() - began) / 1_000);
      for (const [nth, { resolve }] of queued.entries()) resolve(outcomes[nth] as EventOutcome[]);
      return undefined;
    } catch (error) {
      const parts = divide(queued, error);
      if (parts.length === 0) {
        for (const { reject } of queued) reject(error);
        return error;
      }
      let failure: unknown;
      let late = 0;
      let isAnyStored = false;
      for (const part of parts) {
        const isHopeless = isLockTimeout(error) && late >= maxLockTimeouts && !isAnyStored;
        const failed = isHopeless ? error : await commit(part);
        if (isHopeless) for (const { reject } of part) reject(error);
        if (failed === undefined) isAnyStored = true;
        else if (isLockTimeout(failed)) late += 1;
        failure ??= failed;
      }
      return failure;
    }
  };

  const startCommit = async (queued: readonly Queued[]): Promise<void> => {
    const accounts = [...groupByAccount(queued).keys()];
    commits += 1;
    for (const account of accounts) inFlight.set(account, (inFlight.get(account) ?? 0) + 1);
    await commit(queued);
    commits -= 1;
    for (const account of accounts) {
      const left = (inFlight.get(account) ?? 0) - 1;
      if (left > 0) inFlight.set(account, left);
      else inFlight.delete(account);
    }
    flush();
  };

  const flush = (): void => {
    isScheduled = false;
    while (commits < limits.commits) {
      const queued = take();
      if (queued.length === 0) return;
      void startCommit(queued);
    }
  };

  return (batch) =>
    new Promise((resolve, reject) => {
      const queued = { batch, resolve, reject };
      const queue = queues.get(batch.account);
      if (queue) queue.push(queued);
      else queues.set(batch.account, [queued]);
      // Runs after the other requests that are read in this event-loop turn, so that their batches join the commit.
      if (!isScheduled) setImmediate(flush);
      isScheduled = true;
    });
};
