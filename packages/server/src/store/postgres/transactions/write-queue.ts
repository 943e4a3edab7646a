/**
 * Group commit: collects the batches that arrive while commits are under way into the next commit. Those of one account go together, and
 * accounts take turns.
 */
import { Refusal } from '../../../refusal.ts';
import type { EventBatch, EventOutcome } from '../../store.ts';
import type { MachineOf } from '../database/machines.ts';

/** Parallel commits, each on its own connection: while PostgreSQL syncs one, the others are written. */
export const mostUnderWay = 4;

/** Each account of a commit takes a lock, and PostgreSQL has room for some thousands. */
export const mostAccounts = 32;

/** On a cluster, an account that has a commit under way begins another when so many of its events wait. */
const enoughEvents = 1_000;

/** Approximate limit of events per commit. All clients of a commit get their responses when it ends. */
const mostEvents = 4_000;

interface Queued {
  readonly batch: EventBatch;
  readonly resolve: (outcomes: EventOutcome[]) => void;
  readonly reject: (error: unknown) => void;
}

export type WriteQueue = (batch: EventBatch) => Promise<EventOutcome[]>;
type Keep = (batches: readonly EventBatch[]) => Promise<EventOutcome[][]>;
type Measure = (events: number, seconds: number) => void;

/** What waits of an account, and how many events that are. */
interface Line {
  readonly waiting: Queued[];
  events: number;
  /** The account's commits under way. */
  commits: number;
}

/**
 * Returns a function that stores a batch. `keep` stores several in one commit. When it fails, each batch is stored by itself,
 * unless a Refusal says that the database cannot store anything now. `measure` receives the events and the duration of each commit.
 * `apart`: on a cluster, where a commit has one account and takes several times as long, an account has one commit under way at a time unless
 * many of its events wait.
 */
export const createWriteQueue = (keep: Keep, measure: Measure = () => {}, apart = false): WriteQueue => {
  /** The accounts that have batches waiting or a commit under way. The one that has waited longest comes first. */
  const lines = new Map<number, Line>();
  let underWay = 0;
  let scheduled = false;

  const isReady = ({ waiting, events, commits }: Line): boolean =>
    waiting.length > 0 && (!apart || commits === 0 || events >= enoughEvents);

  /** Takes what goes into the next commit, and returns it with its accounts; nothing when all must wait. */
  const take = () => {
    const taken: Queued[] = [];
    const accounts: number[] = [];
    let events = 0;
    for (const [account, line] of [...lines]) {
      if (!isReady(line)) continue;
      const { waiting } = line;
      const before = events;
      const end = waiting.findIndex(({ batch }, nth) => {
        if (taken.length + nth > 0 && events + batch.events.length > mostEvents) return true;
        events += batch.events.length;
        return false;
      });
      if (end === 0) break;
      taken.push(...waiting.splice(0, end < 0 ? waiting.length : end));
      accounts.push(account);
      line.commits += 1;
      line.events -= events - before;
      // What is left waits behind the other accounts.
      lines.delete(account);
      lines.set(account, line);
      if (end > 0 || accounts.length === (apart ? 1 : mostAccounts)) break;
    }
    return { taken, accounts };
  };

  const commit = async (taken: readonly Queued[]): Promise<void> => {
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
    } catch (error) {
      // Only the batch that causes the error fails.
      if (taken.length > 1 && !(error instanceof Refusal)) for (const each of taken) await commit([each]);
      else for (const { reject } of taken) reject(error);
    }
  };

  const flush = () => {
    scheduled = false;
    while (underWay < mostUnderWay) {
      const { taken, accounts } = take();
      if (taken.length === 0) return;
      underWay += 1;
      void commit(taken).finally(() => {
        underWay -= 1;
        for (const account of accounts) {
          const line = lines.get(account) as Line;
          line.commits -= 1;
          if (line.commits === 0 && line.waiting.length === 0) lines.delete(account);
        }
        flush();
      });
    }
  };

  return (batch: EventBatch): Promise<EventOutcome[]> =>
    new Promise((resolve, reject) => {
      const line = lines.get(batch.account) ?? { waiting: [], events: 0, commits: 0 };
      // An account that had nothing waiting waits behind the others from now on.
      if (line.waiting.length === 0) lines.delete(batch.account);
      lines.set(batch.account, line);
      line.waiting.push({ batch, resolve, reject });
      line.events += batch.events.length;
      if (scheduled) return;
      scheduled = true;
      // Waits for the other requests that are read in this turn of the event loop.
      setImmediate(flush);
    });
};

/** The same on a cluster: a queue for each machine, so that a slow one holds up its own accounts only. */
export const createWriteQueues = (machineOf: MachineOf, keep: Keep, measure?: Measure): WriteQueue => {
  const queues = new Map<number, WriteQueue>();
  return async (batch) => {
    const machine = await machineOf(batch.account);
    const queue = queues.get(machine) ?? createWriteQueue(keep, measure, true);
    queues.set(machine, queue);
    return queue(batch);
  };
};
