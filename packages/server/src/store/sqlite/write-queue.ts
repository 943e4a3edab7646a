/** Group commit: what arrives while a commit is under way goes together into the next one. */
import { Refusal } from '../../refusal.ts';
import type { EventBatch } from '../store.ts';
import type { Call } from './engine.ts';
import type { Thread } from './thread.ts';

/** What may wait for a commit, about. Beyond it the answer is 503, so that memory stays bounded on the slowest disk. */
export const mostWaitingBytes = 32 * 1024 * 1024;

/** Commits under way: one that syncs, and one that is ready when it has, so that the thread never waits for this one. */
const mostUnderWay = 2;

interface Queued {
  readonly call: Call;
  readonly bytes: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** About what a call holds in memory while it waits. */
const bytesOf = ({ name, request }: Call): number => {
  if (name !== 'logEvents') return 2_048;
  let bytes = 256;
  for (const { attributes } of (request as EventBatch).events) {
    bytes += 256;
    for (const [id, value] of attributes) bytes += 64 + 2 * (id.length + value.length);
  }
  return bytes;
};

export interface WriteQueue {
  ask(call: Call): Promise<unknown>;
  /** Resolves when all that was asked is answered. */
  drain(): Promise<void>;
}

export const createWriteQueue = (thread: Thread, onCommit: () => void): WriteQueue => {
  let queued: Queued[] = [];
  let waitingBytes = 0;
  let underWay = 0;
  let scheduled = false;
  let draining: (() => void)[] = [];

  const commit = async (batch: readonly Queued[]) => {
    underWay += 1;
    const settled = await Promise.allSettled(thread.send(batch.map(({ call }) => call)));
    underWay -= 1;
    settled.forEach((outcome, index) => {
      const { bytes, resolve, reject } = batch[index] as Queued;
      waitingBytes -= bytes;
      if (outcome.status === 'fulfilled') resolve(outcome.value);
      else reject(outcome.reason);
    });
    if (settled.some(({ status }) => status === 'fulfilled')) onCommit();
    flush();
    if (waitingBytes > 0) return;
    for (const resolve of draining) resolve();
    draining = [];
  };

  const flush = () => {
    scheduled = false;
    if (queued.length === 0 || underWay >= mostUnderWay) return;
    const batch = queued;
    queued = [];
    void commit(batch);
  };

  return {
    ask(call) {
      const bytes = bytesOf(call);
      if (waitingBytes + bytes > mostWaitingBytes)
        return Promise.reject(new Refusal('not_kept', { retryAfterSeconds: 1 }));
      waitingBytes += bytes;
      return new Promise((resolve, reject) => {
        queued.push({ call, bytes, resolve, reject });
        if (scheduled) return;
        scheduled = true;
        // After the requests that this turn of the event loop has read.
        setImmediate(flush);
      });
    },
    drain: () => (waitingBytes === 0 ? Promise.resolve() : new Promise((resolve) => draining.push(resolve))),
  };
};
