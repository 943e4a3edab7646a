/** Views: pages of reports of the console that an account saves under names. */
import { checkRoomForView, unknownView } from '../rules/accounts/views.ts';
import type { RequestOf, SavedView } from '../store.ts';
import { all, db, lockAccount, type Operation, run } from './operation.ts';

export function* saveView(request: RequestOf<'saveView'>): Operation<{ replaced: boolean }> {
  const { account, viewName, page, query, time } = request;
  yield* lockAccount(account);
  const views = yield* all(db.selectFrom('report_view').select('viewName').where('account', '=', account));
  const replaced = views.some((view) => view.viewName === viewName);
  if (!replaced) checkRoomForView(views.length);
  yield* run(
    db
      .insertInto('report_view')
      .values({ account, viewName, page, query, createdTime: time, updatedTime: time })
      .onConflict((conflict) =>
        conflict.columns(['account', 'viewName']).doUpdateSet({ page, query, updatedTime: time }),
      ),
  );
  return { replaced };
}

export function* deleteView({ account, viewName }: RequestOf<'deleteView'>): Operation<void> {
  const deleted = yield* run(
    db.deleteFrom('report_view').where('account', '=', account).where('viewName', '=', viewName),
  );
  if (deleted === 0) throw unknownView();
}

export const listViews = ({ account }: RequestOf<'listViews'>): Operation<SavedView[]> =>
  all(
    db
      .selectFrom('report_view')
      .select(['viewName', 'page', 'query', 'createdTime', 'updatedTime'])
      .where('account', '=', account)
      .orderBy('viewName'),
  );
