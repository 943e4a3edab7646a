/**
 * Group commit: collects the batches that arrive while commits are under way into the next commit. Those of one account go together, and
 * accounts take turns. On a cluster, a commit has one account: its transaction is on one shard.
 */
import { Refusal } from '../../../shared/refusal.ts';
import type { EventBatch, EventOutcome } from '../../store.ts';
import { isConflict, isLate } from '../database/connection.ts';
import { maxCommits } from '../database/pools.ts';

/** Limits of a commit: a transaction locks each of its accounts, and PostgreSQL has room for some thousands of locks. */
const maxAccounts = 32;
/** All clients of a commit get their responses when it ends. */
const maxEvents = 4_000;

/**
 * When this many parts of a commit wait too long for a lock, and none is stored, all need the same one: a migration holds it. The others are refused.
 */
const maxLate = 2;

type WriteQueue = (batch: EventBatch) => Promise<EventOutcome[]>;
type Store = (batches: readonly EventBatch[]) => Promise<EventOutcome[][]>;
type Measure = (events: number, seconds: number) => void;

interface Queued {
  readonly batch: EventBatch;
  readonly resolve: (outcomes: EventOutcome[]) => void;
  readonly reject: (error: unknown) => void;
}

const eventsIn = (queued: readonly Queued[]): number => queued.reduce((sum, { batch }) => sum + batch.events.length, 0);

/** Whether others can be stored nevertheless: any other Refusal says that the database cannot store anything now. */
const isOfOne = (error: unknown): boolean => !(error instanceof Refusal) || isConflict(error.cause) || isLate(error);

const byAccount = (queued: readonly Queued[]): Map<number, Queued[]> => {
  const lines = new Map<number, Queued[]>();
  for (const each of queued) {
    const line = lines.get(each.batch.account);
    if (line) line.push(each);
    else lines.set(each.batch.account, [each]);
  }
  return lines;
};

/** Divides what could not be stored together: by account, then by batch. Returns nothing when it cannot be divided, or need not be. */
const divide = (queued: readonly Queued[], error: unknown): (readonly Queued[])[] => {
  if (!isOfOne(error)) return [];
  const accounts = byAccount(queued);
  if (accounts.size > 1) return [...accounts.values()];
  return error instanceof Refusal || queued.length === 1 ? [] : queued.map((each) => [each]);
};

interface QueueOptions {
  /** Receives the events and the duration of each commit. */
  readonly measure?: Measure;
  readonly isSpread?: boolean;
}

/**
 * Returns a function that stores a batch. `store` stores several in one commit. When it fails, each account is stored by itself, and then
 * each batch, unless the database cannot store anything now.
 */
export const createWriteQueue = (store: Store, { measure, isSpread = false }: QueueOptions = {}): WriteQueue => {
  const limits = isSpread
    ? { accounts: 1, commits: maxCommits.onCluster, commitsOfAccount: 1 }
    : { accounts: maxAccounts, commits: maxCommits.here, commitsOfAccount: maxCommits.here };
  /** By account. The one that has waited longest comes first. */
  const lines = new Map<number, Queued[]>();
  let commits = 0;
  /** How many commits each account has under way. */
  const underWay = new Map<number, number>();
  let isScheduled = false;

  /** Takes the batches of the next commit. On a cluster, where a commit costs more, those of an account collect until its last one ends. */
  const take = (): Queued[] => {
    const taken: Queued[] = [];
    let accounts = 0;
    let events = 0;
    for (const [account, line] of [...lines]) {
      if ((underWay.get(account) ?? 0) >= limits.commitsOfAccount) continue;
      let count = 0;
      for (const { batch } of line) {
        if (taken.length + count > 0 && events + batch.events.length > maxEvents) break;
        events += batch.events.length;
        count += 1;
      }
      if (count === 0) break;
      const isWhole = count === line.length;
      taken.push(...line.splice(0, count));
      accounts += 1;
      // The rest of the line waits behind the other accounts.
      lines.delete(account);
      if (!isWhole) lines.set(account, line);
      if (!isWhole || accounts === limits.accounts) break;
    }
    return taken;
  };

  /** Returns why some were not stored, if so. Only the account and the batch that causes an error fails. */
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
        const isHopeless = isLate(error) && late >= maxLate && !isAnyStored;
        const failed = isHopeless ? error : await commit(part);
        if (isHopeless) for (const { reject } of part) reject(error);
        if (failed === undefined) isAnyStored = true;
        else if (isLate(failed)) late += 1;
        failure ??= failed;
      }
      return failure;
    }
  };

  const begin = async (queued: readonly Queued[]): Promise<void> => {
    const accounts = [...byAccount(queued).keys()];
    commits += 1;
    for (const account of accounts) underWay.set(account, (underWay.get(account) ?? 0) + 1);
    await commit(queued);
    commits -= 1;
    for (const account of accounts) {
      const left = (underWay.get(account) ?? 0) - 1;
      if (left > 0) underWay.set(account, left);
      else underWay.delete(account);
    }
    flush();
  };

  const flush = (): void => {
    isScheduled = false;
    while (commits < limits.commits) {
      const queued = take();
      if (queued.length === 0) return;
      void begin(queued);
    }
  };

  return (batch) =>
    new Promise((resolve, reject) => {
      const queued = { batch, resolve, reject };
      const line = lines.get(batch.account);
      if (line) line.push(queued);
      else lines.set(batch.account, [queued]);
      // Waits for the other requests that are read in this turn of the event loop.
      if (!isScheduled) setImmediate(flush);
      isScheduled = true;
    });
};
