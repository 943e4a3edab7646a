/** A worker's writes on their way to the first process, each until it is answered. */
import type { Commit, CommitElsewhere, Parcel } from '../store/several.ts';
import type { ParcelFrame } from './channel.ts';

const nothing = new Uint8Array();

export const createCommits = (send: (frame: ParcelFrame) => void) => {
  const waiting = new Map<number, (outcomes: Parcel | undefined) => void>();
  let lastID = 0;
  const commit: CommitElsewhere = (parcel, { bytes, changesAccess }) => {
    lastID = (lastID + 1) % 2 ** 32;
    const id = lastID;
    send({ kind: changesAccess ? 'commit of access' : 'commit', id, bytes, payload: parcel });
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

interface Committing {
  readonly commit: Commit;
  /** Resolves when all workers have forgotten what they knew of tokens. */
  readonly forgetAccess: () => Promise<void>;
  readonly send: (frame: ParcelFrame) => void;
}

/** In the first process: what a worker wants to be kept, kept; and how that is answered. */
export const answerCommit = async (
  { kind, id, bytes, payload }: ParcelFrame,
  { commit, forgetAccess, send }: Committing,
): Promise<void> => {
  // A copy, which can be handed to the thread that writes.
  const outcomes = await commit(new Uint8Array(payload), bytes);
  // Whoever is told that a token is revoked can use it nowhere any more.
  if (kind === 'commit of access') await forgetAccess();
  send({ kind: outcomes ? 'outcomes' : 'not kept', id, bytes: 0, payload: outcomes ?? nothing });
};
