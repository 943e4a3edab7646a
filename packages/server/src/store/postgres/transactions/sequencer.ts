/**
 * The order of an account's events and statements, and its current day, over several servers.
 *
 * Sequences are drawn from one PostgreSQL sequence and committed in any order: 8 may be visible while 7 is still
 * uncommitted. A reader that continues after 8 would never see 7. So a reader continues after a *settled* sequence: all
 * sequences up to it are committed or never will be. Advisory locks show which sequence is settled:
 *
 * - Before a transaction draws, it reads its floor, the last sequence drawn by any transaction. Until it ends, it holds
 *   two locks: one for its account, and one whose key includes the floor. All sequences that it draws are above its
 *   floor.
 * - A reader of an account reads the last sequence drawn, L, then the floors of those that hold the account's lock, and
 *   only then takes its snapshot. The settled sequence is the least of L and these floors. If the reader briefly gets
 *   the account's lock exclusively, no transaction held it, so there are no floors.
 *
 * Proof that the snapshot misses nothing at or below the settled sequence: let s be drawn, with s <= settled <= L. s
 * was drawn before L was read, so its transaction held its lock by then, with a floor below s. If the lock had still
 * been held when the locks were read, settled would be at most this floor, below s. So the lock had been released, and
 * PostgreSQL releases a transaction's locks only after others see its commit (CommitTransaction in xact.c:
 * ProcArrayEndTransaction comes before ResourceOwnerRelease). The snapshot was taken later still: it shows s, or s was
 * rolled back.
 *
 * This requires that a sequence never goes back. On a cluster, it can go back after a crash of the coordinator, which
 * then skips numbers (cluster-functions.ts).
 *
 * Contacts, refused requests and owner changes are listed by separate numbers, which are drawn and committed in the
 * same way. The floor does not limit these numbers, so a reader waits for all transactions that hold one:
 *
 * - A reader reads the last number drawn, L, then which transactions hold a floor. When all of these have ended, it
 *   takes its snapshot and reads the rows with numbers up to L.
 *
 * Proof that the snapshot misses none of these rows: let n be drawn, with n <= L. n was drawn before L was read, by a
 * transaction that held its floor by then. So the reader waited for this transaction, or its locks were already
 * released: as above, the snapshot shows n, or n was rolled back. And L is no less than any number that was
 * acknowledged before the read began.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Refusal } from '../../../shared/refusal.ts';
import type { AccountCatalogues } from '../../rules/accounts/catalogue-rules.ts';
import type { CurrentDay } from '../../rules/received-day.ts';
import type { CatalogueSettings } from '../../store.ts';
import { integers } from '../database/arrays.ts';
import { type Connection, type HeldConnection, lockKeys } from '../database/connection.ts';

/** The state of an account, from `account_position`. */
export interface AccountState extends CurrentDay, CatalogueSettings, Pick<AccountCatalogues, 'nextEventID'> {
  readonly account: number;
  /** Increases with each change to the account's catalogues. */
  readonly version: number;
}

export const stateSQL =
  'SELECT account, day, "clockDay", catalogues AS version, strict, "browserCatalogue", "nextEventID" FROM account_position';

/** How a transaction begins. */
export interface BeginOptions {
  readonly mode: 'shared' | 'exclusive';
  /** The lock timeout, if not the default. */
  readonly lockTimeoutMilliseconds?: number | undefined;
}

/** Account states, by account. Deleted accounts are absent. */
export type AccountStates = ReadonlyMap<number, AccountState>;

type BeginConnection = Pick<HeldConnection, 'isDistributed' | 'script' | 'all'>;

const beginHere = async (
  db: BeginConnection,
  { mode, lockTimeoutMilliseconds }: BeginOptions,
  accounts: readonly number[],
): Promise<AccountState[]> => {
  const lockTimeout =
    lockTimeoutMilliseconds === undefined ? '' : `SET LOCAL lock_timeout = ${lockTimeoutMilliseconds};`;
  const take = mode === 'exclusive' ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared';
  const locks = accounts.map((account) => `${take}(${BigInt(lockKeys.accounts) + BigInt(account)})`);
  const [, states] = await Promise.all([
    db.script(`
      BEGIN;
      ${lockTimeout}
      SELECT pg_advisory_xact_lock_shared(${lockKeys.structure}), ${locks.join(', ')};
      SELECT pg_advisory_xact_lock_shared(${lockKeys.floors} + last_value) FROM event_order`),
    db.all<AccountState>(`${stateSQL} WHERE account = ANY ($1::integer[])`, [integers(accounts, (account) => account)]),
  ]);
  return states;
};

/** Begins a transaction on a cluster, where a transaction has one account. */
const beginOnCluster = async (
  db: BeginConnection,
  { mode, lockTimeoutMilliseconds }: BeginOptions,
  [account, ...others]: readonly number[],
): Promise<AccountState[]> => {
  if (others.length > 0) throw new Error('a transaction on a cluster has one account');
  const lockTimeout = lockTimeoutMilliseconds === undefined ? null : `${lockTimeoutMilliseconds}ms`;
  const [, states] = await Promise.all([
    db.script('BEGIN'),
    db.all<AccountState>('SELECT * FROM begin_writing($1, $2, $3)', [account, mode === 'exclusive', lockTimeout]),
  ]);
  return states;
};

/** Begins a transaction that writes rows of these accounts, shared with other writers or exclusively. */
export const beginWriting = async (
  db: BeginConnection,
  options: BeginOptions,
  accounts: readonly number[],
): Promise<AccountStates> => {
  const begin = db.isDistributed ? beginOnCluster : beginHere;
  // Begins in ascending order, so that no two transactions wait for each other.
  const ascending = [...accounts].sort((a, b) => a - b);
  const states = await begin(db, options, ascending);
  return new Map(states.map((state) => [state.account, state]));
};

/** Draws numbers from a PostgreSQL sequence, in ascending order and greater than all earlier numbers. */
export const drawNumbers = async (
  db: Connection,
  numbers: 'event_order' | 'user_number' | 'refused_number',
  count: number,
): Promise<number[]> => {
  if (count === 0) return [];
  // Selects all numbers as a single string, because reading a row per number would take longer than drawing the number.
  const { drawn } = await db.one<{ drawn: string }>(
    `SELECT string_agg(nextval('${numbers}')::text, ' ') AS drawn FROM generate_series(1, $1)`,
    [count],
  );
  return drawn.split(' ').map(Number);
};

export const drawSequences = (db: Connection, count: number): Promise<number[]> =>
  drawNumbers(db, 'event_order', count);

/** SQL for the floors held by writers of an account or, with 0, of any account. Runs where the account's rows are. */
const heldFloors = (account: number) =>
  account === 0
    ? 'FROM held_floors(0) AS held'
    : `FROM account_position p, held_floors(p.account) AS held WHERE p.account = ${account}`;

type ScriptRunner = Pick<HeldConnection, 'script'>;

export interface Settled {
  /** The last sequence drawn. */
  readonly last: number;
  /** A snapshot taken from now on contains all sequences up to this one. */
  readonly settled: number;
}

/** Returns the last sequence drawn. */
const readLast = async (db: Pick<Connection, 'one'>): Promise<number> =>
  (await db.one<{ last: number }>('SELECT last_value AS last FROM event_order')).last;

type Reads = Pick<Connection, 'one' | 'get'>;

/** Runs two statements in this order: the floors must be read second. */
const readSettledBy = async (db: Reads, floorSQL: string, values: readonly number[]): Promise<Settled> => {
  const [last, held] = await Promise.all([readLast(db), db.get<{ floor: number | null }>(floorSQL, values)]);
  return { last, settled: Math.min(last, held?.floor ?? last) };
};

/** Reads the settled sequence of an account or, with 0, of all accounts. */
export const readSettled = (db: Reads, account: number): Promise<Settled> =>
  account === 0
    ? readSettledBy(db, 'SELECT min(held.floor) AS floor FROM held_floors(0) AS held', [])
    : readSettledBy(db, 'SELECT held_floor($1::integer) AS floor FROM account_position WHERE account = $1', [account]);

/** The pause doubles after each query, to limit the load of a long wait. */
const firstPauseMilliseconds = 2;
const maxPauseMilliseconds = 50;
/** Shorter than the time after which PostgreSQL ends a stopped server's transaction. */
const maxWaitMilliseconds = 4_000;

/** Polls until `condition` returns true. Throws Refusal('unavailable') after `maxWaitMilliseconds`. */
const pollUntil = async (condition: () => Promise<boolean>): Promise<void> => {
  const began = performance.now();
  let pause = firstPauseMilliseconds;
  do {
    if (performance.now() - began >= maxWaitMilliseconds) throw new Refusal('unavailable', { retryAfterSeconds: 1 });
    await wait(pause);
    pause = Math.min(2 * pause, maxPauseMilliseconds);
  } while (!(await condition()));
};

/**
 * Waits until all of an account's sequences drawn before this call are settled, and returns the last of them. This
 * takes as long as the longest running transaction, usually milliseconds.
 */
export const waitForSettled = async (db: Reads, account: number): Promise<number> => {
  const { last, settled } = await readSettled(db, account);
  if (settled < last) await pollUntil(async () => (await readSettled(db, account)).settled >= last);
  return last;
};

/**
 * SQL for the last number drawn. Checks `is_called`, because before the first draw `last_value` is already the first
 * number.
 */
const lastSQL = {
  contact_number: () => 'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM contact_number',
  refused_number: () => 'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM refused_number',
  // Triggers (on a cluster, begin_writing) allocate these numbers. Any lower number was allocated before the last
  // committed number.
  owner_change: (account: number) =>
    `SELECT coalesce(max(change), 0)::bigint AS last FROM owner_change WHERE account = ${account}`,
} as const;
const writersSQL = (account: number, numbers: keyof typeof lastSQL) => `
  ${lastSQL[numbers](account)};
  SELECT held.writer ${heldFloors(account)}`;

/**
 * Like `waitForSettled`, for the row numbers of contacts, refused requests or owner changes. Returns the last number
 * drawn.
 */
export const waitForWriters = async (
  db: ScriptRunner,
  account: number,
  numbers: keyof typeof lastSQL,
): Promise<number> => {
  const read = async () => {
    const [[drawn], held] = (await db.script(writersSQL(account, numbers))) as [
      [{ last: number }],
      { writer: string }[],
    ];
    return { last: drawn.last, writers: held.map(({ writer }) => writer) };
  };
  const { last, writers } = await read();
  const haveEnded = async () => {
    const current = new Set((await read()).writers);
    return !writers.some((writer) => current.has(writer));
  };
  if (writers.length > 0) await pollUntil(haveEnded);
  return last;
};
