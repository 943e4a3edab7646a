/**
 * Group commit: collects the batches that arrive while commits are under way into the next commit. Those of one account go together, and
 * accounts take turns. On a cluster, a commit has accounts that are in the same shards.
 */
import { Refusal } from '../../../refusal.ts';
import type { EventBatch, EventOutcome } from '../../store.ts';
import { codeOf, isConflict } from '../database/connection.ts';
import type { PlaceOf } from '../database/machines.ts';

/** Parallel commits, each on its own connection: while PostgreSQL syncs one, the others are written. */
export const mostUnderWay = 4;

/** Each account of a commit takes a lock, and PostgreSQL has room for some thousands. */
export const mostAccounts = 32;

/** On a cluster, shards that have a commit under way begin another when so many of their events wait. */
const enoughEvents = 1_000;

/** Approximate limit of events per commit. All clients of a commit get their responses when it ends. */
const mostEvents = 4_000;

/** lock_not_available */
const lockTimeout = '55P03';

/** When so many accounts of a commit wait too long for a lock, one by one, it is one that all need: a migration holds it. The others are refused. */
const mostLate = 2;

interface Queued {
  readonly batch: EventBatch;
  readonly resolve: (outcomes: EventOutcome[]) => void;
  readonly reject: (error: unknown) => void;
}

export type WriteQueue = (batch: EventBatch) => Promise<EventOutcome[]>;
type Keep = (batches: readonly EventBatch[]) => Promise<EventOutcome[][]>;
type Measure = (events: number, seconds: number) => void;

/** Whether others can be stored nevertheless: a Refusal says that the database cannot store anything now, unless it waited for a lock. */
const isOfOne = (error: unknown): boolean =>
  !(error instanceof Refusal) || isConflict(error.cause) || codeOf(error.cause) === lockTimeout;

/** Divides what could not be stored together: by account, then by batch. Returns nothing when it cannot be divided, or need not be. */
const partsOf = (taken: readonly Queued[], error: unknown): (readonly Queued[])[] => {
  const accounts = new Set(taken.map(({ batch }) => batch.account));
  if (!isOfOne(error) || taken.length === 1) return [];
  if (accounts.size > 1) return [...accounts].map((account) => taken.filter(({ batch }) => batch.account === account));
  return error instanceof Refusal ? [] : taken.map((each) => [each]);
};

/** What waits of an account. */
interface Line {
  readonly waiting: Queued[];
  readonly shard: Shard;
}

/** How many events of its accounts wait, and how many commits are under way. */
interface Shard {
  events: number;
  commits: number;
}

/**
 * Returns a function that stores a batch of an account in a shard; without Citus, all are in one. `keep` stores several in one commit. When it
 * fails, each account is stored by itself, and then each batch, unless the database cannot store anything now. `measure` receives the events
 * and the duration of each commit. `apart`: on a cluster, where a commit has accounts of one shard and takes several times as long, a shard has
 * one commit under way at a time unless many of its events wait.
 */
const createQueue = (keep: Keep, measure: Measure = () => {}, apart = false) => {
  /** The accounts that have batches waiting, by account and shard. The one that has waited longest comes first. */
  const lines = new Map<string, Line>();
  const shards = new Map<number, Shard>();
  let underWay = 0;
  let scheduled = false;

  const isReady = ({ commits, events }: Shard): boolean => !apart || commits === 0 || events >= enoughEvents;

  /** Takes what goes into the next commit, and returns it with its shard; no shard when all must wait. */
  const take = () => {
    const taken: Queued[] = [];
    let shard: Shard | undefined;
    let accounts = 0;
    let events = 0;
    for (const [key, line] of [...lines]) {
      if (shard ? shard !== line.shard : !isReady(line.shard)) continue;
      shard = line.shard;
      const { waiting } = line;
      const end = waiting.findIndex(({ batch }, nth) => {
        if (taken.length + nth > 0 && events + batch.events.length > mostEvents) return true;
        events += batch.events.length;
        return false;
      });
      if (end === 0) break;
      taken.push(...waiting.splice(0, end < 0 ? waiting.length : end));
      accounts += 1;
      // What is left waits behind the other accounts.
      lines.delete(key);
      if (waiting.length > 0) lines.set(key, line);
      if (end > 0 || accounts === mostAccounts) break;
    }
    if (shard) shard.events -= events;
    return { taken, shard };
  };

  /** Returns whether all were stored. */
  const commit = async (taken: readonly Queued[]): Promise<boolean> => {
    try {
      const began = performance.now();
      const outcomes = await keep(taken.map(({ batch }) => batch));
      measure(
        taken.reduce((sum, { batch }) => sum + batch.events.length, 0),
        (performance.now() - began) / 1_000,
      );
      taken.forEach(({ resolve }, nth) => {
        resolve(outcomes[nth] as EventOutcome[]);
      });
      return true;
    } catch (error) {
      // Only the account, and only the batch, that causes the error fails.
      const parts = partsOf(taken, error);
      let late = 0;
      for (const part of parts) {
        if (error instanceof Refusal && late === mostLate) for (const { reject } of part) reject(error);
        else if (!(await commit(part))) late += 1;
      }
      if (parts.length === 0) for (const { reject } of taken) reject(error);
      return false;
    }
  };

  const flush = () => {
    scheduled = false;
    while (underWay < mostUnderWay) {
      const { taken, shard } = take();
      if (!shard) return;
      underWay += 1;
      shard.commits += 1;
      void commit(taken).finally(() => {
        underWay -= 1;
        shard.commits -= 1;
        flush();
      });
    }
  };

  return (batch: EventBatch, numberOfShard = 0): Promise<EventOutcome[]> =>
    new Promise((resolve, reject) => {
      const key = `${batch.account} ${numberOfShard}`;
      const shard = shards.get(numberOfShard) ?? { events: 0, commits: 0 };
      shards.set(numberOfShard, shard);
      const line = lines.get(key) ?? { waiting: [], shard };
      lines.set(key, line);
      line.waiting.push({ batch, resolve, reject });
      shard.events += batch.events.length;
      if (scheduled) return;
      scheduled = true;
      // Waits for the other requests that are read in this turn of the event loop.
      setImmediate(flush);
    });
};

export const createWriteQueue = (keep: Keep, measure?: Measure): WriteQueue => createQueue(keep, measure);

/** The same on a cluster: a queue for each machine, so that a slow one holds up its own accounts only. */
export const createWriteQueues = (placeOf: PlaceOf, keep: Keep, measure?: Measure): WriteQueue => {
  const queues = new Map<number, ReturnType<typeof createQueue>>();
  return async (batch) => {
    const { machine, shard } = await placeOf(batch.account);
    const queue = queues.get(machine) ?? createQueue(keep, measure, true);
    queues.set(machine, queue);
    return queue(batch, shard);
  };
};
