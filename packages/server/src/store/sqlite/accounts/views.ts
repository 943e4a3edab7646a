/** Views: pages of reports of the console that an account saves under names. */
import { checkRoomForView, unknownView } from '../../rules/accounts/views.ts';
import type { RequestOf, SavedView } from '../../store.ts';
import type { Connection } from '../database/connection.ts';

export const createViewWriter = (db: Connection) => {
  const exists = db
    .prepare<[number, string], number>('SELECT 1 FROM report_view WHERE account = ? AND viewName = ?')
    .pluck();
  const count = db.prepare<[number], number>('SELECT count(*) FROM report_view WHERE account = ?').pluck();
  const upsert = db.prepare<RequestOf<'saveView'>>(`
    INSERT INTO report_view (account, viewName, page, query, createdTime, updatedTime)
    VALUES (@account, @viewName, @page, @query, @time, @time)
    ON CONFLICT (account, viewName) DO UPDATE SET page = @page, query = @query, updatedTime = @time`);
  const remove = db.prepare<RequestOf<'deleteView'>>(
    'DELETE FROM report_view WHERE account = @account AND viewName = @viewName',
  );

  return {
    saveView(request: RequestOf<'saveView'>) {
      const { account, viewName } = request;
      const replaced = exists.get(account, viewName) !== undefined;
      if (!replaced) checkRoomForView(count.get(account) as number);
      upsert.run(request);
      return { replaced };
    },
    deleteView(request: RequestOf<'deleteView'>): void {
      if (remove.run(request).changes === 0) throw unknownView();
    },
  };
};

export const createViewReader = (db: Connection) => {
  const list = db.prepare<RequestOf<'listViews'>, SavedView>(`
    SELECT viewName, page, query, createdTime, updatedTime FROM report_view WHERE account = @account ORDER BY viewName`);
  return { listViews: (request: RequestOf<'listViews'>): SavedView[] => list.all(request) };
};
