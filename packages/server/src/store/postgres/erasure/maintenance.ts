/** Work that is not urgent: deleting the events of erased contacts, indexing contacts. Any server does it, one at a time. */
import { setTimeout as wait } from 'node:timers/promises';
import { type Connection, lockKeys } from '../database/connection.ts';
import { byMachine, type MachineOf } from '../database/machines.ts';
import type { Transaction } from '../transactions/transaction.ts';

/** The pause between checks for work. */
const pauseMilliseconds = 1_000;

/** How many checks in a row are left out while nothing is written. The next is made, because a server that has ended may have left work. */
const mostLeftOut = 9;

/** The most accounts whose work is looked for at once. */
const mostAccounts = 100;

/** Returns accounts with such work. */
const findWork = async (db: Connection): Promise<number[]> =>
  (
    await db.all<{ account: number }>(`
      (SELECT DISTINCT account FROM erasure WHERE NOT complete LIMIT ${mostAccounts})
      UNION (SELECT DISTINCT account FROM contact_changed LIMIT ${mostAccounts})`)
  ).map(({ account }) => account);

/** Returns those of these accounts, of one machine of a cluster, that have such work. Asks only their shards. */
const findWorkOf = async (db: Connection, accounts: readonly number[]): Promise<number[]> => {
  const [erased, changed] = await Promise.all(
    ['erasure WHERE NOT complete AND', 'contact_changed WHERE'].map((rows) =>
      db.all<{ account: number }>(`SELECT DISTINCT account FROM ${rows} account = ANY ($1::integer[])`, [accounts]),
    ),
  );
  return [...new Set([...(erased ?? []), ...(changed ?? [])].map(({ account }) => account))];
};

type Ask = <Value>(account: number, work: (db: Connection) => Promise<Value>) => Promise<Value>;

/** How long a machine is waited for; the others' work goes on then. */
const mostMilliseconds = 2_000;

/**
 * Finds accounts with work. On a cluster, where a query about all accounts asks every shard, most queries are about the accounts for which
 * this server may have left work, machine by machine: other servers look for theirs, and each `mostLeftOut + 1`th query finds what one that has
 * ended has left. A machine that takes long is not asked again before it has answered.
 */
export const createWorkFinder = (ask: Ask, machineOf?: MachineOf, patience = mostMilliseconds) => {
  let noted = new Set<number>();
  let sinceAll = mostLeftOut;
  const underWay = new Set<number>();

  const note = (accounts: readonly number[]): void => {
    for (const account of accounts) noted.add(account);
  };
  /** Accounts that are found, or all of these after a failure, are asked about again in the next check. */
  const askAbout = async (accounts: readonly number[], answer: () => Promise<readonly number[]>) => {
    try {
      const found = await answer();
      note(found);
      return found;
    } catch (error) {
      note(accounts);
      throw error;
    }
  };
  const askMachines = async (accounts: readonly number[], of: MachineOf): Promise<number[]> => {
    const groups = await byMachine(accounts, of).catch((error: unknown) => {
      note(accounts);
      throw error;
    });
    const answers = [...groups].map(async ([machine, group]): Promise<readonly number[]> => {
      if (underWay.has(machine)) {
        note(group);
        return [];
      }
      underWay.add(machine);
      const answer = askAbout(group, () => ask(group[0], (db) => findWorkOf(db, group))).finally(() =>
        underWay.delete(machine),
      );
      const nothing = wait(patience, [], { ref: false });
      return Promise.race([answer, nothing]);
    });
    return (await Promise.allSettled(answers)).flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  };

  return {
    noteAccount: (account: number): void => void noted.add(account),
    async find(): Promise<readonly number[]> {
      const accounts = [...noted];
      noted = new Set();
      sinceAll += 1;
      if (machineOf && sinceAll <= mostLeftOut) return askMachines(accounts, machineOf);
      sinceAll = 0;
      return askAbout(accounts, () => ask(0, findWork));
    },
  };
};

interface Parts {
  readonly find: () => Promise<readonly number[]>;
  /** Runs a step for an account in its own transaction. */
  readonly inTransaction: (account: number, step: (db: Transaction) => Promise<boolean>) => Promise<boolean>;
  /** Returns whether more is to be done for the account. */
  readonly step: (db: Transaction) => Promise<boolean>;
}

export const startMaintenance = ({ find, inTransaction, step }: Parts) => {
  let stopping = false;
  let woken = false;
  /** Whether something was written since a check that found nothing. */
  let mayHaveWork = true;
  let resting = new AbortController();

  const stepAlone = async (db: Transaction) => {
    const { mine } = await db.one<{ mine: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${lockKeys.maintenance} + $1) AS mine`,
      [db.account],
    );
    return mine && step(db);
  };

  /** A step for each account that has work. Returns whether there is more. */
  const stepEach = async (): Promise<boolean> => {
    mayHaveWork = false;
    const accounts = await find();
    mayHaveWork ||= accounts.length > 0;
    let more = false;
    for (const account of accounts) {
      if (stopping) break;
      // A step that fails is tried again after the pause.
      more = (await inTransaction(account, stepAlone).catch(() => false)) || more;
    }
    return more;
  };

  const run = async () => {
    for (let leftOut = 0; !stopping; ) {
      if (mayHaveWork || leftOut === mostLeftOut) {
        leftOut = 0;
        woken = false;
        const more = await stepEach().catch(() => {
          mayHaveWork = true;
          return false;
        });
        if (more || woken || stopping) continue;
      } else leftOut += 1;
      resting = new AbortController();
      await wait(pauseMilliseconds, undefined, { signal: resting.signal }).catch(() => {});
    }
  };
  const running = run();

  return {
    /** Makes the next check, because something was written. */
    noteWrite(): void {
      mayHaveWork = true;
    },
    /** Ends the present pause, or skips that after the present step, because there is work. */
    wake(): void {
      mayHaveWork = true;
      woken = true;
      resting.abort();
    },
    async close(): Promise<void> {
      stopping = true;
      resting.abort();
      await running;
    },
  };
};
