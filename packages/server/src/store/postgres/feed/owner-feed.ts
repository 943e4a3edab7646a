/** Feeds an account's owner changes to reports. */
import type { FeedErasure, OwnerFeedPage } from '../../report-feed.ts';
import {
  formatPosition,
  listMergeOwners,
  maxOwnerChanges,
  type OwnerChange,
  type OwnerPosition,
  ownersPerPart,
  positionOf,
  toFeedErasures,
  toOwnershipRanges,
} from '../../rules/feed/owner-feed.ts';
import type { RequestOf } from '../../store.ts';
import { statementsForOwners } from '../contacts/statements.ts';
import type { AccountConnection } from '../database/connection.ts';
import type { Snapshot, Transaction } from '../transactions/transaction.ts';

const readMerges = async (db: AccountConnection, account: number) =>
  listMergeOwners(
    await db.all<{ contact: number; mergedInto: number }>(
      'SELECT contact, "mergedInto" FROM contact WHERE account = $1 AND "mergedInto" IS NOT NULL',
      [account],
    ),
  );

const readUsers = async (db: AccountConnection, users: Iterable<number>) => {
  const lists = await statementsForOwners(db, [...users]);
  return [...lists].map(([user, statements]) => ({ user, stretches: toOwnershipRanges(statements) }));
};

/** Returns the erased stretches and contacts whose events are not deleted yet. */
const readErased = async (db: AccountConnection, account: number): Promise<FeedErasure[]> => {
  const [stretches, contacts, undone] = await Promise.all([
    db.all<{ user: number; after: number; through: number }>(
      'SELECT "user", after, through FROM erased_stretch WHERE account = $1',
      [account],
    ),
    db.all<{ contact: number }>('SELECT contact FROM erased_contact WHERE account = $1', [account]),
    db.all<{ after: number; through: number }>(
      `SELECT s.after, s.through FROM import i JOIN import_stretch s ON s.account = i.account AND s."importID" = i."importID"
       WHERE i.account = $1 AND i."isUndoing"`,
      [account],
    ),
  ]);
  return [...stretches, ...contacts, ...undone];
};

const readMark = async (db: AccountConnection, change: number): Promise<number> => {
  const last = await db.get<{ mark: number }>(
    'SELECT mark FROM owner_change WHERE account = $1 AND change <= $2 ORDER BY change DESC, part DESC LIMIT 1',
    [db.account, change],
  );
  return last?.mark ?? 0;
};

export const feedOwners = async (db: Snapshot, { account, since }: RequestOf<'feedOwners'>): Promise<OwnerFeedPage> => {
  const newest = await db.settled;
  const requested = positionOf(since, newest);
  const valid = requested && (await readMark(db, requested.change)) === requested.mark ? requested : undefined;
  const position: OwnerPosition = valid ?? { change: newest, mark: await readMark(db, newest), user: 0 };
  const reset = valid === undefined;
  const erased = await readErased(db, account);

  if (position.user !== undefined) {
    const rows = await db.all<{ user: number }>(
      `SELECT DISTINCT "user" FROM statement WHERE account = $1 AND "user" > $2 ORDER BY "user" LIMIT $3`,
      [account, position.user, ownersPerPart],
    );
    const users = rows.map(({ user }) => user);
    const isLast = users.length < ownersPerPart;
    const { user: _, ...afterUsers } = position;
    const next = isLast ? afterUsers : { ...position, user: users.at(-1) as number };
    return {
      reset,
      erased,
      position: formatPosition(next),
      users: await readUsers(db, users),
      merged: reset ? await readMerges(db, account) : null,
      more: !isLast || position.change < newest,
    };
  }

  const changes = await db.all<OwnerChange>(
    // Reads all changes with the last number, because on a cluster all of a transaction's changes have the same number.
    `SELECT * FROM owner_change WHERE account = $1 AND change > $2 AND change <= $3
     ORDER BY change FETCH FIRST $4 ROWS WITH TIES`,
    [account, position.change, newest, ownersPerPart],
  );
  const last = changes.length < ownersPerPart ? newest : (changes.at(-1) as OwnerChange).change;
  const changed = new Set(changes.flatMap((change) => (change.what === 'user' ? change.user : [])));
  return {
    reset,
    position: formatPosition({ change: last, mark: await readMark(db, last) }),
    users: await readUsers(db, changed),
    merged: changes.some(({ what }) => what === 'merge') ? await readMerges(db, account) : null,
    erased: [...toFeedErasures(changes), ...erased],
    more: last < newest,
  };
};

/**
 * Deletes an account's old owner changes. The newest change stays, because readers verify their position by its mark.
 */
export const trimOwnerChanges = async (db: Transaction): Promise<void> => {
  await db.run(
    `DELETE FROM owner_change
     WHERE account = $1 AND change <= (SELECT max(change) FROM owner_change WHERE account = $1) - ${maxOwnerChanges}`,
    [db.account],
  );
};
