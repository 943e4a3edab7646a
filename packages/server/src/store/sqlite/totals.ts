/** How many events there are of each kind and day: summed up in memory, written once for each commit. */
import type { Connection } from './connection.ts';
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
type DaySum = Sum & { readonly day: number; readonly firstSequence: number; lastSequence: number };

const add = (sum: Sum, time: number) => {
  sum.count += 1;
  sum.firstTime = Math.min(sum.firstTime, time);
  sum.lastTime = Math.max(sum.lastTime, time);
};

export interface Totals extends Pending {
  flush(): void;
  /** Counts an event that was inserted; sequences come in ascending order. */
  add(event: CountedEvent): void;
  /**
   * Takes an event that was deleted out of the counts. Where it was a quarter's first or last, the next one isn't looked
   * for: what stands there then lies outside of the quarter. Those of a day stay.
   */
  remove(event: CountedEvent): void;
}

export const createTotals = (db: Connection): Totals => {
  const upsertTotal = db.prepare(`
    INSERT INTO event_total (account, eventID, quarter, count, firstTime, lastTime)
    VALUES (@account, @eventID, @quarter, @count, @firstTime, @lastTime)
    ON CONFLICT (account, eventID, quarter) DO UPDATE
    SET count = count + @count, firstTime = min(firstTime, @firstTime), lastTime = max(lastTime, @lastTime)`);
  const upsertDay = db.prepare(`
    INSERT INTO account_day (account, day, count, firstSequence, lastSequence, firstTime, lastTime)
    VALUES (@account, @day, @count, @firstSequence, @lastSequence, @firstTime, @lastTime)
    ON CONFLICT (account, day) DO UPDATE
    SET count = count + @count, lastSequence = max(lastSequence, @lastSequence),
        firstTime = min(firstTime, @firstTime), lastTime = max(lastTime, @lastTime)`);
  const removeTotal = db.prepare(`
    UPDATE event_total
    SET count = count - 1,
        firstTime = iif(firstTime = @eventTime, quarter * ${quarterMilliseconds} - 1, firstTime),
        lastTime = iif(lastTime = @eventTime, (quarter + 1) * ${quarterMilliseconds}, lastTime)
    WHERE account = @account AND eventID = @eventID AND quarter = @quarter`);
  const removeDay = db.prepare('UPDATE account_day SET count = count - 1 WHERE account = ? AND day = ?');
  const dropTotal = db.prepare(
    'DELETE FROM event_total WHERE account = ? AND eventID = ? AND quarter = ? AND count <= 0',
  );
  const dropDay = db.prepare('DELETE FROM account_day WHERE account = ? AND day = ? AND count <= 0');
  const totals = new Map<string, TotalSum>();
  const days = new Map<string, DaySum>();

  const flush = () => {
    for (const total of totals.values()) upsertTotal.run(total);
    for (const sum of days.values()) upsertDay.run(sum);
    totals.clear();
    days.clear();
  };

  return {
    add({ account, day, sequence, eventID, eventTime }) {
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
          firstSequence: sequence,
          lastSequence: sequence,
          firstTime: eventTime,
          lastTime: eventTime,
        };
        days.set(dayKey, sum);
      }
      add(sum, eventTime);
      sum.lastSequence = sequence;
    },
    remove({ account, day, eventID, eventTime }) {
      flush();
      const quarter = Math.floor(eventTime / quarterMilliseconds);
      removeTotal.run({ account, eventID, eventTime, quarter });
      dropTotal.run(account, eventID, quarter);
      removeDay.run(account, day);
      dropDay.run(account, day);
    },
    flush,
    forget() {
      totals.clear();
      days.clear();
    },
  };
};
