/** Deletes the oldest events and refused requests of all accounts. On a cluster, a worker that is away stops its own accounts only. */
import { Refusal } from '../../../shared/refusal.ts';
import type { RequestOf, Store } from '../../store.ts';
import { byMachine, coordinator, type MachineOf } from '../database/machines.ts';
import type { OldOfAccount } from './erasures.ts';

interface Parts {
  /** On a cluster: returns the machine of an account. */
  readonly machineOf?: MachineOf | undefined;
  readonly listAccounts: () => Promise<readonly number[]>;
  /** Returns those of these accounts, all of one machine, that have requests that were refused before a time. */
  readonly listRefusedBefore: (accounts: readonly [number, ...number[]], time: number) => Promise<readonly number[]>;
  /** Deletes the oldest of one account. Returns how many. */
  readonly deleteOf: (request: OldOfAccount) => Promise<{ readonly events: number; readonly refused: number }>;
}

/** Returns deleteEventsBefore. Throws the failure of a machine that is away once the others have nothing left. */
export const createRetention = ({
  machineOf = async () => coordinator,
  listAccounts,
  listRefusedBefore,
  deleteOf,
}: Parts): Store['deleteEventsBefore'] => {
  /** The machines that were away, each with its failure. They are not asked again until all others are done: one that hangs takes 30 s. */
  const away = new Map<number, unknown>();
  const unlessAway = async (machine: number, work: () => Promise<void>): Promise<void> => {
    if (away.has(machine)) return;
    await work().catch((error: unknown) => {
      if (!(error instanceof Refusal && error.code === 'not_kept')) throw error;
      away.set(machine, error);
    });
  };

  const deleteOld = async ({ most, ...before }: RequestOf<'deleteEventsBefore'>): Promise<number> => {
    const left = { events: most, refused: most };
    const accounts = await listAccounts();
    const withRefused = new Set<number>();
    for (const [machine, group] of await byMachine(accounts, machineOf)) {
      await unlessAway(machine, async () => {
        for (const account of await listRefusedBefore(group, before.time)) withRefused.add(account);
      });
    }
    // In the order of accounts, as on one PostgreSQL and on SQLite.
    for (const account of accounts) {
      if (left.events === 0 && (left.refused === 0 || !withRefused.has(account))) continue;
      await unlessAway(await machineOf(account), async () => {
        const limits = { mostEvents: left.events, mostRefused: left.refused };
        const deleted = await deleteOf({ ...before, ...limits, account });
        left.events -= deleted.events;
        left.refused -= deleted.refused;
      });
    }
    const deleted = most - Math.min(left.events, left.refused);
    const [failure] = away.values();
    if (failure !== undefined && deleted < most) throw failure;
    return deleted;
  };

  return (request) =>
    deleteOld(request).catch((error: unknown) => {
      away.clear();
      throw error;
    });
};
