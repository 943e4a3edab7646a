/** Finds the days on which an account has events, by sequence and eventTime. */
import type { DayRange, DaySpan } from '../../rules/event-pages.ts';
import type { Connection } from '../database/connection.ts';
import type { Range } from '../event-log/event-log.ts';

/**
 * Returns the sequence ranges of the days. Joins consecutive days, and days with at most `maxBetween` events between
 * them, because a new range costs more than skipping these events.
 */
export const toRanges = (days: readonly DaySpan[], maxBetween = 0): Range[] => {
  const ranges: { after: number; through: number }[] = [];
  days.forEach(({ day, firstSequence, lastSequence }, nth) => {
    const last = ranges.at(-1);
    const follows = days[nth - 1]?.day === day - 1;
    if (last && (follows || firstSequence - last.through - 1 <= maxBetween)) last.through = lastSequence;
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
