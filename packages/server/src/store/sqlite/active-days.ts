/**
 * On which days something came from a user, or was logged with a contact: reads and looks for repeats pass over the others. A day
 * that is told may hold nothing any more; one that is not told never held anything.
 */

export interface ActiveDays {
  /** Null before the first. */
  readonly firstDay: number | null;
  readonly lastDay: number | null;
  /** The bit 2 ** n is set when something came n days before the last; 0 when that is not told, of before it was kept. */
  readonly days: number;
}

export const noDays: ActiveDays = { firstDay: null, lastDay: null, days: 0 };

/** Days before the last that are told: any earlier one, from the first on, may be one of them. A number is exact up to 2 ** 53. */
const daysTold = 52;
/** Looked up: to raise to a power takes ten times as long. */
const bits = Array.from({ length: daysTold }, (_, nth) => 2 ** nth);
const anyDay = 2 ** daysTold - 1;

/** With one more day. Before the last there should be none: where it was there all the same, any day may be one. */
export const withDay = ({ firstDay, lastDay, days }: ActiveDays, day: number): ActiveDays => {
  if (firstDay === null || lastDay === null) return { firstDay: day, lastDay: day, days: 1 };
  if (day < lastDay) return { firstDay: Math.min(firstDay, day), lastDay, days: 0 };
  const later = Math.min(day - lastDay, daysTold);
  // One by one, since bitwise operators know 32 bits only: what was told of days that are too long ago falls off.
  const told = ((days || anyDay) % 2 ** (daysTold - later)) * 2 ** later;
  return { firstDay, lastDay: day, days: later === 0 ? days : told + 1 };
};

/** Whether anything may have come on a day. */
export const isActive = ({ firstDay, lastDay, days }: ActiveDays, day: number): boolean => {
  if (firstDay === null || lastDay === null || day < firstDay || day > lastDay) return false;
  const ago = lastDay - day;
  return ago === 0 || days === 0 || ago >= daysTold || Math.floor(days / (bits[ago] as number)) % 2 === 1;
};
