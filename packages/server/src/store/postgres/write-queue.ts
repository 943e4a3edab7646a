/** Group commit: what arrives while commits are under way goes together into the next one. */
import type { EventBatch, EventOutcome } from '../store.ts';

/** Commits under way, each on a connection of its own: while one is synced, the others are written. */
export const mostUnderWay = 4;

/** Events in one commit, about: those of the clients who wait for it are answered with the last. */
const mostEvents = 4_000;

interface Queued {
  readonly batch: EventBatch;
  readonly resolve: (outcomes: EventOutcome[]) => void;
  readonly reject: (error: unknown) => void;
}

/** `keep` keeps batches in one commit; one that fails for another reason than a full or absent database is tried alone. */
export const createWriteQueue = (
  keep: (batches: readonly EventBatch[]) => Promise<EventOutcome[][]>,
  isNotNow: (error: unknown) => boolean,
) => {
  let queued: Queued[] = [];
  let underWay = 0;
  let scheduled = false;

  const take = (): Queued[] => {
    let events = 0;
    const end = queued.findIndex(({ batch }, nth) => {
      events += batch.events.length;
      return nth > 0 && events > mostEvents;
    });
    const taken = end < 0 ? queued : queued.slice(0, end);
    queued = end < 0 ? [] : queued.slice(end);
    return taken;
  };

  const commit = async (taken: readonly Queued[]): Promise<void> => {
    try {
      const outcomes = await keep(taken.map(({ batch }) => batch));
      taken.forEach(({ resolve }, nth) => {
        resolve(outcomes[nth] as EventOutcome[]);
      });
    } catch (error) {
      // A fault stays with the batch that has it.
      if (taken.length > 1 && !isNotNow(error)) for (const each of taken) await commit([each]);
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
      // After the requests that this turn of the event loop has read.
      setImmediate(flush);
    });
};
