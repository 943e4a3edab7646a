/** A worker's writes on their way to the first process, each until it is answered. */
import type { Commit, Parcel } from '../store/several.ts';
import type { ParcelFrame } from './channel.ts';

const nothing = new Uint8Array();

export const createCommits = (send: (frame: ParcelFrame) => void) => {
  const waiting = new Map<number, (outcomes: Parcel | undefined) => void>();
  let lastID = 0;
  const commit: Commit = (parcel, bytes) => {
    lastID = (lastID + 1) % 2 ** 32;
    const id = lastID;
    send({ kind: 'commit', id, bytes, payload: parcel });
    return new Promise((resolve) => waiting.set(id, resolve));
  };
  return {
    commit,
    answered({ kind, id, payload }: ParcelFrame): void {
      const resolve = waiting.get(id);
      waiting.delete(id);
      resolve?.(kind === 'outcomes' ? new Uint8Array(payload) : undefined);
    },
  };
};

/** In the first process: what a worker wants to be kept, kept; and how that is answered. */
export const answerCommit = async (
  { id, bytes, payload }: ParcelFrame,
  commit: Commit,
  send: (frame: ParcelFrame) => void,
): Promise<void> => {
  // A copy, which can be handed to the thread that writes.
  const outcomes = await commit(new Uint8Array(payload), bytes);
  send({ kind: outcomes ? 'outcomes' : 'not kept', id, bytes: 0, payload: outcomes ?? nothing });
};
