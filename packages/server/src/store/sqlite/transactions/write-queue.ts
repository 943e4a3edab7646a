/** Group commit: batches writes that arrive during a commit into the next one. */
import { createBackpressure } from '../../backpressure.ts';
import type { EventBatch } from '../../store.ts';
import type { Call } from '../calls.ts';
import type { StartedThread } from '../threads/thread.ts';
import type { Outcome } from './transaction.ts';

/** One commit that is syncing and one queued behind it, so that the writer thread never waits for the main thread. */
const maxConcurrentCommits = 2;

interface QueuedCall {
  readonly call: Call;
  readonly bytes: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const eventsOf = ({ name, request }: Call): number =>
  name === 'logEvents' ? (request as EventBatch).events.length : 0;

/** `measureEvents` receives the number of events in each commit. */
export const createWriteQueue = (
  writer: Pick<StartedThread, 'send'>,
  onCommit: () => void,
  measureEvents: (events: number) => void = () => {},
) => {
  let queued: QueuedCall[] = [];
  const waiting = createBackpressure();
  let inFlight = 0;
  let scheduled = false;

  /** Sends a commit's calls and settles them. Returns whether any of them succeeded. */
  const send = async (batch: readonly QueuedCall[]): Promise<boolean> => {
    try {
      const outcomes = await writer.send(batch.map(({ call }) => call));
      batch.forEach(({ resolve, reject }, index) => {
        const outcome = outcomes[index] as Outcome;
        if ('error' in outcome) reject(outcome.error);
        else resolve(outcome.value);
      });
      return outcomes.some((outcome) => 'value' in outcome);
    } catch (error) {
      // Does not send the calls again, because some of them may have been executed.
      for (const { reject } of batch) reject(error);
      return false;
    }
  };

  const commit = async (batch: readonly QueuedCall[]) => {
    inFlight += 1;
    measureEvents(batch.reduce((events, { call }) => events + eventsOf(call), 0));
    const hasCommitted = await send(batch);
    inFlight -= 1;
    if (hasCommitted) onCommit();
    flush();
    for (const { bytes } of batch) waiting.leave(bytes);
  };

  const flush = () => {
    scheduled = false;
    if (queued.length === 0 || inFlight >= maxConcurrentCommits) return;
    const batch = queued;
    queued = [];
    void commit(batch);
  };

  return {
    enqueue: (call: Call): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const bytes = waiting.enter(call.request);
        queued.push({ call, bytes, resolve, reject });
        if (scheduled) return;
        scheduled = true;
        // Flushes after all requests that arrived in this event-loop turn.
        setImmediate(flush);
      }),
    /** Resolves when all calls are settled. */
    drain: waiting.drain,
    measure: waiting.measure,
  };
};
