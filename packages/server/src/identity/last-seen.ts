/** Computes the day on which a contact was last seen. */
import { stretchesOf } from './ownership.ts';
import type { Statement } from './statements.ts';

/** A statement with its day, and the last day before it on which its user was active; null if there is none. */
interface DatedStatement extends Statement {
  readonly day: number;
  readonly seenDay: number | null;
}

/**
 * Returns the latest day, or `none` if there are no days. Unlike `Math.max(...days)`, it doesn't throw for more than
 * about 120,000 days, which a contact with many users can have.
 */
export const latestDay = (days: Iterable<number>, none: number): number => {
  let latest = none;
  for (const day of days) latest = Math.max(latest, day);
  return latest;
};

/**
 * Returns the last day on which a user was active as one of these contacts, before merges are followed; null if there
 * is none. The day of a link counts for the contacts before and after it.
 *
 * `lastDay` is the user's last active day. `statements` are one user's, ascending by sequence.
 */
export const lastDayAs = (
  contacts: ReadonlySet<number>,
  statements: readonly DatedStatement[],
  lastDay: number | null,
): number | null => {
  const bySequence = new Map(statements.map((statement) => [statement.sequence, statement]));
  let last: number | null = null;
  for (const { contact, after, through } of stretchesOf(statements)) {
    if (contact === null || !contacts.has(contact)) continue;
    const seenDay = through === Infinity ? lastDay : (bySequence.get(through)?.seenDay ?? null);
    if (seenDay !== null && seenDay >= (bySequence.get(after)?.day ?? 0)) last = Math.max(last ?? seenDay, seenDay);
  }
  return last;
};
