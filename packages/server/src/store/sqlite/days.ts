/** The days on which an account has events: where each lies in the order, and between which eventTimes. */
import type { Connection } from './connection.ts';
import type { Range } from './event-finder.ts';

export interface DaySpan {
  readonly day: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
}

export interface DayRange {
  readonly account: number;
  /** Only days that may hold events with from ≤ eventTime < to, and after < sequence ≤ through. */
  readonly from: number;
  readonly to: number;
  readonly after: number;
  readonly through: number;
}

/**
 * Where these days lie in the order. Those that follow each other are one range, and so are those with at most `mostBetween`
 * events of others between them: a new range costs more than to pass over these.
 */
export const toRanges = (days: readonly DaySpan[], mostBetween = 0): Range[] => {
  const ranges: { after: number; through: number }[] = [];
  days.forEach(({ day, firstSequence, lastSequence }, nth) => {
    const last = ranges.at(-1);
    const follows = days[nth - 1]?.day === day - 1;
    if (last && (follows || firstSequence - last.through - 1 <= mostBetween)) last.through = lastSequence;
    else ranges.push({ after: firstSequence - 1, through: lastSequence });
  });
  return ranges;
};

export const createDayReader = (db: Connection) => {
  const select = db.prepare<unknown[], DaySpan>(`
    SELECT day, firstSequence, lastSequence FROM account_day
    WHERE account = @account AND lastTime >= @from AND firstTime < @to
      AND lastSequence > @after AND firstSequence <= @through
    ORDER BY day`);
  return (range: DayRange): DaySpan[] => select.all(range);
};
