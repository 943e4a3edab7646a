/** Deletes accounts, some rows in each transaction. */
import { Refusal } from '../../../shared/refusal.ts';
import { notifyAccess } from '../../operations/tokens.ts';
import { restOfPause } from '../../rules/accounts/account-deletion.ts';
import type { AccountDeletion, RequestOf } from '../../store.ts';
import { runOperation } from '../transactions/operations.ts';
import type { Transaction } from '../transactions/transaction.ts';

interface DeletionParts {
  /** Deletes up to `most` events of an account. Returns how many. */
  deleteEventsOf(db: Transaction, most: number): Promise<number>;
}

/** Triggers list what changes of users and contacts, so these lists come after them. */
const tables = [
  ...['event_repeat', 'request_repeat', 'user_contact', 'erased_stretch', 'statement_place', 'statement'],
  ...['contact_user', 'claim_name', 'claim', 'merged_contact', 'erased_contact', 'contact_found', 'contact_term'],
  ...['contact_name', 'contact_address', 'contact_external_id', 'contact', 'user_name', 'user'],
  ...['contact_changed', 'owner_change', 'erased_identifier', 'erasure', 'refused_request', 'refused_count'],
  ...['event_total', 'account_day', 'report_segment', 'report_view', 'share_link', 'member', 'catalogue', 'audit'],
] as const;

/** Deletes up to $2 rows of an account. */
const dropping = (table: (typeof tables)[number]): string =>
  table === 'event_repeat'
    ? // Rows of two partitions may have the same ctid.
      `DELETE FROM event_repeat r
       USING (SELECT day, holder, key FROM event_repeat WHERE account = $1 LIMIT $2) AS gone
       WHERE r.account = $1 AND r.day = gone.day AND r.holder = gone.holder AND r.key = gone.key`
    : `DELETE FROM "${table}" WHERE account = $1 AND ctid IN (SELECT ctid FROM "${table}" WHERE account = $1 LIMIT $2)`;

const end = ['account_position', 'token', 'account_deletion', 'account'].map(
  (table) => `DELETE FROM ${table} WHERE account = $1`,
);

export const createAccountDeletion = ({ deleteEventsOf }: DeletionParts) => {
  /** Deletes some rows other than events. Returns whether there were any. */
  const dropRows = async (db: Transaction, most: number): Promise<boolean> => {
    for (const table of tables) if ((await db.run(dropping(table), [db.account, most])) > 0) return true;
    return false;
  };

  return async (db: Transaction, { account, most, time }: RequestOf<'deleteAccount'>): Promise<AccountDeletion> => {
    const found = await db.get<{ accountUUID: string }>(
      'SELECT "accountUUID" FROM account WHERE account = $1 FOR UPDATE',
      [account],
    );
    if (!found) throw new Refusal('unknown_account', { field: 'accountUUID' });
    const progress = { ...found, deletedEvents: 0, pauseMilliseconds: 0, isGone: false };
    const begin = 'INSERT INTO account_deletion (account, "beganTime") VALUES ($1, $2) ON CONFLICT DO NOTHING';
    if ((await db.run(begin, [account, time])) > 0) {
      await db.run('UPDATE token SET "revokedTime" = $2 WHERE account = $1 AND "revokedTime" IS NULL', [account, time]);
      await db.run('DELETE FROM share_link WHERE account = $1', [account]);
      await runOperation(db, notifyAccess());
    }
    const deletedEvents = await deleteEventsOf(db, most);
    if (deletedEvents > 0 || (await dropRows(db, most))) return { ...progress, deletedEvents };
    const { beganTime } = await db.one<{ beganTime: number }>(
      'SELECT "beganTime" FROM account_deletion WHERE account = $1',
      [account],
    );
    const pauseMilliseconds = restOfPause({ beganTime, time });
    if (pauseMilliseconds > 0) return { ...progress, pauseMilliseconds };
    // What a server stored before it knew of the revoked tokens is visible then, and was looked for above.
    db.requireAlone();
    for (const sql of end) await db.run(sql, [account]);
    return { ...progress, isGone: true };
  };
};
