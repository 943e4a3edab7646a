/** Measures an account's usage: its row counts by kind, and their bytes. */
import { storedBytesOf } from '../../rules/row-bytes.ts';
import type { AccountDetail } from '../../store.ts';
import type { Connection } from '../database/connection.ts';

/**
 * SQL for the bytes of a day's remaining events, from account_day. Uses the average size, because deletions reduce only
 * `count`.
 */
export const bytesLeft =
  '(sum(bytes) * greatest(sum(count), 0) / greatest(sum(count) FILTER (WHERE count > 0), 1))::bigint';

const valueBytes = 'coalesce(sum(length(said::text)), 0)::bigint AS bytes';

export const readUsage = async (
  db: Connection,
  account: number,
): Promise<Pick<AccountDetail, 'usage' | 'storedBytes'>> => {
  const [contacts, claims, users, events] = await Promise.all([
    db.one<{ rows: number; count: number; bytes: number }>(
      `SELECT count(*) AS rows, count(*) FILTER (WHERE "mergedInto" IS NULL) AS count,
         coalesce(sum(length(said::text) + coalesce(length("contactExternalID"), 0)), 0)::bigint AS bytes
       FROM contact WHERE account = $1`,
      [account],
    ),
    db.one<{ rows: number; bytes: number }>(`SELECT count(*) AS rows, ${valueBytes} FROM claim WHERE account = $1`, [
      account,
    ]),
    db.one<{ count: number }>('SELECT count(*) FROM user_name WHERE account = $1', [account]),
    db.one<{ count: number; bytes: number }>(
      `SELECT coalesce(sum(count), 0)::bigint AS count, coalesce(sum(bytes), 0)::bigint AS bytes
       FROM (SELECT sum(count) AS count, ${bytesLeft} AS bytes FROM account_day WHERE account = $1 GROUP BY day) AS of_day`,
      [account],
    ),
  ]);
  return {
    usage: { contacts: contacts.count, users: users.count, events: events.count },
    storedBytes: storedBytesOf({
      users: users.count,
      contacts: contacts.rows,
      claims: claims.rows,
      eventBytes: events.bytes,
      valueBytes: contacts.bytes + claims.bytes,
    }),
  };
};
