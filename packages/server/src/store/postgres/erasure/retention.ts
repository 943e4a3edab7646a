/** Deletes the oldest events and refused requests of all accounts. */
import type { RequestOf, Store } from '../../store.ts';
import type { OldOfAccount } from './erasures.ts';

interface Parts {
  readonly listAccounts: () => Promise<readonly number[]>;
  /** Returns the accounts with requests that were refused before a time. */
  readonly listRefusedBefore: (time: number) => Promise<readonly number[]>;
  /** Deletes one account's oldest rows. Returns the numbers of deleted rows. */
  readonly deleteOf: (request: OldOfAccount) => Promise<{ readonly events: number; readonly refused: number }>;
}

/** Creates deleteEventsBefore. */
export const createRetention =
  ({ listAccounts, listRefusedBefore, deleteOf }: Parts): Store['deleteEventsBefore'] =>
  async ({ limit, ...before }: RequestOf<'deleteEventsBefore'>) => {
    const left = { events: limit, refused: limit };
    const [accounts, refused] = await Promise.all([listAccounts(), listRefusedBefore(before.time)]);
    const withRefused = new Set(refused);
    for (const account of accounts) {
      if (left.events === 0 && (left.refused === 0 || !withRefused.has(account))) continue;
      const limits = { maxEvents: left.events, maxRefused: left.refused };
      const deleted = await deleteOf({ ...before, ...limits, account });
      left.events -= deleted.events;
      left.refused -= deleted.refused;
    }
    return limit - Math.min(left.events, left.refused);
  };
