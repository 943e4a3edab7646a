/** Operations on views, an account's saved report pages. */
import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../../shared/refusal.ts';
import type { RequestOf, SavedView } from '../store.ts';
import { all, db, lockAccount, type Operation, run } from './operation.ts';

export function* saveView(request: RequestOf<'saveView'>): Operation<{ replaced: boolean }> {
  const { account, viewName, page, query, time } = request;
  yield* lockAccount(account);
  const views = yield* all(db.selectFrom('report_view').select('viewName').where('account', '=', account));
  const replaced = views.some((view) => view.viewName === viewName);
  if (!replaced && views.length >= limits.viewsPerAccount) {
    const message = `\`viewName\` is new, and the account already has ${limits.viewsPerAccount} views: delete one with deleteView`;
    throw new Refusal('invalid_field', { field: 'viewName', message });
  }
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
  if (deleted === 0) throw new Refusal('unknown_view', { field: 'viewName' });
}

export const listViews = ({ account }: RequestOf<'listViews'>): Operation<SavedView[]> =>
  all(
    db
      .selectFrom('report_view')
      .select(['viewName', 'page', 'query', 'createdTime', 'updatedTime'])
      .where('account', '=', account)
      .orderBy('viewName'),
  );
