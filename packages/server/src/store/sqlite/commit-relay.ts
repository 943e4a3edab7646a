/** Group commit over processes: the parcels that come while a commit is under way go together into the next one. */
import type { Commit, Parcel } from '../several.ts';
import { mostWaitingBytes } from '../waiting.ts';
import type { Thread } from './thread.ts';
import { mostUnderWay } from './write-queue.ts';

interface Waiting {
  readonly parcel: Parcel;
  readonly bytes: number;
  readonly resolve: (outcomes: Parcel | undefined) => void;
}

export interface CommitRelay {
  /** Undefined also when the thread has ended. */
  readonly commit: Commit;
  /** Resolves when all that was asked is answered. */
  drain(): Promise<void>;
}

/** Hands parcels to the thread that writes. What may wait of all processes together is bounded as it is of one. */
export const createCommitRelay = (thread: Pick<Thread, 'sendParcels'>, onCommit: () => void): CommitRelay => {
  let queued: Waiting[] = [];
  let waitingBytes = 0;
  let underWay = 0;
  let scheduled = false;
  let draining: (() => void)[] = [];

  const send = async (batch: readonly Waiting[]) => {
    underWay += 1;
    const outcomes = await thread.sendParcels(batch.map(({ parcel }) => parcel));
    underWay -= 1;
    for (const { bytes } of batch) waitingBytes -= bytes;
    // Whoever is told of the commit hears of it no later than whoever asked for it.
    if (outcomes !== undefined) onCommit();
    batch.forEach(({ resolve }, index) => {
      resolve(outcomes?.[index]);
    });
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
    void send(batch);
  };

  return {
    commit(parcel, bytes) {
      if (waitingBytes + bytes > mostWaitingBytes) return Promise.resolve(undefined);
      waitingBytes += bytes;
      return new Promise((resolve) => {
        queued.push({ parcel, bytes, resolve });
        if (scheduled) return;
        scheduled = true;
        // After what this turn of the event loop has brought from other processes.
        setImmediate(flush);
      });
    },
    drain: () => (waitingBytes === 0 ? Promise.resolve() : new Promise((resolve) => draining.push(resolve))),
  };
};
