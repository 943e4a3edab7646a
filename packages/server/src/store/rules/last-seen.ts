/** Computes, from stored rows, the day on which a contact was last seen. */
import { lastDayAs, latestDay } from '../../identity/last-seen.ts';
import type { Statement } from '../../identity/statements.ts';
import { dayMilliseconds } from '../../shared/time.ts';
import { neverSeen } from './contact-search.ts';

/** A user that was linked to a contact, with all its statements. */
interface LinkedUser {
  readonly lastDay: number | null;
  readonly statements: readonly (Statement & { readonly time: number; readonly seenDay: number | null })[];
}

/** Returns the last day on which any contact of a merged group was seen. */
export const lastSeenOf = (
  group: readonly { readonly contact: number; readonly lastDay: number | null }[],
  users: Iterable<LinkedUser>,
): number => {
  const contacts = new Set(group.map(({ contact }) => contact));
  const days = group.map(({ lastDay }) => lastDay ?? neverSeen);
  for (const { lastDay, statements } of users) {
    const dated = statements.map(({ time, ...rest }) => ({ ...rest, day: Math.floor(time / dayMilliseconds) }));
    days.push(lastDayAs(contacts, dated, lastDay) ?? neverSeen);
  }
  return latestDay(days, neverSeen);
};
