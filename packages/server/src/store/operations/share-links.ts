/** Operations on share links. Each shows one report view to anyone who has its secret. */
import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../../shared/refusal.ts';
import type { ListedShareLink, OpenedShareLink, RequestOf } from '../store.ts';
import { all, db, first, lockAccount, type Operation, run } from './operation.ts';
import { lockCreator } from './tokens.ts';

export function* createShareLink(request: RequestOf<'createShareLink'>): Operation<void> {
  const { shareID, account, hash, shareName, page, view, expiresTime, by = null, time } = request;
  yield* lockAccount(account);
  if (by !== null) yield* lockCreator(by, time);
  yield* run(db.deleteFrom('share_link').where('account', '=', account).where('expiresTime', '<=', time));
  const links = yield* all(db.selectFrom('share_link').select('shareID').where('account', '=', account));
  if (links.length >= limits.shareLinksPerAccount) {
    const message = `the account already has ${limits.shareLinksPerAccount} share links: revoke one with revokeShareLink`;
    throw new Refusal('invalid_field', { field: 'shareName', message });
  }
  const row = { shareID, account, hash, shareName, page, view, expiresTime, createdBy: by, createdTime: time };
  yield* run(db.insertInto('share_link').values(row));
}

export function* revokeShareLink({ account, shareID }: RequestOf<'revokeShareLink'>): Operation<void> {
  const deleted = yield* run(db.deleteFrom('share_link').where('account', '=', account).where('shareID', '=', shareID));
  if (deleted === 0) throw new Refusal('unknown_share_link', { field: 'shareID' });
}

export function* recordShareLinkUse({ shareID, time }: RequestOf<'recordShareLinkUse'>): Operation<void> {
  yield* run(
    db
      .updateTable('share_link')
      .set({ lastUsedTime: time })
      .where('shareID', '=', shareID)
      .where((eb) => eb.or([eb('lastUsedTime', 'is', null), eb('lastUsedTime', '<', time)])),
  );
}

/** Ignores links of accounts that are being deleted. */
export function* findShareLink({ hash, time }: RequestOf<'findShareLink'>): Operation<OpenedShareLink | undefined> {
  const row = yield* first(
    db
      .selectFrom('share_link as s')
      .innerJoin('account as a', 'a.account', 's.account')
      .select(['s.shareID', 's.account', 's.shareName', 's.page', 's.view', 's.createdTime', 's.expiresTime'])
      .select(['s.lastUsedTime', 'a.accountOrigin', 'a.accountTimezone', 'a.accountCurrency'])
      .where('s.hash', '=', hash)
      .where('s.expiresTime', '>', time),
  );
  if (!row) return undefined;
  const { account, accountOrigin } = row;
  // Not a join: on a cluster, this table is not co-located with the links.
  if (yield* first(db.selectFrom('account_deletion').select('account').where('account', '=', account)))
    return undefined;
  return { ...row, accountOrigin: typeof accountOrigin === 'string' ? JSON.parse(accountOrigin) : accountOrigin };
}

export function* listShareLinks({ account, views = false }: RequestOf<'listShareLinks'>): Operation<ListedShareLink[]> {
  const query = db
    .selectFrom('share_link as s')
    .leftJoin('token as t', 't.token', 's.createdBy')
    .select(['s.shareID', 's.shareName', 's.page', 's.createdTime', 't.tokenID as createdBy', 't.memberID'])
    .select(['s.expiresTime', 's.lastUsedTime'])
    .where('s.account', '=', account)
    .orderBy('s.createdTime', 'desc')
    .orderBy('s.shareID');
  if (views) return yield* all(query.select('s.view'));
  const rows = yield* all(query);
  return rows.map((row) => ({ ...row, view: null }));
}
