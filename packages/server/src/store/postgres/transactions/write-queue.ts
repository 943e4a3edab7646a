/**
 * Group commit: collects the batches that arrive while commits are under way into the next commit. Those of one account go together, and
 * accounts take turns.
 */
import { Refusal } from '../../../refusal.ts';
import type { EventBatch, EventOutcome } from '../../store.ts';

/** Parallel commits, each on its own connection: while PostgreSQL syncs one, the others are written. */
export const mostUnderWay = 4;

/** Each account of a commit takes a lock, and PostgreSQL has room for some thousands. */
export const mostAccounts = 32;

/** Approximate limit of events per commit. All clients of a commit get their responses when it ends. */
const mostEvents = 4_000;

interface Queued {
  readonly batch: EventBatch;
  readonly resolve: (outcomes: EventOutcome[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Returns a function that stores a batch. `keep` stores several in one commit. When it fails, each batch is stored by itself,
 * unless a Refusal says that the database cannot store anything now. `measure` receives the events and the duration of each commit.
 * `accountsPerCommit` is 1 where accounts are on different machines: a commit then has one machine.
 */
export const createWriteQueue = (
  keep: (batches: readonly EventBatch[]) => Promise<EventOutcome[][]>,
  measure: (events: number, seconds: number) => void = () => {},
  accountsPerCommit = mostAccounts,
) => {
  /** The batches of each account. The account that has waited longest comes first. */
  const queued = new Map<number, Queued[]>();
  let underWay = 0;
  let scheduled = false;

  const take = (): Queued[] => {
    const taken: Queued[] = [];
    let events = 0;
    for (const [account, waiting] of [...queued].slice(0, accountsPerCommit)) {
      const end = waiting.findIndex(({ batch }, nth) => {
        events += batch.events.length;
        return taken.length + nth > 0 && events > mostEvents;
      });
      if (end === 0) break;
      taken.push(...waiting.splice(0, end < 0 ? waiting.length : end));
      queued.delete(account);
      if (end < 0) continue;
      // What is left waits behind the other accounts.
      queued.set(account, waiting);
      break;
    }
    return taken;
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
    while (queued.size > 0 && underWay < mostUnderWay) {
      underWay += 1;
      void commit(take()).finally(() => {
        underWay -= 1;
        flush();
      });
    }
  };

  return (batch: EventBatch): Promise<EventOutcome[]> =>
    new Promise((resolve, reject) => {
      const waiting = queued.get(batch.account);
      if (waiting) waiting.push({ batch, resolve, reject });
      else queued.set(batch.account, [{ batch, resolve, reject }]);
      if (scheduled) return;
      scheduled = true;
      // Waits for the other requests that are read in this turn of the event loop.
      setImmediate(flush);
    });
};
