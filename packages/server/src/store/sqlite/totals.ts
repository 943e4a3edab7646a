/**
 * How many events there are of each kind and day: summed up in memory, written once for each commit. A kind's totals are
 * beside each other, so those of a commit's kinds are far from each other, on a page each. So a commit adds to
 * `recent_total`, which is a page or two, and that goes into `event_total` after some thousand events.
 */
import type { Connection } from './connection.ts';
import { createRowInsert, type RowValue } from './row-inserts.ts';
import type { Pending } from './transaction.ts';

export const quarterMilliseconds = 900_000;

export interface CountedEvent {
  readonly account: number;
  readonly day: number;
  readonly sequence: number;
  readonly eventID: number;
  readonly eventTime: number;
}

interface Sum {
  readonly account: number;
  count: number;
  firstTime: number;
  lastTime: number;
}
type TotalSum = Sum & { readonly eventID: number; readonly quarter: number };
type DaySum = Sum & { bytes: number; readonly day: number; readonly firstSequence: number; lastSequence: number };

/** So many events are counted before the recent totals are moved: each kind among them then costs a page. */
const usualEventsPerMove = 4_096;
/** Rows that a step moves. */
export const totalsPerStep = 256;

const add = (sum: Sum, time: number) => {
  sum.count += 1;
  sum.firstTime = Math.min(sum.firstTime, time);
  sum.lastTime = Math.max(sum.lastTime, time);
};

export interface Totals extends Pending {
  flush(): void;
  /** Counts an event that was inserted; sequences come in ascending order. */
  add(event: CountedEvent & { readonly bytes: number }): void;
  /**
   * Takes an event that was deleted out of the counts. Where it was a quarter's first or last, the next one isn't looked
   * for: what stands there then lies outside of the quarter. Those of a day stay. Its bytes are the average of its day.
   */
  remove(event: CountedEvent): void;
  /** Whether there may be recent totals that are worth a step. */
  isDue(): boolean;
  /** Moves some of the recent totals to the others; answers whether there may be more. To be called in a transaction. */
  step(): boolean;
  /** Moves all of them. To be called in a transaction. */
  settle(): void;
}

export const createTotals = (db: Connection, eventsPerMove = usualEventsPerMove): Totals => {
  const columns = ['account', 'eventID', 'quarter', 'count', 'firstTime', 'lastTime'];
  const addUp = `
    ON CONFLICT (account, eventID, quarter) DO UPDATE SET
      count = count + excluded.count,
      firstTime = min(firstTime, excluded.firstTime),
      lastTime = max(lastTime, excluded.lastTime)`;
  const addToRecent = createRowInsert(db, { table: 'recent_total', columns, onConflict: addUp });
  const some = `FROM recent_total ORDER BY account, eventID, quarter LIMIT ${totalsPerStep}`;
  const copySome = db.prepare(`INSERT INTO event_total (${columns}) SELECT ${columns} ${some} ${addUp}`);
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
        firstTime = iif(firstTime = @eventTime, quarter * ${quarterMilliseconds} - 1, firstTime),
        lastTime = iif(lastTime = @eventTime, (quarter + 1) * ${quarterMilliseconds}, lastTime)
    WHERE account = @account AND eventID = @eventID AND quarter = @quarter`);
  const removeDay = db.prepare(`
    UPDATE account_day SET count = count - 1, bytes = bytes - bytes / max(count, 1) WHERE account = ? AND day = ?`);
  const dropTotal = db.prepare(
    'DELETE FROM event_total WHERE account = ? AND eventID = ? AND quarter = ? AND count <= 0',
  );
  const dropDay = db.prepare('DELETE FROM account_day WHERE account = ? AND day = ? AND count <= 0');
  const totals = new Map<string, TotalSum>();
  const days = new Map<string, DaySum>();
  /** Events that were counted since the recent totals were moved; for all we know there are some at first. */
  let counted = eventsPerMove;

  const flush = () => {
    const values: RowValue[] = [];
    for (const { account, eventID, quarter, count, firstTime, lastTime } of totals.values()) {
      values.push(account, eventID, quarter, count, firstTime, lastTime);
      counted += count;
    }
    addToRecent(values);
    for (const sum of days.values()) upsertDay.run(sum);
    totals.clear();
    days.clear();
  };

  const step = (): boolean => {
    copySome.run();
    const { changes } = dropSome.run();
    if (changes === totalsPerStep) return true;
    counted = 0;
    return false;
  };

  /** None is left in the recent ones, nor in memory. */
  const settle = () => {
    flush();
    if (counted > 0) while (step());
  };

  return {
    add({ account, day, sequence, eventID, eventTime, bytes }) {
      const quarter = Math.floor(eventTime / quarterMilliseconds);
      const totalKey = `${account} ${eventID} ${quarter}`;
      let total = totals.get(totalKey);
      if (!total) {
        total = { account, eventID, quarter, count: 0, firstTime: eventTime, lastTime: eventTime };
        totals.set(totalKey, total);
      }
      add(total, eventTime);
      const dayKey = `${account} ${day}`;
      let sum = days.get(dayKey);
      if (!sum) {
        sum = {
          account,
          day,
          count: 0,
          bytes: 0,
          firstSequence: sequence,
          lastSequence: sequence,
          firstTime: eventTime,
          lastTime: eventTime,
        };
        days.set(dayKey, sum);
      }
      add(sum, eventTime);
      sum.bytes += bytes;
      sum.lastSequence = sequence;
    },
    remove({ account, day, eventID, eventTime }) {
      settle();
      const quarter = Math.floor(eventTime / quarterMilliseconds);
      removeTotal.run({ account, eventID, eventTime, quarter });
      dropTotal.run(account, eventID, quarter);
      removeDay.run(account, day);
      dropDay.run(account, day);
    },
    flush,
    isDue: () => counted >= eventsPerMove,
    step: () => counted >= eventsPerMove && step(),
    settle,
    forget() {
      totals.clear();
      days.clear();
      counted = eventsPerMove;
    },
  };
};
