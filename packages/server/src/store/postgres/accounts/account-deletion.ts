/** Deletes accounts, some rows in each transaction. */
import { Refusal } from '../../../refusal.ts';
import { restOfPause } from '../../rules/accounts/account-deletion.ts';
import type { AccountDeletion, RequestOf } from '../../store.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { notifyAccess } from './access.ts';

interface DeletionParts {
  /** Deletes up to `most` events of an account. Returns how many. */
  deleteEventsOf(db: Transaction, account: number, most: number): Promise<number>;
}

/** A user or a contact has several rows in other tables, so fewer of them are deleted in a step. */
const rowsOfEach = 4;

/** Deletes the rows of users with these numbers. Each statement deletes what the next ones need no more. */
const ofUsers = [
  `DELETE FROM statement_place WHERE sequence IN (SELECT sequence FROM statement WHERE "user" = ANY ($1::bigint[]))`,
  ...['statement', 'user_contact', 'request_repeat', 'erased_stretch'].map(
    (table) => `DELETE FROM ${table} WHERE "user" = ANY ($1::bigint[])`,
  ),
  'DELETE FROM event_repeat WHERE holder = ANY ($1::bigint[])',
  `DELETE FROM user_name n USING "user" u
   WHERE u."user" = ANY ($1::bigint[]) AND n."userUUID" = u."userUUID" AND n.account = u.account`,
  'DELETE FROM "user" WHERE "user" = ANY ($1::bigint[])',
];

/** The same for contacts. */
const ofContacts = [
  'DELETE FROM claim_name n USING claim c WHERE c.contact = ANY ($1::bigint[]) AND n."claimID" = c."claimID"',
  ...['claim', 'contact_user', 'merged_contact', 'erased_contact', 'contact_found'].map(
    (table) => `DELETE FROM ${table} WHERE contact = ANY ($1::bigint[])`,
  ),
  ...[
    ['contact_name', 'contactUUID'],
    ['contact_address', 'contactEmailaddress'],
    ['contact_external_id', 'contactExternalID'],
  ].map(
    ([table, key]) =>
      `DELETE FROM ${table} n USING contact c
       WHERE c.contact = ANY ($1::bigint[]) AND n."${key}" = c."${key}" AND n.contact = c.contact`,
  ),
  'DELETE FROM event_repeat WHERE holder IN (SELECT -unnest($1::bigint[]))',
  'DELETE FROM contact WHERE contact = ANY ($1::bigint[])',
  'DELETE FROM contact_changed WHERE contact = ANY ($1::bigint[])',
];

/** Tables, and the condition of the rows that are the account's. */
const ofErasure = '(SELECT erasure FROM erasure WHERE account = $1)';
const ofToken = '(SELECT token FROM token WHERE account = $1)';
const tables = [
  ...['erased_identifier', 'erased_contact', 'erased_stretch'].map((table) => [table, `erasure IN ${ofErasure}`]),
  ...['refused_request', 'refused_count'].map((table) => [table, `token IN ${ofToken}`]),
  ...[
    'erasure',
    'contact_found',
    'contact_term',
    'event_total',
    'account_day',
    'report_segment',
    'report_view',
    'share_link',
    'member',
    'catalogue',
    'audit',
  ].map((table) => [table, 'account = $1']),
] as const;

// Readers of other accounts' changes know their place by the mark of a row, so the rows stay, and name nothing.
const emptyChanges = `
  UPDATE owner_change SET account = 0, "user" = NULL, contact = NULL, after = NULL, through = NULL
  WHERE account = $1 AND change IN (SELECT change FROM owner_change WHERE account = $1 LIMIT $2)`;

const end = ['token', 'account_deletion', 'account'].map((table) => `DELETE FROM ${table} WHERE account = $1`);

export const createAccountDeletion = ({ deleteEventsOf }: DeletionParts) => {
  /** Deletes the next users or contacts, with what names them. Returns whether there were any. */
  const dropGroup = async (
    db: Transaction,
    { what, from, drops }: { what: 'user' | 'contact'; from: string; drops: readonly string[] },
    { account, most }: { account: number; most: number },
  ): Promise<boolean> => {
    const rows = await db.all<{ number: number }>(
      `SELECT "${what}" AS number FROM ${from} WHERE account = $1 ORDER BY "${what}" LIMIT $2`,
      [account, Math.ceil(most / rowsOfEach)],
    );
    const numbers = rows.map(({ number }) => number);
    if (numbers.length === 0) return false;
    for (const drop of drops) await db.run(drop, [numbers]);
    return true;
  };

  /** Deletes some rows other than events. Returns whether there were any. */
  const dropRows = async (db: Transaction, of: { account: number; most: number }): Promise<boolean> => {
    const { account, most } = of;
    if (await dropGroup(db, { what: 'user', from: 'user_name', drops: ofUsers }, of)) return true;
    if (await dropGroup(db, { what: 'contact', from: 'contact', drops: ofContacts }, of)) return true;
    for (const [table, condition] of tables) {
      const drop = `DELETE FROM ${table} WHERE ctid IN (SELECT ctid FROM ${table} WHERE ${condition} LIMIT $2)`;
      if ((await db.run(drop, [account, most])) > 0) return true;
    }
    return (await db.run(emptyChanges, [account, most])) > 0;
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
      await notifyAccess(db);
    }
    const deletedEvents = await deleteEventsOf(db, account, most);
    if (deletedEvents > 0 || (await dropRows(db, { account, most }))) return { ...progress, deletedEvents };
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
