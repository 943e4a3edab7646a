/** Group commit: collects writes that arrive during a commit into the next. */
import { createBackpressure } from '../../backpressure.ts';
import type { EventBatch } from '../../store.ts';
import type { Call } from '../calls.ts';
import type { StartedThread } from '../threads/thread.ts';
import type { Outcome } from './transaction.ts';

/**
 * The most commits in progress: one that syncs and one that is queued behind it, so that the writer thread never waits for the main
 * thread.
 */
const maxConcurrent = 2;

interface Queued {
  readonly call: Call;
  readonly bytes: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const eventsOf = ({ name, request }: Call): number =>
  name === 'logEvents' ? (request as EventBatch).events.length : 0;

/** `measureEvents` receives the number of events of each commit. */
export const createWriteQueue = (
  writer: Pick<StartedThread, 'send'>,
  onCommit: () => void,
  measureEvents: (events: number) => void = () => {},
) => {
  let queued: Queued[] = [];
  const waiting = createBackpressure();
  let underWay = 0;
  let scheduled = false;

  /** Sends the calls of a commit and settles them. Returns whether any of them was carried out. */
  const send = async (batch: readonly Queued[]): Promise<boolean> => {
    try {
      const outcomes = await writer.send(batch.map(({ call }) => call));
      batch.forEach(({ resolve, reject }, index) => {
        const outcome = outcomes[index] as Outcome;
        if ('error' in outcome) reject(outcome.error);
        else resolve(outcome.value);
      });
      return outcomes.some((outcome) => 'value' in outcome);
    } catch (error) {
      // The calls are not sent again, because some of them may have been carried out.
      for (const { reject } of batch) reject(error);
      return false;
    }
  };

  const commit = async (batch: readonly Queued[]) => {
    underWay += 1;
    measureEvents(batch.reduce((events, { call }) => events + eventsOf(call), 0));
    const isKept = await send(batch);
    underWay -= 1;
    if (isKept) onCommit();
    flush();
    for (const { bytes } of batch) waiting.leave(bytes);
  };

  const flush = () => {
    scheduled = false;
    if (queued.length === 0 || underWay >= maxConcurrent) return;
    const batch = queued;
    queued = [];
    void commit(batch);
  };

  return {
    ask: (call: Call): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const bytes = waiting.enter(call.request);
        queued.push({ call, bytes, resolve, reject });
        if (scheduled) return;
        scheduled = true;
        // Runs after the requests that this turn of the event loop has read.
        setImmediate(flush);
      }),
    /** Resolves when every call has its response. */
    drain: waiting.drain,
    measure: waiting.measure,
  };
};
