/**
 * Counts events by eventID and quarter hour, and by account and day, once per commit. `event_total` is clustered by
 * eventID, so writing to it would change a page per eventID. A commit writes to the small table `recent_total` instead,
 * whose rows are moved to `event_total` after a few thousand events.
 */
import { type CountedEvent, createSums, quarterHourMilliseconds, quarterHourOf } from '../../rules/rollups.ts';
import type { Connection } from '../database/connection.ts';
import { createRowInsert, type RowValue } from '../database/row-inserts.ts';

/** The number of events after which recent rollups are moved. A move changes a page per eventID. */
const defaultEventsPerMove = 4_096;
/** The number of rows that a step moves. */
export const totalsPerStep = 256;

export const createRollups = (db: Connection, eventsPerMove = defaultEventsPerMove) => {
  const columns = ['account', 'eventID', 'quarter', 'count', 'firstTime', 'lastTime'];
  const onConflict = `
    ON CONFLICT (account, eventID, quarter) DO UPDATE SET
      count = count + excluded.count,
      firstTime = min(firstTime, excluded.firstTime),
      lastTime = max(lastTime, excluded.lastTime)`;
  const addToRecent = createRowInsert(db, { table: 'recent_total', columns, onConflict });
  const some = `FROM recent_total ORDER BY account, eventID, quarter LIMIT ${totalsPerStep}`;
  const copySome = db.prepare(`INSERT INTO event_total (${columns}) SELECT ${columns} ${some} ${onConflict}`);
  const dropSome = db.prepare(`
    DELETE FROM recent_total WHERE (account, eventID, quarter) IN (SELECT account, eventID, quarter ${some})`);
  const upsertDay = db.prepare(`
    INSERT INTO account_day (account, day, count, bytes, firstSequence, lastSequence, firstTime, lastTime)
    VALUES (@account, @day, @count, @bytes, @firstSequence, @lastSequence, @firstTime, @lastTime)
    ON CONFLICT (account, day) DO UPDATE
    SET count = count + @count, bytes = bytes + @bytes, lastSequence = max(lastSequence, @lastSequence),
        firstTime = min(firstTime, @firstTime), lastTime = max(lastTime, @lastTime)`);
  const removeTotal = db.prepare(`
    UPDATE event_total
    SET count = count - 1,
        firstTime = iif(firstTime = @eventTime, quarter * ${quarterHourMilliseconds} - 1, firstTime),
        lastTime = iif(lastTime = @eventTime, (quarter + 1) * ${quarterHourMilliseconds}, lastTime)
    WHERE account = @account AND eventID = @eventID AND quarter = @quarter`);
  const removeDay = db.prepare(`
    UPDATE account_day SET count = count - 1, bytes = bytes - bytes / max(count, 1) WHERE account = ? AND day = ?`);
  const dropTotal = db.prepare(
    'DELETE FROM event_total WHERE account = ? AND eventID = ? AND quarter = ? AND count <= 0',
  );
  const dropDay = db.prepare('DELETE FROM account_day WHERE account = ? AND day = ? AND count <= 0');
  const isStored = db
    .prepare<{ account: number; eventID: number }, 0 | 1>(`
      SELECT EXISTS (SELECT 1 FROM event_total WHERE account = @account AND eventID = @eventID)
        OR EXISTS (SELECT 1 FROM recent_total WHERE account = @account AND eventID = @eventID)`)
    .pluck();
  const sums = createSums();
  /** The number of events since recent rollups were moved. Initially assumes a backlog from a previous server. */
  let counted = eventsPerMove;

  const flush = () => {
    const { totals, days } = sums.take();
    const values: RowValue[] = [];
    for (const { account, eventID, quarter, count, firstTime, lastTime } of totals) {
      values.push(account, eventID, quarter, count, firstTime, lastTime);
      counted += count;
    }
    addToRecent(values);
    for (const sum of days) upsertDay.run(sum);
  };

  const step = (): boolean => {
    copySome.run();
    const { changes } = dropSome.run();
    if (changes === totalsPerStep) return true;
    counted = 0;
    return false;
  };

  /** Writes and moves all rollups, leaving none in memory or `recent_total`. Call it in a transaction. */
  const settle = () => {
    flush();
    if (counted > 0) while (step());
  };

  return {
    /** Counts an inserted event. Call it in ascending order of sequence. */
    add: sums.add,
    /**
     * Subtracts a deleted event, with its day's average size. If it was the first or last event of a quarter hour,
     * moves the stored time outside of that quarter hour, which is cheaper than searching for the new first or last
     * event. Does not change a day's times.
     */
    remove({ account, day, eventID, eventTime }: CountedEvent): void {
      settle();
      const quarter = quarterHourOf(eventTime);
      removeTotal.run({ account, eventID, eventTime, quarter });
      dropTotal.run(account, eventID, quarter);
      removeDay.run(account, day);
      dropDay.run(account, day);
    },
    /** Whether an event with this eventID is counted. */
    has: (account: number, eventID: number): boolean =>
      sums.has(account, eventID) || isStored.get({ account, eventID }) === 1,
    flush,
    /** Whether there may be enough recent rollups to move. */
    isDue: (): boolean => counted >= eventsPerMove,
    /** Moves some recent rollups to `event_total`. Returns whether there may be more. Call it in a transaction. */
    step: (): boolean => counted >= eventsPerMove && step(),
    settle,
    forget() {
      sums.take();
      counted = eventsPerMove;
    },
  };
};
export type Rollups = ReturnType<typeof createRollups>;
