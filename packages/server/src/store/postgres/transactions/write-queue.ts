/** Group commit: collects the batches that arrive while commits are under way into the next commit. */
import { Refusal } from '../../../refusal.ts';
import type { EventBatch, EventOutcome } from '../../store.ts';

/** Parallel commits, each on its own connection: while PostgreSQL syncs one, the others are written. */
export const mostUnderWay = 4;

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
 */
export const createWriteQueue = (
  keep: (batches: readonly EventBatch[]) => Promise<EventOutcome[][]>,
  measure: (events: number, seconds: number) => void = () => {},
) => {
  const queued: Queued[] = [];
  let underWay = 0;
  let scheduled = false;

  const take = (): Queued[] => {
    let events = 0;
    const end = queued.findIndex(({ batch }, nth) => {
      events += batch.events.length;
      return nth > 0 && events > mostEvents;
    });
    return queued.splice(0, end < 0 ? queued.length : end);
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
    while (queued.length > 0 && underWay < mostUnderWay) {
      underWay += 1;
      void commit(take()).finally(() => {
        underWay -= 1;
        flush();
      });
    }
  };

  return (batch: EventBatch): Promise<EventOutcome[]> =>
    new Promise((resolve, reject) => {
      queued.push({ batch, resolve, reject });
      if (scheduled) return;
      scheduled = true;
      // Waits for the other requests that are read in this turn of the event loop.
      setImmediate(flush);
    });
};
