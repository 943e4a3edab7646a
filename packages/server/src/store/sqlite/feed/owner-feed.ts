/** Feeds an account's owner changes to reports. */
import type { FeedErasure, OwnerFeedPage } from '../../report-feed.ts';
import {
  formatPosition,
  listMergeOwners,
  type OwnerChange,
  type OwnerPosition,
  ownersPerPart,
  positionOf,
  toFeedErasures,
  toOwnershipRanges,
} from '../../rules/feed/owner-feed.ts';
import type { RequestOf } from '../../store.ts';
import { createStatementReader } from '../contacts/statements.ts';
import type { Connection } from '../database/connection.ts';
import { createErasingReader } from '../erasure/erased-stretches.ts';

type ChangeRow = OwnerChange & { readonly account: number };

export const createOwnerFeed = (db: Connection) => {
  const statements = createStatementReader(db);
  const erasing = createErasingReader(db);
  const newestChange = db
    .prepare<[], number>(`SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'owner_change'`)
    .pluck();
  const changesAfter = db.prepare<[number], ChangeRow>(
    `SELECT * FROM owner_change WHERE change > ? ORDER BY change LIMIT ${ownersPerPart}`,
  );
  const markUpTo = db
    .prepare<[number], number>('SELECT mark FROM owner_change WHERE change <= ? ORDER BY change DESC LIMIT 1')
    .pluck();
  const markAt = (change: number): number => markUpTo.get(change) ?? 0;
  const linkedUsers = db
    .prepare<[number, number], number>(`
      SELECT DISTINCT s.user FROM statement s JOIN user u ON u.user = s.user
      WHERE s.user > ? AND u.account = ? ORDER BY s.user LIMIT ${ownersPerPart}`)
    .pluck();
  const merged = db.prepare<[number], { contact: number; mergedInto: number }>(
    'SELECT contact, mergedInto FROM contact WHERE mergedInto <> contact AND account = ?',
  );
  const erasedStretches = db.prepare<[number], { user: number; after: number; through: number }>(`
    SELECT s.user, s.after, s.through FROM erased_stretch s JOIN erasure x ON x.erasure = s.erasure WHERE x.account = ?`);
  const erasedContacts = db.prepare<[number], { contact: number }>(`
    SELECT c.contact FROM erased_contact c JOIN erasure x ON x.erasure = c.erasure WHERE x.account = ?`);
  const undoneStretches = db.prepare<[number], { after: number; through: number }>(`
    SELECT s.after, s.through FROM import i JOIN import_stretch s ON s.importID = i.importID
    WHERE i.isUndoing = 1 AND i.account = ?`);
  const erasingUsers = db
    .prepare<[number], number>(`
      SELECT DISTINCT s.user FROM erasing_contact e JOIN erasure x ON x.erasure = e.erasure
      JOIN statement s ON s.contact = e.contact WHERE x.account = ?`)
    .pluck();

  /**
   * Returns the erasures whose events are not deleted yet, including those of users that are not detached yet
   * (detaching.ts).
   */
  const erasedOf = (account: number, notDetached: readonly number[]): FeedErasure[] => [
    ...erasedStretches.all(account),
    ...erasedContacts.all(account),
    ...undoneStretches.all(account),
    ...notDetached.flatMap((user) => erasing.stretchesOf(user).map(({ after, through }) => ({ user, after, through }))),
  ];

  return ({ account, since }: RequestOf<'feedOwners'>): OwnerFeedPage => {
    const newest = newestChange.get() as number;
    const requested = positionOf(since, newest);
    const valid = requested && markAt(requested.change) === requested.mark ? requested : undefined;
    const position: OwnerPosition = valid ?? { change: newest, mark: markAt(newest), user: 0 };
    const notDetached = erasingUsers.all(account);
    const common = {
      reset: valid === undefined,
      erased: erasedOf(account, notDetached),
    };
    const withStretches = (users: Iterable<number>) =>
      [...users].map((user) => ({ user, stretches: toOwnershipRanges(statements.forOwners(user)) }));

    if (position.user !== undefined) {
      const users = linkedUsers.all(position.user, account);
      const isLast = users.length < ownersPerPart;
      const { user: _, ...afterUsers } = position;
      const next = isLast ? afterUsers : { ...position, user: users.at(-1) as number };
      return {
        ...common,
        position: formatPosition(next),
        users: withStretches(users),
        merged: valid === undefined ? listMergeOwners(merged.all(account)) : null,
        more: !isLast || position.change < newest,
      };
    }

    const changes = changesAfter.all(position.change);
    const last = changes.at(-1)?.change ?? position.change;
    const ofAccount = changes.filter((change) => change.account === account);
    const changed = ofAccount.flatMap((change) => ('user' in change && change.what === 'user' ? change.user : []));
    const hasMerged = ofAccount.some(({ what }) => what === 'merge');
    return {
      ...common,
      position: formatPosition({ change: last, mark: markAt(last) }),
      users: withStretches(new Set([...changed, ...notDetached])),
      merged: hasMerged ? listMergeOwners(merged.all(account)) : null,
      erased: [...toFeedErasures(ofAccount), ...common.erased],
      more: last < newest,
    };
  };
};
