/**
 * The days on which a user's events, or events logged with a contact, were stored. Reads and searches for repeats skip
 * all other days. A listed day might have no events; an unlisted day never has any.
 */

export interface ActiveDays {
  /** Null before the first day. */
  readonly firstDay: number | null;
  readonly lastDay: number | null;
  /**
   * A bit set: 2 ** n is the day n days before `lastDay`. 0 if unknown: in rows older than this column, and after a day
   * before `lastDay` was added.
   */
  readonly days: number;
}

export const noDays: ActiveDays = { firstDay: null, lastDay: null, days: 0 };

/**
 * The number of days up to `lastDay` that `days` covers. All earlier days since `firstDay` count as listed. The limit
 * is 52 because numbers are exact up to 2 ** 53.
 */
const coveredDays = 52;
const anyDay = 2 ** coveredDays - 1;

/** Adds a day. Add days in ascending order; otherwise, all days from the first to the last count as listed. */
export const withDay = (active: ActiveDays, day: number): ActiveDays => {
  const { firstDay, lastDay, days } = active;
  if (firstDay === null || lastDay === null) return { firstDay: day, lastDay: day, days: 1 };
  if (day < lastDay) return { firstDay: Math.min(firstDay, day), lastDay, days: 0 };
  if (day === lastDay) return active;
  const later = Math.min(day - lastDay, coveredDays);
  // Uses arithmetic, because bitwise operators are limited to 32 bits. Drops days that are too old.
  const shifted = ((days || anyDay) % 2 ** (coveredDays - later)) * 2 ** later;
  return { firstDay, lastDay: day, days: shifted + 1 };
};

/** Whether a day is listed. */
export const isActive = ({ firstDay, lastDay, days }: ActiveDays, day: number): boolean => {
  if (firstDay === null || lastDay === null || day < firstDay || day > lastDay) return false;
  const ago = lastDay - day;
  return ago === 0 || days === 0 || ago >= coveredDays || Math.floor(days / 2 ** ago) % 2 === 1;
};
