/**
 * The days on which events of a user, or events logged with a contact, were stored: reads and searches for repeats skip the other
 * days. A listed day may be empty; a day that is not listed never had events.
 */

export interface ActiveDays {
  /** Null before the first day. */
  readonly firstDay: number | null;
  readonly lastDay: number | null;
  /**
   * Bit 2 ** n is set when n days before `lastDay` is listed. 0 when that is not known: in rows older than this column, and after a
   * day before `lastDay` was added.
   */
  readonly days: number;
}

export const noDays: ActiveDays = { firstDay: null, lastDay: null, days: 0 };

/**
 * The number of days up to `lastDay` that `days` covers. All earlier days since `firstDay` count as listed. A number is exact up to
 * 2 ** 53.
 */
const daysTold = 52;
const anyDay = 2 ** daysTold - 1;

/** Adds a day. Days should ascend; after one that doesn't, all days from the first to the last count as listed. */
export const withDay = (active: ActiveDays, day: number): ActiveDays => {
  const { firstDay, lastDay, days } = active;
  if (firstDay === null || lastDay === null) return { firstDay: day, lastDay: day, days: 1 };
  if (day < lastDay) return { firstDay: Math.min(firstDay, day), lastDay, days: 0 };
  if (day === lastDay) return active;
  const later = Math.min(day - lastDay, daysTold);
  // Arithmetic, since bitwise operators have 32 bits only. Days that are too long ago are dropped.
  const told = ((days || anyDay) % 2 ** (daysTold - later)) * 2 ** later;
  return { firstDay, lastDay: day, days: told + 1 };
};

/** Whether a day is listed. */
export const isActive = ({ firstDay, lastDay, days }: ActiveDays, day: number): boolean => {
  if (firstDay === null || lastDay === null || day < firstDay || day > lastDay) return false;
  const ago = lastDay - day;
  return ago === 0 || days === 0 || ago >= daysTold || Math.floor(days / 2 ** ago) % 2 === 1;
};
