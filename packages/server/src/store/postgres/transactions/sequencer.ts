/**
 * The order of an account's events and statements, and its current day, over several servers.
 *
 * Sequences are drawn from one PostgreSQL sequence and committed in any order: 8 may be visible while 7 is still uncommitted.
 * A reader that continues after 8 would never see 7. So a reader continues after a *settled* sequence: all sequences up to it are
 * committed or never will be. Advisory locks show which sequence is settled:
 *
 *   - Before a transaction draws, it reads the last sequence drawn by any transaction, its floor, and takes two locks until it ends:
 *     one with the key of its account, and one whose key includes the floor. All sequences that it draws are greater than its floor.
 *   - A reader of an account reads the last sequence drawn, L, then the floors of those who hold the account's lock, and only then
 *     takes its snapshot. The settled sequence is the least of L and these floors. So no other account's transactions count. If a reader gets the
 *     account's lock exclusively, for a moment, no transaction held it then, so there are no floors.
 *
 * Proof that the snapshot misses nothing at or below the settled sequence: let s be drawn, with s <= settled <= L. s was drawn
 * before L was read, so its transaction held its lock by then, with a floor below s. If the lock had still been held when the
 * locks were read, settled would be at most this floor, below s. So the lock had been released, and PostgreSQL releases the locks
 * of a transaction only after others see its commit (CommitTransaction in xact.c: ProcArrayEndTransaction comes before
 * ResourceOwnerRelease). The snapshot was taken later still: it shows s, or s was rolled back.
 *
 * A sequence must not go back for that. On a cluster, it may after a crash of the coordinator, and then skips numbers: see cluster-functions.ts.
 *
 * Contacts, refused requests and changes of owners are listed by numbers of their own, which are drawn and committed likewise. Their writers hold a
 * floor like all others. The floor does not limit these numbers, so a reader waits for all transactions that hold one:
 *
 *   - A reader reads the last number drawn, L, then which transactions hold a floor. When all of these have ended, it takes its
 *     snapshot and reads the rows with numbers up to L.
 *
 * Proof that the snapshot misses none of these rows: let n be drawn, with n <= L. n was drawn before L was read, by a transaction
 * that held its floor by then. So the reader waited for this transaction, or its locks were already released: as above, the
 * snapshot shows n, or n was rolled back. And L is no less than any number that was acknowledged before the read began.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Refusal } from '../../../shared/refusal.ts';
import type { ListedIDs } from '../../rules/accounts/catalogue-rules.ts';
import type { DayUnderWay } from '../../rules/received-day.ts';
import type { CatalogueSettings } from '../../store.ts';
import { integers } from '../database/arrays.ts';
import { type Connection, lockKeys, type TakenConnection } from '../database/connection.ts';

/** What `account_position` has of an account. */
export interface AccountState extends DayUnderWay, CatalogueSettings, Pick<ListedIDs, 'nextEventID'> {
  readonly account: number;
  /** Increases with each change of the account's catalogues. */
  readonly version: number;
}

export const stateSQL =
  'SELECT account, day, "clockDay", catalogues AS version, strict, "browserCatalogue", "nextEventID" FROM account_position';

/** How a transaction begins. */
export interface Beginning {
  readonly mode: 'beside others' | 'alone';
  /** How long it waits for a lock, if not as long as others. */
  readonly patienceMilliseconds?: number | undefined;
}

/** The states of accounts, by account. One that is gone has none. */
export type AccountStates = ReadonlyMap<number, AccountState>;

type Begun = Pick<TakenConnection, 'isSpread' | 'script' | 'all'>;

const beginHere = async (
  db: Begun,
  { mode, patienceMilliseconds }: Beginning,
  accounts: readonly number[],
): Promise<AccountState[]> => {
  const patience = patienceMilliseconds === undefined ? '' : `SET LOCAL lock_timeout = ${patienceMilliseconds};`;
  const take = mode === 'alone' ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared';
  const locks = accounts.map((account) => `${take}(${BigInt(lockKeys.accounts) + BigInt(account)})`);
  const [, states] = await Promise.all([
    db.script(`
      BEGIN;
      ${patience}
      SELECT pg_advisory_xact_lock_shared(${lockKeys.structure}), ${locks.join(', ')};
      SELECT pg_advisory_xact_lock_shared(${lockKeys.floors} + last_value) FROM event_order`),
    db.all<AccountState>(`${stateSQL} WHERE account = ANY ($1::integer[])`, [integers(accounts, (account) => account)]),
  ]);
  return states;
};

/** On a cluster, a transaction has one account. */
const beginOnCluster = async (
  db: Begun,
  { mode, patienceMilliseconds }: Beginning,
  [account, ...others]: readonly number[],
): Promise<AccountState[]> => {
  if (others.length > 0) throw new Error('a transaction on a cluster has one account');
  const patience = patienceMilliseconds === undefined ? null : `${patienceMilliseconds}ms`;
  const [, states] = await Promise.all([
    db.script('BEGIN'),
    db.all<AccountState>('SELECT * FROM begin_writing($1, $2, $3)', [account, mode === 'alone', patience]),
  ]);
  return states;
};

/** Begins a transaction that writes rows of these accounts, beside others or while no other writes them. */
export const beginWriting = async (
  db: Begun,
  beginning: Beginning,
  accounts: readonly number[],
): Promise<AccountStates> => {
  const begin = db.isSpread ? beginOnCluster : beginHere;
  // Ascending, so that no two transactions wait for each other.
  const ascending = [...accounts].sort((a, b) => a - b);
  const states = await begin(db, beginning, ascending);
  return new Map(states.map((state) => [state.account, state]));
};

/** Draws numbers from a PostgreSQL sequence; they are ascending, and greater than all drawn before. */
export const drawNumbers = async (
  db: Connection,
  numbers: 'event_order' | 'user_number' | 'refused_number',
  count: number,
): Promise<number[]> => {
  if (count === 0) return [];
  // Returns one row of text, because reading a row for each number would take longer than drawing it.
  const { drawn } = await db.one<{ drawn: string }>(
    `SELECT string_agg(nextval('${numbers}')::text, ' ') AS drawn FROM generate_series(1, $1)`,
    [count],
  );
  return drawn.split(' ').map(Number);
};

export const drawSequences = (db: Connection, count: number): Promise<number[]> =>
  drawNumbers(db, 'event_order', count);

/** SQL for the floors that are held by writers of an account; 0: of any. Runs where the account's rows are. */
const heldFloors = (account: number) =>
  account === 0
    ? 'FROM held_floors(0) AS held'
    : `FROM account_position p, held_floors(p.account) AS held WHERE p.account = ${account}`;

type Asked = Pick<TakenConnection, 'script'>;

export interface Settled {
  /** The last sequence that was drawn. */
  readonly last: number;
  /** A snapshot that is taken from now on misses no sequence up to this one. */
  readonly settled: number;
}

/** Returns the last sequence that was drawn. */
const readLast = async (db: Pick<Connection, 'one'>): Promise<number> =>
  (await db.one<{ last: number }>('SELECT last_value AS last FROM event_order')).last;

type Reads = Pick<Connection, 'one' | 'get'>;

/** Two statements that run in this order: the floors must be read second. */
const settledBy = async (db: Reads, floorSQL: string, values: readonly number[]): Promise<Settled> => {
  const [last, held] = await Promise.all([readLast(db), db.get<{ floor: number | null }>(floorSQL, values)]);
  return { last, settled: Math.min(last, held?.floor ?? last) };
};

/** Reads what is settled of an account; 0: of all. */
export const readSettled = (db: Reads, account: number): Promise<Settled> =>
  account === 0
    ? settledBy(db, 'SELECT min(held.floor) AS floor FROM held_floors(0) AS held', [])
    : settledBy(db, 'SELECT held_floor($1::integer) AS floor FROM account_position WHERE account = $1', [account]);

/** The pause doubles after each query, so that a long wait does not keep PostgreSQL busy. */
const firstPauseMilliseconds = 2;
const longestPauseMilliseconds = 50;
/** The longest wait. It is shorter than the time after which PostgreSQL ends the transaction of a stopped server. */
const maxWaitMilliseconds = 4_000;

/** Waits until `isSo` returns true. Throws Refusal('unavailable') after `maxWaitMilliseconds`. */
const askAgainUntil = async (isSo: () => Promise<boolean>): Promise<void> => {
  const asked = performance.now();
  let pause = firstPauseMilliseconds;
  do {
    if (performance.now() - asked >= maxWaitMilliseconds) throw new Refusal('unavailable', { retryAfterSeconds: 1 });
    await wait(pause);
    pause = Math.min(2 * pause, longestPauseMilliseconds);
  } while (!(await isSo()));
};

/**
 * Waits until all of an account's sequences drawn before this call are settled, which includes everything acknowledged before. Returns the last
 * of them. Takes as long as the longest transaction under way: milliseconds.
 */
export const waitForSettled = async (db: Reads, account: number): Promise<number> => {
  const { last, settled } = await readSettled(db, account);
  if (settled < last) await askAgainUntil(async () => (await readSettled(db, account)).settled >= last);
  return last;
};

/** Two statements that run in this order. Before the first number is drawn, `last_value` is that number. */
const lastSQL = {
  contact_number: () => 'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM contact_number',
  refused_number: () => 'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM refused_number',
  // Triggers draw these, and on a cluster begin_writing does. A lower number was drawn before the last one that is committed.
  owner_change: (account: number) =>
    `SELECT coalesce(max(change), 0)::bigint AS last FROM owner_change WHERE account = ${account}`,
} as const;
const writersSQL = (account: number, numbers: keyof typeof lastSQL) => `
  ${lastSQL[numbers](account)};
  SELECT held.writer ${heldFloors(account)}`;

/** As `waitForSettled`, for the numbers of contacts, refused requests or changes of owners. Returns the last number drawn before this call. */
export const waitForWriters = async (db: Asked, account: number, numbers: keyof typeof lastSQL): Promise<number> => {
  const read = async () => {
    const [[drawn], held] = (await db.script(writersSQL(account, numbers))) as [
      [{ last: number }],
      { writer: string }[],
    ];
    return { last: drawn.last, writers: held.map(({ writer }) => writer) };
  };
  const { last, writers } = await read();
  const haveEnded = async () => {
    const held = new Set((await read()).writers);
    return !writers.some((writer) => held.has(writer));
  };
  if (writers.length > 0) await askAgainUntil(haveEnded);
  return last;
};
