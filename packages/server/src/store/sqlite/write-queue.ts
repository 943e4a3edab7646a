/** Group commit: what arrives while a commit is under way goes together into the next one. */
import { createWaiting, mostWaitingBytes } from '../waiting.ts';
import type { Call } from './calls.ts';
import { fromPlain, type PlainOutcome } from './messages.ts';
import type { Carrier } from './thread.ts';

/** Commits under way: one that syncs, and one that is ready when it has, so that the thread never waits for this one. */
export const mostUnderWay = 2;

interface Queued {
  readonly call: Call;
  readonly bytes: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export interface WriteQueue {
  ask(call: Call): Promise<unknown>;
  /** Resolves when all that was asked is answered. */
  drain(): Promise<void>;
}

/** How what was asked goes to the writer. */
interface Posting {
  /** Of what waits while commits are under way; when there is more, it goes all the same. */
  readonly mostHeldBackBytes?: number;
  /** Of calls that go together, unless one alone is larger. */
  readonly mostBytesTogether?: number;
}

export const createWriteQueue = (
  writer: Carrier,
  onCommit: () => void,
  { mostHeldBackBytes = mostWaitingBytes, mostBytesTogether = mostWaitingBytes }: Posting = {},
): WriteQueue => {
  let queued: Queued[] = [];
  const waiting = createWaiting();
  let queuedBytes = 0;
  let underWay = 0;
  let scheduled = false;

  /** Answers the calls of a commit; whether any of them was carried out. */
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

  const commit = async (batch: readonly Queued[]) => {
    underWay += 1;
    const batchBytes = batch.reduce((sum, { bytes }) => sum + bytes, 0);
    queuedBytes -= batchBytes;
    const outcomes = await writer.send(
      batch.map(({ call }) => call),
      batchBytes,
    );
    underWay -= 1;
    if (settle(batch, outcomes)) onCommit();
    flush();
    for (const { bytes } of batch) waiting.leave(bytes);
  };

  /** What goes together of what is queued. */
  const takeBatch = (): readonly Queued[] => {
    if (queuedBytes > mostBytesTogether) {
      let bytes = 0;
      const end = queued.findIndex((next, index) => {
        bytes += next.bytes;
        return index > 0 && bytes > mostBytesTogether;
      });
      if (end > 0) return queued.splice(0, end);
    }
    const all = queued;
    queued = [];
    return all;
  };

  const flush = () => {
    scheduled = false;
    while (queued.length > 0 && (underWay < mostUnderWay || queuedBytes > mostHeldBackBytes)) void commit(takeBatch());
  };

  return {
    ask: (call) =>
      new Promise((resolve, reject) => {
        const bytes = waiting.enter(call.request);
        queuedBytes += bytes;
        queued.push({ call, bytes, resolve, reject });
        if (scheduled) return;
        scheduled = true;
        // After the requests that this turn of the event loop has read.
        setImmediate(flush);
      }),
    drain: waiting.drain,
  };
};
