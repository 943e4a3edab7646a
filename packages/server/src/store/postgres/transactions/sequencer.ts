/**
 * The one order of events and statements, and the current day, over several servers.
 *
 * Sequences are drawn from one PostgreSQL sequence and committed in any order: 8 may be visible while 7 is still uncommitted.
 * A reader that continues after 8 would never see 7. So a reader continues after a *settled* sequence: all sequences up to it are
 * committed or never will be. Advisory locks show which sequence is settled:
 *
 *   - Before a transaction draws, it reads the last sequence drawn by any transaction, its floor, and takes a lock whose key
 *     includes the floor, until it ends. All sequences that it draws are greater than its floor.
 *   - A reader reads the last sequence drawn, L, then the floors of the held locks, and only then takes its snapshot. The
 *     settled sequence is the least of L and these floors.
 *
 * Proof that the snapshot misses nothing at or below the settled sequence: let s be drawn, with s <= settled <= L. s was drawn
 * before L was read, so its transaction held its lock by then, with a floor below s. If the lock had still been held when the
 * locks were read, settled would be at most this floor, below s. So the lock had been released, and PostgreSQL releases the locks
 * of a transaction only after others see its commit (CommitTransaction in xact.c: ProcArrayEndTransaction comes before
 * ResourceOwnerRelease). The snapshot was taken later still: it shows s, or s was rolled back.
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
import { Refusal } from '../../../refusal.ts';
import { type Connection, lockKeys, type TakenConnection } from '../database/connection.ts';

/** Begins a transaction that writes, beside others or while all others wait. Returns the row of `position`: the current day. */
export const beginWriting = async (db: TakenConnection, mode: 'beside others' | 'alone') => {
  const lock = mode === 'alone' ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared';
  const results = await db.script(`
    BEGIN;
    SELECT ${lock}(${lockKeys.structure});
    SELECT pg_advisory_xact_lock_shared(${lockKeys.floors} + last_value) FROM event_order;
    SELECT day, "clockDay" FROM position`);
  return results.at(-1)?.[0] as { day: number; clockDay: number };
};

/** Draws sequences; they are ascending, and greater than all drawn before. */
export const drawSequences = async (db: Connection, count: number): Promise<number[]> => {
  // Returns one row of text, because reading a row for each sequence would take longer than drawing it.
  const { drawn } = await db.one<{ drawn: string }>(
    `SELECT string_agg(nextval('event_order')::text, ' ') AS drawn FROM generate_series(1, $1)`,
    [count],
  );
  return drawn.split(' ').map(Number);
};

/** The high bits that mark a lock key as a floor, as pg_locks shows them in classid. */
const floorClass = 2 ** 30;

const heldFloors = `
  FROM pg_locks
  WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND objsubid = 1 AND classid::bigint >= ${floorClass} AND classid::bigint < ${2 * floorClass} AND granted`;

/** Two statements that run in this order: the floors must be read second. */
const settledSQL = `
  SELECT last_value AS last FROM event_order;
  SELECT min(((classid::bigint << 32) | objid::bigint) - ${lockKeys.floors}) AS floor ${heldFloors}`;

export interface Settled {
  /** The last sequence that was drawn. */
  readonly last: number;
  /** A snapshot that is taken from now on misses no sequence up to this one. */
  readonly settled: number;
}

export const readSettled = async (db: Pick<TakenConnection, 'script'>): Promise<Settled> => {
  const [[position], [held]] = (await db.script(settledSQL)) as [[{ last: number }], [{ floor: number | null }]];
  return { last: position.last, settled: Math.min(position.last, held.floor ?? position.last) };
};

/** The pause doubles after each query, so that a long wait does not keep PostgreSQL busy. */
const firstPauseMilliseconds = 2;
const longestPauseMilliseconds = 50;
/** The longest wait. It is shorter than the time after which PostgreSQL ends the transaction of a stopped server. */
const mostPatienceMilliseconds = 4_000;

/** Waits until `isSo` returns true. Throws Refusal('not_kept') after `mostPatienceMilliseconds`. */
const askAgainUntil = async (isSo: () => Promise<boolean>): Promise<void> => {
  const asked = performance.now();
  let pause = firstPauseMilliseconds;
  do {
    if (performance.now() - asked >= mostPatienceMilliseconds) throw new Refusal('not_kept', { retryAfterSeconds: 1 });
    await wait(pause);
    pause = Math.min(2 * pause, longestPauseMilliseconds);
  } while (!(await isSo()));
};

/**
 * Waits until all sequences drawn before this call are settled, which includes everything acknowledged before. Returns the last
 * of them. Takes as long as the longest transaction under way: milliseconds.
 */
export const waitForSettled = async (db: Pick<TakenConnection, 'script'>): Promise<number> => {
  const { last, settled } = await readSettled(db);
  if (settled < last) await askAgainUntil(async () => (await readSettled(db)).settled >= last);
  return last;
};

/** Two statements that run in this order. Before the first number is drawn, `last_value` is that number. */
const writersSQL = (numbers: string) => `
  SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM ${numbers};
  SELECT virtualtransaction AS writer ${heldFloors}`;

/** As `waitForSettled`, for the numbers of contacts, refused requests or changes of owners. Returns the last number drawn before this call. */
export const waitForWriters = async (
  db: Pick<TakenConnection, 'script'>,
  numbers: 'contact_number' | 'refused_number' | 'owner_change_number',
): Promise<number> => {
  const read = async () => {
    const [[drawn], held] = (await db.script(writersSQL(numbers))) as [[{ last: number }], { writer: string }[]];
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
