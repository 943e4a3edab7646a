/** The accounts that the process has open, and a request queue for each. */
import type { DuckDBInstance } from '@duckdb/node-api';
import type { AccountState, EngineSettings } from '../messages.ts';
import { type Account, openAccount } from './account.ts';

/**
 * The number of open accounts beyond which the least recently opened accounts are closed if they have been unused for
 * `unusedMilliseconds`.
 */
const maxOpen = 4;
const unusedMilliseconds = 30_000;

/** Thrown for a request about an account that is not open. */
export class NotOpen extends Error {}

/** `open` and `discard` must be called within `inTurn`. */
export const createOpenAccounts = (instance: DuckDBInstance, settings: EngineSettings) => {
  /** The open accounts, least recently opened first. */
  const accounts = new Map<number, Account>();
  const lastUsed = new Map<number, number>();
  /** The most recent request for each account, which later requests wait for. */
  const queues = new Map<number, Promise<unknown>>();

  const close = async (account: number): Promise<void> => {
    const closing = accounts.get(account);
    accounts.delete(account);
    lastUsed.delete(account);
    await closing?.close();
  };
  /**
   * Executes an account's requests one at a time. Closes the account after a fault, so that the next request reopens it
   * from its files.
   */
  const inTurn = <Value>(account: number, work: () => Promise<Value>): Promise<Value> => {
    const before = queues.get(account) ?? Promise.resolve();
    const result = before.then(work).catch(async (error) => {
      await close(account).catch(() => {});
      throw error;
    });
    const done = result.catch(() => {});
    queues.set(account, done);
    done.then(() => queues.get(account) === done && queues.delete(account));
    return result;
  };
  const discard = async (account: number): Promise<void> => {
    const files = accounts.get(account);
    await close(account);
    await files?.deleteFiles();
  };
  const saveAndClose = async (account: number): Promise<void> => {
    await accounts.get(account)?.save();
    await close(account);
  };
  const closeUnused = (): void => {
    const unused = [...accounts.keys()].slice(0, Math.max(0, accounts.size - maxOpen));
    for (const account of unused) {
      if (Date.now() - (lastUsed.get(account) ?? 0) > unusedMilliseconds)
        inTurn(account, () => saveAndClose(account)).catch(() => {});
    }
  };

  return {
    inTurn,
    discard,
    /** Returns an open account. Throws NotOpen. */
    get(account: number): Account {
      const open = accounts.get(account);
      if (!open) throw new NotOpen();
      lastUsed.set(account, Date.now());
      return open;
    },
    /** Whether an account is open and its files might contain erased events. */
    isPurgeDue: (account: number): boolean => accounts.get(account)?.isPurgeDue() === true,
    numbers: () => [...accounts.keys()],
    async open(account: number): Promise<AccountState> {
      const current = accounts.get(account);
      if (current && !(await current.areFilesWhole())) await discard(account);
      const open = accounts.get(account);
      const result = open ?? (await openAccount(instance, account, settings));
      accounts.delete(account);
      accounts.set(account, result);
      lastUsed.set(account, Date.now());
      closeUnused();
      return { ...result.progress, last: open ? null : await result.readLast() };
    },
    /** Resolves when all reports that are now running have finished reading. */
    readersDone: () => Promise.allSettled([...accounts.values()].map((each) => each.readers.done())),
  };
};
