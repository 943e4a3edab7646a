/** Reads the days on which contacts were last seen. */
import { lastSeenOf } from '../../rules/last-seen.ts';
import type { Connection } from '../database/connection.ts';
import type { ContactRow } from './contact-rows.ts';
import { createStatementReader } from './statements.ts';

export const createLastSeen = (db: Connection) => {
  const { usersOf, dated } = createStatementReader(db);
  const lastDayOf = db.prepare<[number], number | null>('SELECT lastDay FROM user WHERE user = ?').pluck();

  function* usersOfGroup(group: readonly ContactRow[]) {
    for (const user of new Set(group.flatMap(({ contact }) => usersOf(contact))))
      yield { lastDay: lastDayOf.get(user) ?? null, statements: dated(user) };
  }

  /** Returns the last day on which any contact of a merged group was seen. */
  return (group: readonly ContactRow[]): number => lastSeenOf(group, usersOfGroup(group));
};
