/** Operations on segments, an account's saved report filters. */
import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../../shared/refusal.ts';
import type { RequestOf, SavedSegment } from '../store.ts';
import { expediteAudiences, requireNoAudience } from './audiences.ts';
import { all, db, lockAccount, type Operation, run } from './operation.ts';

export function* saveSegment(request: RequestOf<'saveSegment'>): Operation<{ replaced: boolean }> {
  const { account, segmentName, filter, time } = request;
  yield* lockAccount(account);
  const segments = yield* all(db.selectFrom('report_segment').select('segmentName').where('account', '=', account));
  const replaced = segments.some((segment) => segment.segmentName === segmentName);
  if (!replaced && segments.length >= limits.segmentsPerAccount) {
    const message = `\`segmentName\` is new, and the account already has ${limits.segmentsPerAccount} segments: delete one with deleteSegment`;
    throw new Refusal('invalid_field', { field: 'segmentName', message });
  }
  yield* run(
    db
      .insertInto('report_segment')
      .values({ account, segmentName, filter, createdTime: time, updatedTime: time })
      .onConflict((conflict) =>
        conflict.columns(['account', 'segmentName']).doUpdateSet({ filter, updatedTime: time }),
      ),
  );
  if (replaced) yield* expediteAudiences(account, segmentName);
  return { replaced };
}

export function* deleteSegment({ account, segmentName }: RequestOf<'deleteSegment'>): Operation<void> {
  yield* lockAccount(account);
  yield* requireNoAudience(account, segmentName);
  const deleted = yield* run(
    db.deleteFrom('report_segment').where('account', '=', account).where('segmentName', '=', segmentName),
  );
  if (deleted === 0) throw new Refusal('unknown_segment', { field: 'segmentName' });
}

/** Filters in JavaScript, because an account has few segments. */
export function* listSegments({ account, segmentNames }: RequestOf<'listSegments'>): Operation<SavedSegment[]> {
  const segments = yield* all(
    db
      .selectFrom('report_segment')
      .select(['segmentName', 'filter', 'createdTime', 'updatedTime'])
      .where('account', '=', account)
      .orderBy('segmentName'),
  );
  return segmentNames ? segments.filter(({ segmentName }) => segmentNames.includes(segmentName)) : segments;
}
