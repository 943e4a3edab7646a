/** The only place where operations of the store begin and commit transactions. */
import { Refusal } from '../../../shared/refusal.ts';
import { type DayUnderWay, hasDayToBegin } from '../../rules/received-day.ts';
import {
  type AccountConnection,
  type Connection,
  type ConnectionPool,
  codeOf,
  inOrderLocally,
  isConflict,
  isLate,
  isNotNow,
  setLocally,
  type TakenConnection,
} from '../database/connection.ts';
import { NeedsSnapshot, readAtOnce, readTogether } from '../database/read-together.ts';
import { beginDay, DaysMissing } from '../events/days.ts';
import { forgetDays, mostDays, prepareDay } from '../events/partitions.ts';
import {
  type AccountState,
  type Beginning,
  type BegunWriting,
  beginWriting,
  readLast,
  readSettled,
  type Settled,
  waitForSettled,
  waitForWriters,
} from './sequencer.ts';

/** A transaction that writes rows of one account; `of` returns the same one for another of its accounts, if it has several. */
export interface Transaction
  extends AccountConnection,
    Pick<TakenConnection, 'slot' | 'isSpread' | 'accountInTexts' | 'script'> {
  readonly currentDay: DayUnderWay;
  /** The account's state when this transaction began. */
  readonly begun: AccountState;
  /** Sequences that were drawn when it began; none unless `Options.countSequences` asked for them. What must follow what a locked row holds needs later ones. */
  readonly sequences: readonly number[];
  of(account: number): Transaction;
  /** Accounts with equal numbers have their rows in the same shards. */
  shardOf(account: number): number;
  /**
   * Returns the day of something received at a time. When it is not the account's current day, this throws: the transaction is
   * rolled back, the day begins, and the work runs again.
   */
  dayOf(receivedTime: number): number;
  /** Ends this attempt unless no other transaction writes rows of the account; the work then runs again, alone. */
  requireAlone(): void;
  /**
   * Whether some of the states are those that the server remembers. Then the work must throw Overtaken, or store nothing if a state has changed. After Overtaken
   * it runs again, with states that are read.
   */
  readonly areAssumed: boolean;
  /** Calls `remember` after the commit, to update what is held in memory. */
  whenCommitted(remember: () => void): void;
  /** Runs the work in a savepoint. When it throws a Refusal, only what the work has written is rolled back. Rethrows. */
  attempt<Value>(work: () => Promise<Value>): Promise<Value>;
}

/** Reads of an account as it is at one moment: in a transaction, or as `readBriefly` does. */
export interface Snapshot extends AccountConnection {
  /** For reads with small results, of which several are sent at the same time (read-together.ts). */
  readonly together: AccountConnection;
  /** As `together`, for what may be read later than the rest: names, and events up to `newest`. */
  readonly later: AccountConnection;
  /** No event after this sequence may be read. */
  readonly newest: Promise<number>;
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
const mostTries = 10;

/** How long it waits for the lock of each of several accounts that have a day to begin, before each begins it by itself. */
const patienceOfSeveral = 200;
/** After so many of them are late, it waits for no more. */
const mostLate = 2;

const notKept = (cause: unknown): Refusal =>
  new Refusal('not_kept', { retryAfterSeconds: codeOf(cause).startsWith('53') ? 5 : 1, cause });

/** Ends a read transaction without waiting: the result of its commit does not matter. */
const endBehind = (db: TakenConnection): void => {
  db.commit().then(
    () => db.release(false),
    () => db.release(true),
  );
};

/**
 * Takes a connection, runs the work, and returns the connection with `end`. When the work throws, rolls back and returns the
 * connection, or closes it when that fails. Throws Refusal('not_kept') when the database is unavailable; rethrows conflicts.
 */
export const withConnection = async <Value>(
  pool: ConnectionPool,
  account: number,
  work: (db: TakenConnection) => Promise<Value>,
  end = (db: TakenConnection): void => db.release(false),
): Promise<Value> => {
  let db: TakenConnection;
  try {
    db = await pool.take(account);
  } catch (error) {
    throw isNotNow(error) ? notKept(error) : error;
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
    throw isNotNow(cause) && !isConflict(cause) ? notKept(cause) : cause;
  }
};

/** For a cluster: the states that accounts had in transactions of this server. */
export type RememberedStates = Map<number, AccountState>;

interface Options extends Partial<Pick<Beginning, 'changesOwners' | 'patienceMilliseconds'>> {
  /** Receives the states that are read. */
  readonly remembered?: RememberedStates | undefined;
  /** Whether the transaction begins without reading the states that are remembered. */
  readonly assumesStates?: boolean | undefined;
  /** Returns how many sequences to draw when a transaction begins that assumes states. */
  readonly countSequences?: () => number;
  /** Receives how long the statement COMMIT took, in seconds. */
  readonly onCommit?: (seconds: number) => void;
}

type Mode = Beginning['mode'];
/** The number of an account, or of several. */
type Accounts = number | readonly number[];
const listOf = (accounts: Accounts): readonly number[] => (typeof accounts === 'number' ? [accounts] : accounts);

interface Begun extends BegunWriting {
  readonly areAssumed: boolean;
  readonly remembering: (() => void)[];
}

const createTransaction = (
  db: TakenConnection,
  mode: Mode,
  { states, sequences, areAssumed, remembering }: Begun,
): ((account: number) => Transaction) => {
  const shared = {
    ...db,
    sequences,
    areAssumed,
    requireAlone() {
      if (mode !== 'alone') throw new NotAlone('this must run alone');
    },
    whenCommitted: (remember: () => void) => void remembering.push(remember),
    // The shard of an account that this transaction did not begin with is not known.
    shardOf: (account: number) => states.get(account)?.shard ?? -account,
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

const statesIn = (remembered: RememberedStates, accounts: readonly number[]): Map<number, AccountState> => {
  const states = new Map<number, AccountState>();
  for (const account of accounts) {
    const state = remembered.get(account);
    if (state) states.set(account, state);
  }
  return states;
};

const carryOut = async <Value>(
  db: TakenConnection,
  mode: Mode,
  accounts: readonly number[],
  work: (transaction: Transaction) => Promise<Value>,
  { changesOwners = true, patienceMilliseconds, remembered, assumesStates, countSequences, onCommit }: Options,
): Promise<Value> => {
  const assumed = remembered && assumesStates ? statesIn(remembered, accounts) : undefined;
  const areAssumed = assumed !== undefined && assumed.size > 0;
  const sequences = areAssumed ? countSequences?.() : 0;
  const beginning = { mode, changesOwners, patienceMilliseconds, assumed, sequences };
  const begun = await beginWriting(db, beginning, accounts);
  const rememberStates = () => {
    for (const [account, state] of begun.states) if (!assumed?.has(account)) remembered?.set(account, state);
  };
  // First, because the work may forget some of them.
  const remembering = [rememberStates];
  const value = await work(createTransaction(db, mode, { ...begun, areAssumed, remembering })(accounts[0] as number));
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
      changesOwners: false,
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
      if (late.length === mostLate) break;
    }
    if (late.length > 0) throw late[0];
  }
};

const prepareDays = async (pool: ConnectionPool, { days, receivedTime }: DaysMissing): Promise<void> => {
  let kept = 0;
  for (const day of days) kept = await withConnection(pool, 0, (db) => prepareDay(db, day));
  // What fails is tried again on the next day.
  if (kept > mostDays) await withConnection(pool, 0, (db) => forgetDays(db, receivedTime)).catch(() => {});
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
  let { assumesStates } = options;
  for (;;) {
    try {
      return await withConnection(pool, list[0] as number, (db) =>
        carryOut(db, mode, list, work, { ...options, assumesStates }),
      );
    } catch (error) {
      // A state that has changed may be the cause.
      assumesStates = false;
      if (error instanceof NotAlone) return write(pool, 'alone', accounts, work, options);
      if (error instanceof DaysMissing || error instanceof OtherDay) {
        dayTries += 1;
        if (dayTries > mostTries) throw new Error('a day does not begin', { cause: error });
      }
      if (error instanceof DaysMissing) await prepareDays(pool, error);
      else if (error instanceof OtherDay) await beginDays(pool, error, options);
      else {
        if (!isConflict(error)) throw error;
        conflicts += 1;
        if (conflicts === mostTries) throw notKept(error);
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
 * Returns a connection that sends `settings` before its first statement. On a cluster, each of them is a message, and a transaction may have no statement that
 * needs them.
 */
const afterSettings = <Read extends Connection & Pick<TakenConnection, 'isSpread' | 'script'>>(
  db: Read,
  settings: readonly string[],
): Read => {
  let isSet = false;
  const set = (): void => {
    // When one fails, so do the statements after it.
    if (!isSet) setLocally(db, settings).catch(() => {});
    isSet = true;
  };
  const after =
    <Values extends unknown[], Value>(ask: (...values: Values) => Value) =>
    (...values: Values): Value => {
      set();
      return ask(...values);
    };
  return { ...db, all: after(db.all), get: after(db.get), one: after(db.one), run: after(db.run) };
};

const unbounded = Promise.resolve(Number.MAX_SAFE_INTEGER);

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
    account,
    async (db) => {
      const settled = moments[wanted](db, account);
      // Only a snapshot that is taken after all is settled shows all of it.
      if (wanted.startsWith('all ')) await settled;
      // PostgreSQL executes pipelined statements in the order in which they were sent.
      const begin = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
      const begun = db.isSpread ? db.script(begin) : setLocally(db, [begin, ...settings]);
      const direct = db.isSpread ? afterSettings(db, [...new Set([...inOrderLocally, ...settings])]) : db;
      const reads = { ...direct, account };
      const together = readTogether({ ...db, account }, reads);
      const snapshot = { ...reads, settled, newest: unbounded, together, later: together };
      const [value] = await Promise.all([work(snapshot), begun, settled]);
      return value;
    },
    endBehind,
  );

/**
 * As `readSnapshot`, at the moment 'settled', for a cluster: without a transaction, which saves messages between the coordinator and the machine. First,
 * it reads who owns what (`together`), while the account has no writer. Then it reads events (`later`) up to the last sequence that was drawn before.
 * Each of these is committed by then or never will be, so they are the events of the first moment, without those that were deleted in between. Where
 * that is not enough, it begins again with `readSnapshot`.
 */
export const readBriefly = async <Value>(
  pool: ConnectionPool,
  account: number,
  work: (db: Snapshot) => Promise<Value>,
  settings: readonly string[],
): Promise<Value> => {
  const refuse = async () => {
    throw new NeedsSnapshot();
  };
  const direct = { account, all: refuse, get: refuse, one: refuse, run: refuse };
  const found = await withConnection(pool, account, async (db) => {
    const newest = readLast(db);
    // Those who await it get the error.
    newest.catch(() => {});
    const together = readAtOnce({ ...db, account });
    const later = readTogether({ ...db, account }, direct);
    try {
      return { value: await work({ ...direct, settled: newest, newest, together, later }) };
    } catch (error) {
      // There is no transaction to roll back.
      if (error instanceof NeedsSnapshot || error instanceof Refusal) return { error };
      throw error;
    }
  });
  if (found.error instanceof Refusal) throw found.error;
  return found.error ? readSnapshot(pool, 'settled', account, work, settings) : (found.value as Value);
};

/** Runs reads of which each sees a moment of its own. */
export const readOnce = <Value>(
  pool: ConnectionPool,
  account: number,
  work: (db: AccountConnection) => Promise<Value>,
): Promise<Value> => withConnection(pool, account, (db) => work({ ...db, account }));
