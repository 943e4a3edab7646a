/** A store that several processes share: the first of them writes, and the others hand it what they want kept. */
import type { Store } from './store.ts';

/** Writes that are handed from process to process. Only a driver looks into them. */
export type Parcel = Uint8Array<ArrayBuffer>;

/**
 * Carries out a parcel of writes; answers the parcel of what became of them. `bytes` is about what they hold in memory. Undefined:
 * too much waits already, and nothing of it was kept.
 */
export type Commit = (parcel: Parcel, bytes: number) => Promise<Parcel | undefined>;

/** As Commit, of a process that does not write. Where it changes what tokens may act for, all processes know before it is answered. */
export type CommitElsewhere = (
  parcel: Parcel,
  about: { readonly bytes: number; readonly changesAccess: boolean },
) => Promise<Parcel | undefined>;

export interface FirstStore {
  readonly store: Store;
  /** For the other processes. The parcel is not to be used any more. */
  readonly commit: Commit;
}

export interface AmongOptions {
  /** How many processes there are beside the one that writes. */
  readonly processes: number;
  /** Hands a parcel to the process that writes. */
  readonly commit: CommitElsewhere;
  /** Whether anybody here wants to hear of commits, whenever that changes. */
  readonly onHearing: (isHearing: boolean) => void;
  /** It can't be read any more: end the process. */
  readonly onFatal: (error: Error) => void;
}

export interface AmongStore {
  readonly store: Store;
  /** To be called when the process that writes has committed, for whomever. */
  tellCommit(): void;
}
