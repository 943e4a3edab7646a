/** The day on which a contact was last seen. */
import { stretchesOf } from './ownership.ts';
import type { Statement } from './statements.ts';

/** A statement with the day on which it was made, and the last day on which its user had been active before it; null: none. */
interface DatedStatement extends Statement {
  readonly day: number;
  readonly seenDay: number | null;
}

/**
 * Returns the latest of some days, or `none`. `Math.max(...days)` throws for some 120,000, and a contact may have more users than that.
 */
export const latestDay = (days: Iterable<number>, none: number): number => {
  let latest = none;
  for (const day of days) latest = Math.max(latest, day);
  return latest;
};

/**
 * Returns the last day on which a user was active as one of these contacts, before merges are followed; null if there is none.
 * `lastDay` is the user's last day of all. `statements` are one user's, ascending by sequence. The day of a link counts for the
 * contacts on both sides of it.
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
