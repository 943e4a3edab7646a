/** The only place where store operations begin and commit transactions. */
import { Refusal } from '../../../shared/refusal.ts';
import { type CurrentDay, startsNewDay } from '../../rules/received-day.ts';
import {
  type AccountConnection,
  type ConnectionPool,
  codeOf,
  type HeldConnection,
  isConflict,
  isLockTimeout,
  isTransient,
  orderedScanSettings,
  setLocally,
} from '../database/connection.ts';
import { beginDay, DaysMissing } from '../days/days.ts';
import { dropOldDays, maxDays, prepareDay } from '../days/partitions.ts';
import {
  type AccountState,
  type AccountStates,
  type BeginOptions,
  beginWriting,
  readSettled,
  type Settled,
  waitForSettled,
  waitForWriters,
} from './sequencer.ts';

/** A transaction, bound to one account; `forAccount` returns it bound to another of its accounts. */
export interface Transaction extends AccountConnection, Pick<HeldConnection, 'slot' | 'isDistributed' | 'script'> {
  readonly currentDay: CurrentDay;
  /** The account's state when this transaction began. */
  readonly initialState: AccountState;
  forAccount(account: number): Transaction;
  /**
   * Returns the day of data received at this time. Throws if that is a new day. The transaction is then rolled back,
   * the day starts, and the work runs again.
   */
  dayOf(receivedTime: number): number;
  /** Throws unless the transaction is exclusive; the work then runs again in an exclusive transaction. */
  requireExclusive(): void;
  /** Calls `callback` after the commit, to update caches. */
  whenCommitted(callback: () => void): void;
  /** Runs the work in a savepoint. If it throws a Refusal, rolls back only the work. Rethrows. */
  attempt<Value>(work: () => Promise<Value>): Promise<Value>;
}

/** A read-only transaction with one snapshot, for one account. */
export interface Snapshot extends AccountConnection {
  /**
   * The snapshot contains all rows up to this number. The requested entry of `moments` determines what the number
   * counts.
   */
  readonly settled: Promise<Settled['settled']>;
}

class NewDay extends Error {
  readonly accounts: readonly number[];
  readonly receivedTime: number;

  constructor(accounts: readonly number[], receivedTime: number) {
    super('a new day starts');
    this.accounts = accounts;
    this.receivedTime = receivedTime;
  }
}

class NotExclusive extends Error {}

/** The state of a deleted account. */
const deletedAccount: Omit<AccountState, 'account'> = {
  day: -1,
  clockDay: -1,
  version: -1,
  strict: false,
  browserCatalogue: false,
  nextEventID: 1,
};

/** The maximum number of tries after conflicts, and after new days. */
const maxTries = 10;

/** The lock timeout, in milliseconds, when a day starts for several accounts, together or one by one. */
const groupLockTimeoutMilliseconds = 200;
/** Stops waiting after this many lock timeouts. */
const maxLockTimeouts = 2;

const unavailable = (cause: unknown): Refusal =>
  new Refusal('unavailable', { retryAfterSeconds: codeOf(cause).startsWith('53') ? 5 : 1, cause });

/** Ends a read transaction without waiting, because the result of its commit does not matter. */
const commitInBackground = (db: HeldConnection): void => {
  db.commit().then(
    () => db.release(false),
    () => db.release(true),
  );
};

/**
 * Runs work on a connection of the pool, which `end` returns. If the work throws, rolls back, or closes the connection
 * if that fails. Throws Refusal('unavailable') for transient errors, and rethrows conflicts.
 */
export const withConnection = async <Value>(
  pool: ConnectionPool,
  work: (db: HeldConnection) => Promise<Value>,
  end = (db: HeldConnection): void => db.release(false),
): Promise<Value> => {
  let db: HeldConnection;
  try {
    db = await pool.take();
  } catch (error) {
    throw isTransient(error) ? unavailable(error) : error;
  }
  try {
    const value = await work(db);
    end(db);
    return value;
  } catch (error) {
    // A connection that rolls back successfully is reused. A connection whose state is unknown, because a commit got no
    // response, is closed.
    await db.rollBack().then(
      () => db.release(false),
      () => db.release(true),
    );
    const cause = db.causeOf(error);
    throw isTransient(cause) && !isConflict(cause) ? unavailable(cause) : cause;
  }
};

interface Options extends Pick<BeginOptions, 'lockTimeoutMilliseconds'> {
  /** Receives the duration of COMMIT in seconds. */
  readonly onCommit?: (seconds: number) => void;
}

type Mode = BeginOptions['mode'];
/** The number of one account, or of several. */
type Accounts = number | readonly number[];
const listOf = (accounts: Accounts): readonly number[] => (typeof accounts === 'number' ? [accounts] : accounts);

const createTransaction = (
  db: HeldConnection,
  mode: Mode,
  states: AccountStates,
  callbacks: (() => void)[],
): ((account: number) => Transaction) => {
  const shared = {
    ...db,
    requireExclusive() {
      if (mode !== 'exclusive') throw new NotExclusive('the transaction must be exclusive');
    },
    whenCommitted: (callback: () => void) => void callbacks.push(callback),
    async attempt<Value>(attempted: () => Promise<Value>) {
      const callbackCount = callbacks.length;
      await db.script('SAVEPOINT attempt');
      try {
        const value = await attempted();
        await db.script('RELEASE attempt');
        return value;
      } catch (error) {
        // Releases the savepoint, so that an outer attempt rolls back to its own savepoint.
        if (error instanceof Refusal) await db.script('ROLLBACK TO attempt; RELEASE attempt');
        // Drops these callbacks, which would cache what is rolled back.
        callbacks.length = callbackCount;
        throw error;
      }
    },
  };
  const transactions = new Map<number, Transaction>();
  const forAccount = (account: number): Transaction => {
    const existing = transactions.get(account);
    if (existing) return existing;
    const initialState = states.get(account) ?? { ...deletedAccount, account };
    const transaction: Transaction = {
      ...shared,
      account,
      currentDay: initialState,
      initialState,
      forAccount,
      dayOf(receivedTime) {
        if (!startsNewDay(initialState, receivedTime)) return initialState.day;
        // Starts the day of all accounts together, because at midnight each of them has to. A deleted account has no
        // state.
        const others = [...states.values()].filter((state) => startsNewDay(state, receivedTime));
        throw new NewDay(states.has(account) ? others.map((other) => other.account) : [account], receivedTime);
      },
    };
    transactions.set(account, transaction);
    return transaction;
  };
  return forAccount;
};

const runTransaction = async <Value>(
  db: HeldConnection,
  mode: Mode,
  accounts: readonly number[],
  work: (transaction: Transaction) => Promise<Value>,
  { lockTimeoutMilliseconds, onCommit }: Options,
): Promise<Value> => {
  const states = await beginWriting(db, { mode, lockTimeoutMilliseconds }, accounts);
  const callbacks: (() => void)[] = [];
  const value = await work(createTransaction(db, mode, states, callbacks)(accounts[0] as number));
  const began = performance.now();
  await db.commit();
  onCommit?.((performance.now() - began) / 1_000);
  for (const callback of callbacks) callback();
  return value;
};

/**
 * Starts the current day for several accounts. If an account stays locked, starts the day for the others, then throws
 * the lock timeout error.
 */
const beginDays = async (
  pool: ConnectionPool,
  { accounts, receivedTime }: NewDay,
  { lockTimeoutMilliseconds }: Options,
): Promise<void> => {
  const begin = (some: readonly number[], timeoutMilliseconds: number | undefined) =>
    write(pool, 'exclusive', some, (db) => beginDay(some.map(db.forAccount), receivedTime), {
      lockTimeoutMilliseconds: timeoutMilliseconds,
    });
  if (accounts.length === 1) return begin(accounts, lockTimeoutMilliseconds);
  try {
    await begin(accounts, groupLockTimeoutMilliseconds);
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    // Starts the days one by one, so that no other account is held while this waits for a locked account.
    const late: unknown[] = [];
    for (const account of accounts) {
      await begin([account], groupLockTimeoutMilliseconds).catch((failure) => {
        if (!isLockTimeout(failure)) throw failure;
        late.push(failure);
      });
      if (late.length === maxLockTimeouts) break;
    }
    if (late.length > 0) throw late[0];
  }
};

const prepareDays = async (pool: ConnectionPool, { days, receivedTime }: DaysMissing): Promise<void> => {
  let count = 0;
  for (const day of days) count = await withConnection(pool, (db) => prepareDay(db, day));
  // Ignores a failure, because this is retried when the next day starts.
  if (count > maxDays) await withConnection(pool, (db) => dropOldDays(db, receivedTime)).catch(() => {});
};

/**
 * Runs work in one transaction, which is committed and synced when the promise resolves. The work gets the first
 * account's transaction, and may run several times: after conflicts, and on a new day.
 */
export const write = async <Value>(
  pool: ConnectionPool,
  mode: Mode,
  accounts: Accounts,
  work: (transaction: Transaction) => Promise<Value>,
  options: Options = {},
): Promise<Value> => {
  const list = listOf(accounts);
  let conflicts = 0;
  let dayTries = 0;
  for (;;) {
    try {
      return await withConnection(pool, (db) => runTransaction(db, mode, list, work, options));
    } catch (error) {
      if (error instanceof NotExclusive) return write(pool, 'exclusive', accounts, work, options);
      if (error instanceof DaysMissing || error instanceof NewDay) {
        dayTries += 1;
        if (dayTries > maxTries) throw new Error('a new day could not be started', { cause: error });
      }
      if (error instanceof DaysMissing) await prepareDays(pool, error);
      else if (error instanceof NewDay) await beginDays(pool, error, options);
      else {
        if (!isConflict(error)) throw error;
        conflicts += 1;
        if (conflicts === maxTries) throw unavailable(error);
      }
    }
  }
};

/**
 * The moments at which a snapshot can be taken. Each returns the number up to which all rows are settled
 * (sequencer.ts).
 */
const moments = {
  now: async () => 0,
  settled: async (db: HeldConnection, account: number) => (await readSettled(db, account)).settled,
  'all settled': waitForSettled,
  'all contacts settled': (db: HeldConnection, account: number) => waitForWriters(db, account, 'contact_number'),
  'all refused settled': (db: HeldConnection, account: number) => waitForWriters(db, account, 'refused_number'),
  'all owners settled': (db: HeldConnection, account: number) => waitForWriters(db, account, 'owner_change'),
};
export type Moment = keyof typeof moments;

/**
 * Runs an account's reads in one snapshot. With `all …`, first waits until everything acknowledged earlier is settled.
 * `settings` are SQL statements that change the transaction's settings.
 */
export const readSnapshot = <Value>(
  pool: ConnectionPool,
  moment: Moment,
  account: number,
  work: (db: Snapshot) => Promise<Value>,
  settings: readonly string[] = [],
): Promise<Value> =>
  withConnection(
    pool,
    async (db) => {
      const settled = moments[moment](db, account);
      // Waits, because only a snapshot that is taken after this contains everything.
      if (moment.startsWith('all ')) await settled;
      // Sends these without waiting, because PostgreSQL executes pipelined statements in order.
      const begin = [
        'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
        ...(db.isDistributed ? orderedScanSettings : []),
      ];
      const beginning = setLocally(db, [...new Set([...begin, ...settings])]);
      const [value] = await Promise.all([work({ ...db, account, settled }), beginning, settled]);
      return value;
    },
    commitInBackground,
  );

/** Runs reads without a common snapshot. */
export const readWithoutSnapshot = <Value>(
  pool: ConnectionPool,
  account: number,
  work: (db: AccountConnection) => Promise<Value>,
): Promise<Value> => withConnection(pool, (db) => work({ ...db, account }));
