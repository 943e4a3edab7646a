/** Views: pages of reports of the console that an account saves under names. */
import { checkRoomForView, unknownView } from '../../rules/accounts/views.ts';
import type { RequestOf, SavedView } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import type { Transaction } from '../transactions/transaction.ts';

export const saveView = async (
  db: Transaction,
  { account, viewName, page, query, time }: RequestOf<'saveView'>,
): Promise<{ replaced: boolean }> => {
  // Saves of one account wait for each other here, so that each counts the views of those before it.
  await db.all('SELECT 1 FROM account_position WHERE account = $1 FOR NO KEY UPDATE', [account]);
  const { count, replaced } = await db.one<{ count: number; replaced: boolean }>(
    `SELECT count(*) AS count, coalesce(bool_or("viewName" = $2), false) AS replaced FROM report_view WHERE account = $1`,
    [account, viewName],
  );
  if (!replaced) checkRoomForView(Number(count));
  await db.run(
    `INSERT INTO report_view (account, "viewName", page, query, "createdTime", "updatedTime") VALUES ($1, $2, $3, $4, $5, $5)
     ON CONFLICT (account, "viewName") DO UPDATE SET page = $3, query = $4, "updatedTime" = $5`,
    [account, viewName, page, query, time],
  );
  return { replaced };
};

export const deleteView = async (db: Transaction, { account, viewName }: RequestOf<'deleteView'>): Promise<void> => {
  const deleted = await db.run('DELETE FROM report_view WHERE account = $1 AND "viewName" = $2', [account, viewName]);
  if (deleted === 0) throw unknownView();
};

export const listViews = (db: Connection, { account }: RequestOf<'listViews'>): Promise<SavedView[]> =>
  db.all<SavedView>(
    `SELECT "viewName", page, query, "createdTime", "updatedTime" FROM report_view
     WHERE account = $1 ORDER BY "viewName"`,
    [account],
  );
