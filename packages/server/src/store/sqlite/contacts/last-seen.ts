/** Computes the days on which contacts were last seen. */
import { lastDayAs, latestDay } from '../../../identity/last-seen.ts';
import { dayMilliseconds } from '../../../shared/time.ts';
import { neverSeen } from '../../rules/contact-search.ts';
import type { Connection } from '../database/connection.ts';
import type { ContactRow } from './contact-rows.ts';
import { createStatementReader } from './statements.ts';

export const createLastSeen = (db: Connection) => {
  const { usersOf, dated } = createStatementReader(db);
  const lastDayOf = db.prepare<[number], number | null>('SELECT lastDay FROM user WHERE user = ?').pluck();

  /** Returns the last day on which any contact of a merged group was seen. */
  return (group: readonly ContactRow[]): number => {
    const contacts = new Set(group.map(({ contact }) => contact));
    const users = new Set(group.flatMap(({ contact }) => usersOf(contact)));
    const days = group.map(({ lastDay }) => lastDay ?? neverSeen);
    for (const user of users) {
      const lastDay = lastDayOf.get(user) ?? null;
      const statements = dated(user).map(({ time, ...rest }) => ({ ...rest, day: Math.floor(time / dayMilliseconds) }));
      days.push(lastDayAs(contacts, statements, lastDay) ?? neverSeen);
    }
    return latestDay(days, neverSeen);
  };
};
