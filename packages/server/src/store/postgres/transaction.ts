/** The one place that begins and commits. */
import { Refusal } from '../../refusal.ts';
import { type DayUnderWay, dayAt } from '../received-day.ts';
import {
  type Connection,
  type ConnectionPool,
  codeOf,
  isConflict,
  isNotNow,
  type TakenConnection,
} from './connection.ts';
import { beginDay } from './days.ts';
import { beginWriting, readSettled, type Settled, waitForSettled, waitForWriters } from './position.ts';

/** A transaction that writes. */
export interface Transaction extends Connection, Pick<TakenConnection, 'slot' | 'script'> {
  readonly position: DayUnderWay;
  /**
   * The day of something received at a time. When that is another than the one under way, all that was done so far is
   * undone, and done again on that day.
   */
  dayOf(receivedTime: number): number;
  /** What is to be remembered of this transaction once it is committed. */
  whenCommitted(remember: () => void): void;
  /** Undoes what the work has written when that is refused, and nothing else. */
  attempt<Value>(work: () => Promise<Value>): Promise<Value>;
}

/** What is read is of one moment. */
export interface Snapshot extends Connection {
  /** Up to here nothing is missing of what is listed by its number. */
  readonly settled: Promise<Settled['settled']>;
}

class OtherDay extends Error {
  readonly receivedTime: number;

  constructor(receivedTime: number) {
    super('a day begins');
    this.receivedTime = receivedTime;
  }
}

/** What gives in to another transaction is carried out again so often. */
const mostTries = 10;

export const notKept = (cause: unknown): Refusal =>
  new Refusal('not_kept', { retryAfterSeconds: codeOf(cause).startsWith('53') ? 5 : 1, cause });

const giveBack = (db: TakenConnection): void => db.release(false);

/** How what was only read ends matters to nobody who has read it. */
const endBehind = (db: TakenConnection): void => {
  db.commit().then(
    () => db.release(false),
    () => db.release(true),
  );
};

/**
 * Takes a connection for the work, and gives it back as good as it was: by `end`, unless that has failed. Throws
 * Refusal('not_kept') when there is none.
 */
const withConnection = async <Value>(
  pool: ConnectionPool,
  work: (db: TakenConnection) => Promise<Value>,
  end = giveBack,
): Promise<Value> => {
  let db: TakenConnection;
  try {
    db = await pool.take();
  } catch (error) {
    throw isNotNow(error) ? notKept(error) : error;
  }
  try {
    const value = await work(db);
    end(db);
    return value;
  } catch (error) {
    // What can still be rolled back is as good as new; after a commit that was not answered nothing is known.
    await db.rollBack().then(
      () => db.release(false),
      () => db.release(true),
    );
    const cause = db.causeOf(error);
    throw isNotNow(cause) && !isConflict(cause) ? notKept(cause) : cause;
  }
};

const carryOut = async <Value>(
  db: TakenConnection,
  mode: 'beside others' | 'alone',
  work: (transaction: Transaction) => Promise<Value>,
): Promise<Value> => {
  const position = await beginWriting(db, mode);
  const remembering: (() => void)[] = [];
  const value = await work({
    ...db,
    position,
    dayOf(receivedTime) {
      const { day, clockDay } = dayAt(position, receivedTime);
      if (day !== position.day || clockDay !== position.clockDay) throw new OtherDay(receivedTime);
      return day;
    },
    whenCommitted: (remember) => remembering.push(remember),
    async attempt(attempted) {
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
  });
  await db.commit();
  for (const remember of remembering) remember();
  return value;
};

const write = async <Value>(
  pool: ConnectionPool,
  mode: 'beside others' | 'alone',
  work: (transaction: Transaction) => Promise<Value>,
): Promise<Value> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await withConnection(pool, (db) => carryOut(db, mode, work));
    } catch (error) {
      if (error instanceof OtherDay) {
        const { receivedTime } = error;
        await write(pool, 'alone', (db) => beginDay(db, receivedTime));
      } else if (!isConflict(error)) throw error;
      else if (tries === mostTries) throw notKept(error);
    }
  }
};

/** Carries out the work in one transaction, which is committed and synced when the promise resolves. */
export const writeBesideOthers = <Value>(pool: ConnectionPool, work: (db: Transaction) => Promise<Value>) =>
  write(pool, 'beside others', work);

/** As `writeBesideOthers`, when all others that write are done, and none has begun. */
export const writeAlone = <Value>(pool: ConnectionPool, work: (db: Transaction) => Promise<Value>) =>
  write(pool, 'alone', work);

/** What may be wanted of a moment, and up to where all is settled then. */
const moments = {
  now: async () => 0,
  settled: async (db: TakenConnection) => (await readSettled(db)).settled,
  'all settled': waitForSettled,
  'all contacts settled': (db: TakenConnection) => waitForWriters(db, 'contact_number'),
  'all refused settled': (db: TakenConnection) => waitForWriters(db, 'refused_number'),
};

/**
 * Reads of one moment; with `all`, of one at which everything is settled that was acknowledged before. `settings` are SQL
 * that sets what is to be so until it is done.
 */
export const readSnapshot = <Value>(
  pool: ConnectionPool,
  wanted: keyof typeof moments,
  work: (db: Snapshot) => Promise<Value>,
  settings = '',
): Promise<Value> =>
  withConnection(
    pool,
    async (db) => {
      const settled = moments[wanted](db);
      // Only what is begun once all is settled shows all of it.
      if (wanted.startsWith('all ')) await settled;
      // What is asked goes out with what was asked before it, and is carried out after it.
      const begun = db.script(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${settings}`);
      const [value] = await Promise.all([work({ ...db, settled }), begun, settled]);
      return value;
    },
    endBehind,
  );

/** Reads with one statement, which is of one moment by itself. */
export const readOnce = <Value>(pool: ConnectionPool, work: (db: Connection) => Promise<Value>): Promise<Value> =>
  withConnection(pool, work);
