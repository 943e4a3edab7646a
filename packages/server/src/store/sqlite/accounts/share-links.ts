/** Share links: each shows one view of reports to those who have its secret. */
import { checkRoomForShareLink, unknownShareLink } from '../../rules/accounts/views.ts';
import type { ListedShareLink, OpenedShareLink, RequestOf } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import type { TokenWriter } from './tokens.ts';

export const createShareLinkWriter = (db: Connection, tokens: Pick<TokenWriter, 'checkMaker'>) => {
  const removeEnded = db.prepare<{ account: number; time: number }>(
    'DELETE FROM share_link WHERE account = @account AND expiresTime <= @time',
  );
  const count = db.prepare<[number], number>('SELECT count(*) FROM share_link WHERE account = ?').pluck();
  const insert = db.prepare(`
    INSERT INTO share_link (shareID, account, hash, shareName, page, createdTime, createdBy, expiresTime, view)
    VALUES (@shareID, @account, @hash, @shareName, @page, @time, @by, @expiresTime, @view)`);
  const remove = db.prepare<{ account: number; shareID: string }>(
    'DELETE FROM share_link WHERE account = @account AND shareID = @shareID',
  );
  const use = db.prepare<RequestOf<'noteShareLinkUse'>>(
    'UPDATE share_link SET lastUsedTime = @time WHERE shareID = @shareID AND coalesce(lastUsedTime, 0) < @time',
  );

  return {
    createShareLink({ by = null, ...link }: RequestOf<'createShareLink'>): void {
      const { account, time } = link;
      if (by !== null) tokens.checkMaker(by, time);
      removeEnded.run({ account, time });
      checkRoomForShareLink(count.get(account) as number);
      insert.run({ ...link, by });
    },
    revokeShareLink({ account, shareID }: RequestOf<'revokeShareLink'>): void {
      if (remove.run({ account, shareID }).changes === 0) throw unknownShareLink();
    },
    noteShareLinkUse(request: RequestOf<'noteShareLinkUse'>): void {
      use.run(request);
    },
  };
};

export const createShareLinkReader = (db: Connection) => {
  const find = db.prepare<
    RequestOf<'findShareLink'>,
    Omit<OpenedShareLink, 'accountOrigin'> & { readonly accountOrigin: string }
  >(`
    SELECT s.shareID, s.account, s.shareName, s.page, s.view, s.createdTime, s.expiresTime, s.lastUsedTime,
      a.accountOrigin, a.accountTimezone, a.accountCurrency
    FROM share_link s JOIN account a USING (account)
    WHERE s.hash = @hash AND @time < s.expiresTime
      AND NOT EXISTS (SELECT 1 FROM account_deletion d WHERE d.account = s.account)`);
  const list = db.prepare<{ account: number; views: 0 | 1 }, ListedShareLink>(`
    SELECT s.shareID, s.shareName, s.page, iif(@views, s.view, NULL) AS view, s.createdTime, t.tokenID AS createdBy, t.memberID, s.expiresTime, s.lastUsedTime
    FROM share_link s LEFT JOIN token t ON t.token = s.createdBy
    WHERE s.account = @account ORDER BY s.createdTime DESC, s.shareID`);
  return {
    findShareLink(request: RequestOf<'findShareLink'>): OpenedShareLink | undefined {
      const row = find.get(request);
      return row && { ...row, accountOrigin: JSON.parse(row.accountOrigin) };
    },
    listShareLinks: ({ account, views = false }: RequestOf<'listShareLinks'>): ListedShareLink[] =>
      list.all({ account, views: views ? 1 : 0 }),
  };
};
