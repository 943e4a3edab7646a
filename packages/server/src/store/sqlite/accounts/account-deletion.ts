/** Deletes accounts, a limited number of rows per commit. */
import { Refusal } from '../../../shared/refusal.ts';
import { getRemainingPause } from '../../rules/accounts/account-deletion.ts';
import type { AccountDeletion, RequestOf } from '../../store.ts';
import type { Users } from '../contacts/users.ts';
import type { Connection } from '../database/connection.ts';
import type { CatalogueWriter } from './catalogues.ts';

interface DeletionParts {
  readonly erasures: {
    deleteEventsOf(account: number, limit: number): { deleted: number; areLast: boolean };
    endSearch(): void;
  };
  readonly users: Pick<Users, 'forget'>;
  readonly catalogues: Pick<CatalogueWriter, 'forget'>;
}

/** The tables with their keys, and the condition for an account's rows. */
const erasureTables = [
  ...['erased_stretch (user, after, erasure)', 'erased_contact (contact)', 'erased_identifier (hash)'],
  ...['erasing_contact (contact)', 'erasing_user (erasure, user)', 'erasing_refused (erasure)'],
].map((table) => [table, 'erasure IN (SELECT erasure FROM erasure WHERE account = @account)'] as const);
const accountTables = [
  // Deleted first, because an undone import references its erasure.
  ...['import_stretch (importID, after)', 'import_contact (importID, contact)', 'import (importID)'],
  'erasure (erasure)',
  'contact_found (contact)',
  'contact_term (account, term, createdTime, contact)',
  'recent_total (account, eventID, quarter)',
  'event_total (account, eventID, quarter)',
  'account_day (account, day)',
  'report_segment (account, segmentName)',
  'report_view (account, viewName)',
  'goal (account, goalID)',
  'note (account, noteID)',
  'share_link (shareID)',
  'webhook_fact (account, sequence)',
  'member (memberID)',
  'catalogue (account, kind, id)',
  'audit (audit)',
].map((table) => [table, 'account = @account'] as const);
const tokenTables = ['refused_request (refused)', 'refused_count (token)'].map(
  (table) => [table, 'token IN (SELECT token FROM token WHERE account = @account)'] as const,
);

/** A user or a contact has several rows in other tables, so a step deletes fewer users or contacts by this factor. */
const rowsPerUserOrContact = 4;

export const createAccountDeletion = (db: Connection, { erasures, users, catalogues }: DeletionParts) => {
  const find = db.prepare<[number], string>('SELECT accountUUID FROM account WHERE account = ?').pluck();
  const begin = db.prepare('INSERT INTO account_deletion VALUES (@account, @time) ON CONFLICT DO NOTHING');
  const beganTime = db.prepare<[number], number>('SELECT beganTime FROM account_deletion WHERE account = ?').pluck();
  const revokeTokens = db.prepare(
    'UPDATE token SET revokedTime = @time WHERE account = @account AND revokedTime IS NULL',
  );
  const deleteAtBegin = ['webhook', 'notification'].map((table) =>
    db.prepare<[number]>(`DELETE FROM ${table} WHERE account = ?`),
  );
  const prepareDrop = ([table, condition]: readonly [string, string]) => {
    const [name = '', key = ''] = table.slice(0, -1).split(' (');
    return db.prepare<{ account: number; limit: number }>(
      `DELETE FROM ${name} WHERE (${key}) IN (SELECT ${key} FROM ${name} WHERE ${condition} LIMIT @limit)`,
    );
  };
  const dropFirst = [...erasureTables, ...tokenTables].map(prepareDrop);
  const dropLast = accountTables.map(prepareDrop);

  /** Selects the next users or contacts as a JSON list of row numbers, or '[]' if there are none left. */
  const nextOf = (what: 'user' | 'contact') =>
    db
      .prepare<{ account: number; limit: number }, string>(
        `SELECT json_group_array(${what}) FROM (SELECT ${what} FROM ${what} WHERE account = @account LIMIT @limit)`,
      )
      .pluck();
  const givenNumbers = '(SELECT value FROM json_each(?))';
  const dropPostings = (what: number) =>
    `DELETE FROM event_posting WHERE segment IN (SELECT segment FROM event_segment) AND what = ${what} AND number IN ${givenNumbers}`;
  const groups = [
    {
      next: nextOf('user'),
      drops: [
        `DELETE FROM statement WHERE user IN ${givenNumbers}`,
        `DELETE FROM claim WHERE user IN ${givenNumbers}`,
        dropPostings(0),
        `DELETE FROM user WHERE user IN ${givenNumbers}`,
      ],
    },
    {
      next: nextOf('contact'),
      drops: [
        `UPDATE contact SET mergedInto = NULL WHERE mergedInto IN ${givenNumbers}`,
        `DELETE FROM contact_tag WHERE contact IN ${givenNumbers}`,
        `DELETE FROM contact_attr WHERE contact IN ${givenNumbers}`,
        `DELETE FROM request_repeat WHERE contact IN ${givenNumbers}`,
        dropPostings(1),
        `DELETE FROM contact WHERE contact IN ${givenNumbers}`,
        `DELETE FROM contact_changed WHERE contact IN ${givenNumbers}`,
      ],
    },
  ].map(({ next, drops }) => ({ next, drops: drops.map((sql) => db.prepare(sql)) }));

  const dropPostingsOfAccount = db.prepare(`
    DELETE FROM event_posting
    WHERE segment IN (SELECT segment FROM event_segment) AND what IN (2, 3) AND number = @account`);
  // Keeps these rows, but without references, because other accounts' feed readers identify their position by a row's
  // mark.
  const emptyChanges = db.prepare(`
    UPDATE owner_change SET account = 0, user = NULL, contact = NULL, after = NULL, through = NULL
    WHERE change IN (SELECT change FROM owner_change WHERE account = @account LIMIT @limit)`);
  const end = [
    'UPDATE position SET lastAccount = max(lastAccount, (SELECT max(account) FROM account))',
    'UPDATE position SET lastToken = max(lastToken, coalesce((SELECT max(token) FROM token), 0))',
    'DELETE FROM token WHERE account = @account',
    'DELETE FROM account_deletion WHERE account = @account',
    'DELETE FROM account WHERE account = @account',
  ].map((sql) => db.prepare<{ account: number }>(sql));

  /** Deletes the next users or contacts with all rows that reference them. Returns whether there were any. */
  const dropGroup = ({ next, drops }: (typeof groups)[number], account: number, limit: number): boolean => {
    const some = next.get({ account, limit: Math.ceil(limit / rowsPerUserOrContact) }) as string;
    if (some === '[]') return false;
    for (const drop of drops) drop.run(some);
    return true;
  };

  /** Deletes some rows other than events. Returns whether there were any. */
  const dropRows = (account: number, limit: number): boolean => {
    const some = { account, limit };
    return (
      dropFirst.some((drop) => drop.run(some).changes > 0) ||
      groups.some((group) => dropGroup(group, account, limit)) ||
      dropLast.some((drop) => drop.run(some).changes > 0) ||
      dropPostingsOfAccount.run({ account }).changes > 0 ||
      emptyChanges.run(some).changes > 0
    );
  };

  return ({ account, limit, time }: RequestOf<'deleteAccount'>): AccountDeletion => {
    const accountUUID = find.get(account);
    if (accountUUID === undefined) throw new Refusal('unknown_account', { field: 'accountUUID' });
    const progress = { accountUUID, deletedEvents: 0, pauseMilliseconds: 0, isGone: false };
    if (begin.run({ account, time }).changes > 0) {
      revokeTokens.run({ account, time });
      for (const statement of deleteAtBegin) statement.run(account);
    }
    const { deleted, areLast } = erasures.deleteEventsOf(account, limit);
    if (!areLast) return { ...progress, deletedEvents: deleted };
    if (deleted > 0 || dropRows(account, limit)) return { ...progress, deletedEvents: deleted };
    const pauseMilliseconds = getRemainingPause({ beganTime: beganTime.get(account) as number, time });
    if (pauseMilliseconds > 0) return { ...progress, pauseMilliseconds };
    for (const statement of end) statement.run({ account });
    erasures.endSearch();
    users.forget();
    catalogues.forget();
    return { ...progress, isGone: true };
  };
};
