/** Group commit: collects writes that arrive during a commit into the next. */
import { createBackpressure } from '../../backpressure.ts';
import type { Call } from '../calls.ts';
import { fromPlain, type PlainOutcome } from '../threads/messages.ts';
import type { Carrier } from '../threads/thread.ts';

/**
 * The most commits in progress: one that syncs and one that is queued behind it, so that the writer thread never waits for the main
 * thread.
 */
const mostUnderWay = 2;

interface Queued {
  readonly call: Call;
  readonly bytes: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface WriteQueue {
  ask(call: Call): Promise<unknown>;
  /** Resolves when every call has its response. */
  drain(): Promise<void>;
}

export const createWriteQueue = (writer: Carrier, onCommit: () => void): WriteQueue => {
  let queued: Queued[] = [];
  const waiting = createBackpressure();
  let underWay = 0;
  let scheduled = false;

  /** Settles the calls of a commit. Returns whether any of them was carried out. */
  const settle = (batch: readonly Queued[], outcomes: readonly PlainOutcome[]): boolean => {
    let isKept = false;
    batch.forEach(({ resolve, reject }, index) => {
      try {
        resolve(fromPlain(outcomes[index] as PlainOutcome));
        isKept = true;
      } catch (error) {
        reject(error);
      }
    });
    return isKept;
  };

  /** Sends the calls of a commit and settles them. Returns whether any of them was carried out. */
  const send = async (batch: readonly Queued[]): Promise<boolean> => {
    try {
      return settle(batch, await writer.send(batch.map(({ call }) => call)));
    } catch (error) {
      // The calls are not sent again, because some of them may have been carried out.
      for (const { reject } of batch) reject(error);
      return false;
    }
  };

  const commit = async (batch: readonly Queued[]) => {
    underWay += 1;
    const isKept = await send(batch);
    underWay -= 1;
    if (isKept) onCommit();
    flush();
    for (const { bytes } of batch) waiting.leave(bytes);
  };

  const flush = () => {
    scheduled = false;
    if (queued.length === 0 || underWay >= mostUnderWay) return;
    const batch = queued;
    queued = [];
    void commit(batch);
  };

  return {
    ask: (call) =>
      new Promise((resolve, reject) => {
        const bytes = waiting.enter(call.request);
        queued.push({ call, bytes, resolve, reject });
        if (scheduled) return;
        scheduled = true;
        // Runs after the requests that this turn of the event loop has read.
        setImmediate(flush);
      }),
    drain: waiting.drain,
  };
};
