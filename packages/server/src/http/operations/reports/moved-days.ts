/** Moves the days of a shared report forward, so that "the last 30 days" stays the last 30 days. */
import { createOffsetLookup, day } from '../calendar.ts';

export type Moving = 'day' | 'month';

/** Matches days from the year 1000 on, because JavaScript interprets years below 100 as 19xx. */
const dayForm = /^([1-9]\d{3})-(\d\d)-(\d\d)$/;

const clockAt = (time: number, timeZone: string): Date => new Date(time + createOffsetLookup(timeZone)(time));

const daysSince1970 = (clock: Date): number => Math.floor(clock.getTime() / day);
const monthsSince1970 = (clock: Date): number => (clock.getUTCFullYear() - 1970) * 12 + clock.getUTCMonth();

/** Whether a range's start or end can be moved: it must be a day, or the first of a month if it moves by months. */
export const canMove = (text: unknown, moving: Moving): text is string =>
  typeof text === 'string' && dayForm.test(text) && (moving === 'day' || text.endsWith('-01'));

/**
 * Returns a function that moves a day (`2026-11-01`) forward by the number of days or months that have started in the
 * time zone between two times (milliseconds since 1970).
 */
export const createDayMover = (moving: Moving, timeZone: string, since: number, until: number) => {
  const [before, now] = [clockAt(since, timeZone), clockAt(until, timeZone)];
  const days = moving === 'day' ? daysSince1970(now) - daysSince1970(before) : 0;
  const months = moving === 'month' ? monthsSince1970(now) - monthsSince1970(before) : 0;
  return (text: string): string => {
    const [, year, month, date] = (dayForm.exec(text) as RegExpExecArray).map(Number) as [0, number, number, number];
    return new Date(Date.UTC(year, month - 1 + months, date + days)).toISOString().slice(0, 10);
  };
};

/** Returns the day after a time, or the first day of the next month, in the time zone. */
export const endOfPeriod = (moving: Moving, timeZone: string, time: number): string => {
  const clock = clockAt(time, timeZone);
  const [year, month, date] = [clock.getUTCFullYear(), clock.getUTCMonth(), clock.getUTCDate()];
  const end = moving === 'day' ? Date.UTC(year, month, date + 1) : Date.UTC(year, month + 1);
  return new Date(end).toISOString().slice(0, 10);
};
