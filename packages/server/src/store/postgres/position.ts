/**
 * The one order of events and statements, and the day that is under way, with several servers.
 *
 * Sequences are drawn from one PostgreSQL sequence, and committed in any order: 8 may be seen while 7 is still under way.
 * A reader who goes on after 8 would never see 7. So a reader goes on after what is *settled*: a sequence up to which all
 * are committed or never will be. That is told by advisory locks:
 *
 *   - Before a transaction draws, it reads the last sequence drawn by anyone, its floor, and holds a lock that is named
 *     after it until it ends. All that it draws is greater than its floor.
 *   - A reader reads the last sequence drawn, L, then the floors that are held, and only then takes the snapshot that it
 *     reads from. Settled is the least of L and these floors.
 *
 * Why nothing at or below it is missed: let s be drawn, with s <= settled <= L. It was drawn before L was read, so its
 * transaction held its lock by then, at a floor below s. Had that still been held when the locks were read, settled
 * would be at most this floor, below s. So it had been released, and PostgreSQL releases a transaction's locks only
 * after others see its commit (CommitTransaction in xact.c: ProcArrayEndTransaction comes before ResourceOwnerRelease).
 * The snapshot was taken later still: it shows s, or s was rolled back and never will be.
 *
 * Contacts and refused requests have numbers of their own, drawn and committed likewise, by which they are listed. Their
 * writers hold a floor like all others; as it says nothing of these numbers, a reader waits for whoever holds any:
 *
 *   - A reader reads the last number drawn, L, then which transactions hold a floor. When all of these have ended it takes
 *     its snapshot, and reads from that what is numbered up to L.
 *
 * Why none of these is missed: let n be drawn, with n <= L. It was drawn before L was read, by a transaction that held its
 * floor by then. So it was among those that were waited for, or had released its locks before: as above, the snapshot
 * shows n, or it never will be. And L is no less than any number that was acknowledged before the reader asked.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Refusal } from '../../refusal.ts';
import { type Connection, lockKeys, type TakenConnection } from './connection.ts';

/** Begins a transaction that writes: beside others, or with all others waiting. Answers the day, as position has it. */
export const beginWriting = async (db: TakenConnection, mode: 'beside others' | 'alone') => {
  const lock = mode === 'alone' ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared';
  const results = await db.script(`
    BEGIN;
    SELECT ${lock}(${lockKeys.structure});
    SELECT pg_advisory_xact_lock_shared(${lockKeys.floors} + last_value) FROM event_order;
    SELECT day, "clockDay" FROM position`);
  return results.at(-1)?.[0] as { day: number; clockDay: number };
};

/** What is drawn is greater than what anybody drew before, and ascends. */
export const drawSequences = async (db: Connection, count: number): Promise<number[]> => {
  // One row of text: a row for each would take longer to read than to draw.
  const { drawn } = await db.one<{ drawn: string }>(
    `SELECT string_agg(nextval('event_order')::text, ' ') AS drawn FROM generate_series(1, $1)`,
    [count],
  );
  return drawn.split(' ').map(Number);
};

/** The bits of a floor's key that say so, as pg_locks shows them. */
const floorClass = 2 ** 30;

const heldFloors = `
  FROM pg_locks
  WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND objsubid = 1 AND classid::bigint >= ${floorClass} AND classid::bigint < ${2 * floorClass} AND granted`;

/** Each statement after the one before it; the floors second. */
const settledSQL = `
  SELECT last_value AS last FROM event_order;
  SELECT min(((classid::bigint << 32) | objid::bigint) - ${lockKeys.floors}) AS floor ${heldFloors}`;

export interface Settled {
  /** The last sequence that was drawn. */
  readonly last: number;
  /** Up to here, whoever takes a snapshot from now on misses nothing. */
  readonly settled: number;
}

export const readSettled = async (db: Pick<TakenConnection, 'script'>): Promise<Settled> => {
  const [[position], [held]] = (await db.script(settledSQL)) as [[{ last: number }], [{ floor: number | null }]];
  return { last: position.last, settled: Math.min(position.last, held.floor ?? position.last) };
};

/** Twice as long after each question, so that a long wait does not keep PostgreSQL busy. */
const firstPauseMilliseconds = 2;
const longestPauseMilliseconds = 50;
/** A transaction whose server has stopped is ended by PostgreSQL, later than this. */
const mostPatienceMilliseconds = 4_000;

/** Throws Refusal('not_kept') when it is not so for too long. */
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
 * Waits until all is settled that had been drawn when it was asked, so that it holds all that was acknowledged before.
 * Takes as long as the longest transaction under way: milliseconds.
 */
export const waitForSettled = async (db: Pick<TakenConnection, 'script'>): Promise<number> => {
  const { last, settled } = await readSettled(db);
  if (settled < last) await askAgainUntil(async () => (await readSettled(db)).settled >= last);
  return last;
};

/** Each statement after the one before it. Where none was drawn yet, `last_value` is the number that comes first. */
const writersSQL = (numbers: string) => `
  SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM ${numbers};
  SELECT virtualtransaction AS writer ${heldFloors}`;

/** As `waitForSettled`, for numbers of their own: answers the last that had been drawn. */
export const waitForWriters = async (
  db: Pick<TakenConnection, 'script'>,
  numbers: 'contact_number' | 'refused_number',
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
