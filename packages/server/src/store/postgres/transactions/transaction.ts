/** The only place where operations of the store begin and commit transactions. */
import { Refusal } from '../../../shared/refusal.ts';
import { type DayUnderWay, hasDayToBegin } from '../../rules/received-day.ts';
import {
  type AccountConnection,
  type ConnectionPool,
  codeOf,
  inOrderLocally,
  isConflict,
  isLate,
  isNotNow,
  setLocally,
  type TakenConnection,
} from '../database/connection.ts';
import { beginDay, DaysMissing } from '../days/days.ts';
import { forgetDays, maxDays, prepareDay } from '../days/partitions.ts';
import {
  type AccountState,
  type AccountStates,
  type Beginning,
  beginWriting,
  readSettled,
  type Settled,
  waitForSettled,
  waitForWriters,
} from './sequencer.ts';

/** A transaction that writes rows of one account; `of` returns the same one for another of its accounts, if it has several. */
export interface Transaction extends AccountConnection, Pick<TakenConnection, 'slot' | 'isSpread' | 'script'> {
  readonly currentDay: DayUnderWay;
  /** The account's state when this transaction began. */
  readonly begun: AccountState;
  of(account: number): Transaction;
  /**
   * Returns the day of something received at a time. When it is not the account's current day, this throws: the transaction is
   * rolled back, the day begins, and the work runs again.
   */
  dayOf(receivedTime: number): number;
  /** Ends this attempt unless no other transaction writes rows of the account; the work then runs again, alone. */
  requireAlone(): void;
  /** Calls `remember` after the commit, to update what is held in memory. */
  whenCommitted(remember: () => void): void;
  /** Runs the work in a savepoint. When it throws a Refusal, only what the work has written is rolled back. Rethrows. */
  attempt<Value>(work: () => Promise<Value>): Promise<Value>;
}

/** Reads of an account in a transaction with one snapshot. */
export interface Snapshot extends AccountConnection {
  /** The snapshot holds all rows with numbers up to this one: sequences, contacts, refused requests or changes of owners, as `moments` says. */
  readonly settled: Promise<Settled['settled']>;
}

class OtherDay extends Error {
  readonly accounts: readonly number[];
  readonly receivedTime: number;

  constructor(accounts: readonly number[], receivedTime: number) {
    super('a day begins');
    this.accounts = accounts;
    this.receivedTime = receivedTime;
  }
}

class NotAlone extends Error {}

/** The state of an account that is not there any more. */
const gone: Omit<AccountState, 'account'> = {
  day: -1,
  clockDay: -1,
  version: -1,
  strict: false,
  browserCatalogue: false,
  nextEventID: 1,
};

/** How often a transaction that conflicts with another is tried, and how often one that has a day to begin. */
const maxTries = 10;

/** How long it waits for the lock of each of several accounts that have a day to begin, before each begins it by itself. */
const patienceOfSeveral = 200;
/** After this many of them are late, it waits for no more. */
const maxLate = 2;

const unavailable = (cause: unknown): Refusal =>
  new Refusal('unavailable', { retryAfterSeconds: codeOf(cause).startsWith('53') ? 5 : 1, cause });

/** Ends a read transaction without waiting: the result of its commit does not matter. */
const endBehind = (db: TakenConnection): void => {
  db.commit().then(
    () => db.release(false),
    () => db.release(true),
  );
};

/**
 * Takes a connection, runs the work, and returns the connection with `end`. When the work throws, rolls back and returns the
 * connection, or closes it when that fails. Throws Refusal('unavailable') when the database is unavailable; rethrows conflicts.
 */
export const withConnection = async <Value>(
  pool: ConnectionPool,
  work: (db: TakenConnection) => Promise<Value>,
  end = (db: TakenConnection): void => db.release(false),
): Promise<Value> => {
  let db: TakenConnection;
  try {
    db = await pool.take();
  } catch (error) {
    throw isNotNow(error) ? unavailable(error) : error;
  }
  try {
    const value = await work(db);
    end(db);
    return value;
  } catch (error) {
    // A connection that can still roll back is usable. After a commit without a response its state is unknown: it is closed.
    await db.rollBack().then(
      () => db.release(false),
      () => db.release(true),
    );
    const cause = db.causeOf(error);
    throw isNotNow(cause) && !isConflict(cause) ? unavailable(cause) : cause;
  }
};

interface Options extends Pick<Beginning, 'patienceMilliseconds'> {
  /** Receives how long the statement COMMIT took, in seconds. */
  readonly onCommit?: (seconds: number) => void;
}

type Mode = Beginning['mode'];
/** The number of an account, or of several. */
type Accounts = number | readonly number[];
const listOf = (accounts: Accounts): readonly number[] => (typeof accounts === 'number' ? [accounts] : accounts);

const createTransaction = (
  db: TakenConnection,
  mode: Mode,
  states: AccountStates,
  remembering: (() => void)[],
): ((account: number) => Transaction) => {
  const shared = {
    ...db,
    requireAlone() {
      if (mode !== 'alone') throw new NotAlone('this must run alone');
    },
    whenCommitted: (remember: () => void) => void remembering.push(remember),
    async attempt<Value>(attempted: () => Promise<Value>) {
      await db.script('SAVEPOINT attempt');
      try {
        const done = await attempted();
        await db.script('RELEASE attempt');
        return done;
      } catch (error) {
        if (error instanceof Refusal) await db.script('ROLLBACK TO attempt');
        throw error;
      }
    },
  };
  const made = new Map<number, Transaction>();
  const of = (account: number): Transaction => {
    const found = made.get(account);
    if (found) return found;
    const begun = states.get(account) ?? { ...gone, account };
    const transaction: Transaction = {
      ...shared,
      account,
      currentDay: begun,
      begun,
      of,
      dayOf(receivedTime) {
        if (!hasDayToBegin(begun, receivedTime)) return begun.day;
        // For all at once: at midnight each has one to begin. An account that is gone has no state.
        const others = [...states.values()].filter((state) => hasDayToBegin(state, receivedTime));
        throw new OtherDay(states.has(account) ? others.map((other) => other.account) : [account], receivedTime);
      },
    };
    made.set(account, transaction);
    return transaction;
  };
  return of;
};

const carryOut = async <Value>(
  db: TakenConnection,
  mode: Mode,
  accounts: readonly number[],
  work: (transaction: Transaction) => Promise<Value>,
  { patienceMilliseconds, onCommit }: Options,
): Promise<Value> => {
  const states = await beginWriting(db, { mode, patienceMilliseconds }, accounts);
  const remembering: (() => void)[] = [];
  const value = await work(createTransaction(db, mode, states, remembering)(accounts[0] as number));
  const began = performance.now();
  await db.commit();
  onCommit?.((performance.now() - began) / 1_000);
  for (const remember of remembering) remember();
  return value;
};

/** When one of several accounts is held for long, begins the day of the others, and is refused as late: its own work can be done by itself. */
const beginDays = async (
  pool: ConnectionPool,
  { accounts, receivedTime }: OtherDay,
  { patienceMilliseconds }: Options,
): Promise<void> => {
  const begin = (some: readonly number[], patience: number | undefined) =>
    write(pool, 'alone', some, (db) => beginDay(some.map(db.of), receivedTime), {
      patienceMilliseconds: patience,
    });
  if (accounts.length === 1) return begin(accounts, patienceMilliseconds);
  try {
    await begin(accounts, patienceOfSeveral);
  } catch (error) {
    if (!isLate(error)) throw error;
    // While it waits for one that is held, it holds no other.
    const late: unknown[] = [];
    for (const account of accounts) {
      await begin([account], patienceOfSeveral).catch((failure) => {
        if (!isLate(failure)) throw failure;
        late.push(failure);
      });
      if (late.length === maxLate) break;
    }
    if (late.length > 0) throw late[0];
  }
};

const prepareDays = async (pool: ConnectionPool, { days, receivedTime }: DaysMissing): Promise<void> => {
  let kept = 0;
  for (const day of days) kept = await withConnection(pool, (db) => prepareDay(db, day));
  // What fails is tried again on the next day.
  if (kept > maxDays) await withConnection(pool, (db) => forgetDays(db, receivedTime)).catch(() => {});
};

/**
 * Runs the work in one transaction, beside others or while no other writes rows of its accounts; it is committed and synced when the
 * promise resolves. The work gets the transaction of the first account, and may run several times: after a conflict with another
 * transaction, and when a day begins.
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
      return await withConnection(pool, (db) => carryOut(db, mode, list, work, options));
    } catch (error) {
      if (error instanceof NotAlone) return write(pool, 'alone', accounts, work, options);
      if (error instanceof DaysMissing || error instanceof OtherDay) {
        dayTries += 1;
        if (dayTries > maxTries) throw new Error('a day does not begin', { cause: error });
      }
      if (error instanceof DaysMissing) await prepareDays(pool, error);
      else if (error instanceof OtherDay) await beginDays(pool, error, options);
      else {
        if (!isConflict(error)) throw error;
        conflicts += 1;
        if (conflicts === maxTries) throw unavailable(error);
      }
    }
  }
};

/** The kinds of moments to read at; each returns the number up to which all rows are settled (sequencer.ts). */
const moments = {
  now: async () => 0,
  settled: async (db: TakenConnection, account: number) => (await readSettled(db, account)).settled,
  'all settled': waitForSettled,
  'all contacts settled': (db: TakenConnection, account: number) => waitForWriters(db, account, 'contact_number'),
  'all refused settled': (db: TakenConnection, account: number) => waitForWriters(db, account, 'refused_number'),
  'all owners settled': (db: TakenConnection, account: number) => waitForWriters(db, account, 'owner_change'),
};
export type Moment = keyof typeof moments;

/**
 * Runs reads of an account in one snapshot. With `all`, waits for a moment at which everything acknowledged before this call is settled.
 * `settings` are SQL statements that change settings for this transaction.
 */
export const readSnapshot = <Value>(
  pool: ConnectionPool,
  wanted: Moment,
  account: number,
  work: (db: Snapshot) => Promise<Value>,
  settings: readonly string[] = [],
): Promise<Value> =>
  withConnection(
    pool,
    async (db) => {
      const settled = moments[wanted](db, account);
      // Only a snapshot that is taken after all is settled shows all of it.
      if (wanted.startsWith('all ')) await settled;
      // PostgreSQL executes pipelined statements in the order in which they were sent.
      const begin = ['BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', ...(db.isSpread ? inOrderLocally : [])];
      const begun = setLocally(db, [...new Set([...begin, ...settings])]);
      const [value] = await Promise.all([work({ ...db, account, settled }), begun, settled]);
      return value;
    },
    endBehind,
  );

/** Runs reads of which each sees a moment of its own. */
export const readOnce = <Value>(
  pool: ConnectionPool,
  account: number,
  work: (db: AccountConnection) => Promise<Value>,
): Promise<Value> => withConnection(pool, (db) => work({ ...db, account }));
