/**
 * On which days something came from a user, or was logged with a contact: reads and looks for repeats pass over the others. A day
 * that is told may hold nothing any more; one that is not told never held anything.
 */

export interface ActiveDays {
  /** Null before the first. */
  readonly firstDay: number | null;
  readonly lastDay: number | null;
  /**
   * The bit 2 ** n is set when something came n days before the last; 0 where that is not known: in rows older than this
   * column, and after a day before the last.
   */
  readonly days: number;
}

export const noDays: ActiveDays = { firstDay: null, lastDay: null, days: 0 };

/** The last day and those before it that are told: any earlier one, from the first on, may be one. A number is exact up to 2 ** 53. */
const daysTold = 52;
const anyDay = 2 ** daysTold - 1;

/** With one more day. None should come before the last; after one that did, any day may be one. */
export const withDay = (active: ActiveDays, day: number): ActiveDays => {
  const { firstDay, lastDay, days } = active;
  if (firstDay === null || lastDay === null) return { firstDay: day, lastDay: day, days: 1 };
  if (day < lastDay) return { firstDay: Math.min(firstDay, day), lastDay, days: 0 };
  if (day === lastDay) return active;
  const later = Math.min(day - lastDay, daysTold);
  // By arithmetic, since bitwise operators know 32 bits only. What was told of days too long ago falls off.
  const told = ((days || anyDay) % 2 ** (daysTold - later)) * 2 ** later;
  return { firstDay, lastDay: day, days: told + 1 };
};

/** Whether anything may have come on a day. */
export const isActive = ({ firstDay, lastDay, days }: ActiveDays, day: number): boolean => {
  if (firstDay === null || lastDay === null || day < firstDay || day > lastDay) return false;
  const ago = lastDay - day;
  return ago === 0 || days === 0 || ago >= daysTold || Math.floor(days / 2 ** ago) % 2 === 1;
};
