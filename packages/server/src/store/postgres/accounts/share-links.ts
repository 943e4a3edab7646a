/** Share links: each shows one view of reports to those who have its secret. */
import { checkRoomForShareLink, unknownShareLink } from '../../rules/accounts/views.ts';
import type { ListedShareLink, OpenedShareLink, RequestOf } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { holdMaker } from './tokens.ts';

export const createShareLink = async (
  db: Transaction,
  { shareID, account, hash, shareName, page, view, expiresTime, by = null, time }: RequestOf<'createShareLink'>,
): Promise<void> => {
  // New links of one account wait for each other here, so that each counts those before it.
  await db.all('SELECT 1 FROM account WHERE account = $1 FOR NO KEY UPDATE', [account]);
  if (by !== null) await holdMaker(db, by, time);
  await db.run('DELETE FROM share_link WHERE account = $1 AND "expiresTime" <= $2', [account, time]);
  const { count } = await db.one<{ count: number }>('SELECT count(*) AS count FROM share_link WHERE account = $1', [
    account,
  ]);
  checkRoomForShareLink(Number(count));
  await db.run(
    `INSERT INTO share_link ("shareID", account, hash, "shareName", view, "createdTime", "createdBy", "expiresTime", page)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [shareID, account, hash, shareName, view, time, by, expiresTime, page],
  );
};

export const revokeShareLink = async (
  db: Transaction,
  { account, shareID }: RequestOf<'revokeShareLink'>,
): Promise<void> => {
  const deleted = await db.run('DELETE FROM share_link WHERE account = $1 AND "shareID" = $2', [account, shareID]);
  if (deleted === 0) throw unknownShareLink();
};

export const noteShareLinkUse = async (
  db: Transaction,
  { shareID, time }: RequestOf<'noteShareLinkUse'>,
): Promise<void> => {
  await db.run('UPDATE share_link SET "lastUsedTime" = $2 WHERE "shareID" = $1 AND coalesce("lastUsedTime", 0) < $2', [
    shareID,
    time,
  ]);
};

export const findShareLink = (
  db: Connection,
  { hash, time }: RequestOf<'findShareLink'>,
): Promise<OpenedShareLink | undefined> =>
  db.get<OpenedShareLink>(
    `SELECT s."shareID", s.account, s."shareName", s.page, s.view, s."createdTime", s."expiresTime", s."lastUsedTime",
       a."accountOrigin", a."accountTimezone", a."accountCurrency"
     FROM share_link s JOIN account a USING (account)
     WHERE s.hash = $1 AND $2 < s."expiresTime"`,
    [hash, time],
  );

export const listShareLinks = (
  db: Connection,
  { account, views = false }: RequestOf<'listShareLinks'>,
): Promise<ListedShareLink[]> =>
  db.all<ListedShareLink>(
    `SELECT s."shareID", s."shareName", s.page, CASE WHEN $2 THEN s.view END AS view, s."createdTime", t."tokenID" AS "createdBy", t."memberID", s."expiresTime",
       s."lastUsedTime"
     FROM share_link s LEFT JOIN token t ON t.token = s."createdBy"
     WHERE s.account = $1 ORDER BY s."createdTime" DESC, s."shareID" COLLATE "C"`,
    [account, views],
  );
