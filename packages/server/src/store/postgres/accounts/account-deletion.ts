/** Deletes accounts, a limited number of rows per transaction. */
import { Refusal } from '../../../shared/refusal.ts';
import { notifyAccess } from '../../operations/tokens.ts';
import { getRemainingPause } from '../../rules/accounts/account-deletion.ts';
import type { AccountDeletion, RequestOf } from '../../store.ts';
import { runOperation } from '../transactions/operations.ts';
import type { Transaction } from '../transactions/transaction.ts';

interface DeletionParts {
  /** Deletes up to `limit` of an account's events. Returns the number of deleted events. */
  deleteEventsOf(db: Transaction, limit: number): Promise<number>;
}

/** Listed in order of deletion: contact_changed and owner_change come after the tables whose triggers write to them. */
const tables = [
  ...['event_repeat', 'request_repeat', 'user_contact', 'erased_stretch', 'statement_place', 'statement'],
  ...['contact_user', 'claim_name', 'claim', 'merged_contact', 'erased_contact', 'contact_found', 'contact_term'],
  ...['contact_name', 'contact_address', 'contact_external_id', 'contact', 'user_name', 'user'],
  ...['contact_changed', 'owner_change', 'erased_identifier', 'erasure', 'refused_request', 'refused_count'],
  ...['import_stretch', 'import_contact', 'import'],
  ...['event_total', 'account_day', 'report_segment', 'report_view', 'share_link', 'member', 'catalogue', 'audit'],
  ...['goal', 'note', 'webhook_fact'],
] as const;

/** Returns SQL that deletes up to $2 of an account's rows. */
const deleteSQL = (table: (typeof tables)[number]): string =>
  table === 'event_repeat'
    ? // Rows in different partitions can have the same ctid.
      `DELETE FROM event_repeat r
       USING (SELECT day, holder, key FROM event_repeat WHERE account = $1 LIMIT $2) AS gone
       WHERE r.account = $1 AND r.day = gone.day AND r.holder = gone.holder AND r.key = gone.key`
    : `DELETE FROM "${table}" WHERE account = $1 AND ctid IN (SELECT ctid FROM "${table}" WHERE account = $1 LIMIT $2)`;

const end = ['account_position', 'token', 'account_deletion', 'account'].map(
  (table) => `DELETE FROM ${table} WHERE account = $1`,
);

export const createAccountDeletion = ({ deleteEventsOf }: DeletionParts) => {
  /** Deletes rows other than events. Returns whether there were any. */
  const deleteRows = async (db: Transaction, limit: number): Promise<boolean> => {
    for (const table of tables) if ((await db.run(deleteSQL(table), [db.account, limit])) > 0) return true;
    return false;
  };

  return async (db: Transaction, { account, limit, time }: RequestOf<'deleteAccount'>): Promise<AccountDeletion> => {
    const row = await db.get<{ accountUUID: string }>(
      'SELECT "accountUUID" FROM account WHERE account = $1 FOR UPDATE',
      [account],
    );
    if (!row) throw new Refusal('unknown_account', { field: 'accountUUID' });
    const progress = { ...row, deletedEvents: 0, pauseMilliseconds: 0, isGone: false };
    const begin = 'INSERT INTO account_deletion (account, "beganTime") VALUES ($1, $2) ON CONFLICT DO NOTHING';
    if ((await db.run(begin, [account, time])) > 0) {
      await db.run('UPDATE token SET "revokedTime" = $2 WHERE account = $1 AND "revokedTime" IS NULL', [account, time]);
      for (const table of ['share_link', 'webhook', 'notification'])
        await db.run(`DELETE FROM ${table} WHERE account = $1`, [account]);
      await runOperation(db, notifyAccess());
    }
    const deletedEvents = await deleteEventsOf(db, limit);
    if (deletedEvents > 0 || (await deleteRows(db, limit))) return { ...progress, deletedEvents };
    const { beganTime } = await db.one<{ beganTime: number }>(
      'SELECT "beganTime" FROM account_deletion WHERE account = $1',
      [account],
    );
    const pauseMilliseconds = getRemainingPause({ beganTime, time });
    if (pauseMilliseconds > 0) return { ...progress, pauseMilliseconds };
    // Now, everything that a server stored before it noticed the revoked tokens is visible, and was deleted above.
    db.requireExclusive();
    for (const sql of end) await db.run(sql, [account]);
    return { ...progress, isGone: true };
  };
};
