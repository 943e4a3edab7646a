/** Records when a proxy forwarded requests while TRUST_PROXY was not set. */
import type { RequestOf } from '../store.ts';
import { db, first, type Operation, run } from './operation.ts';

export function* recordUnknownProxy({ seenTime }: RequestOf<'recordUnknownProxy'>): Operation<void> {
  if (seenTime === null) {
    yield* run(db.deleteFrom('unknown_proxy'));
    return;
  }
  yield* run(
    db
      .insertInto('unknown_proxy')
      .values({ id: 1, seenTime })
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet({ seenTime }).where('unknown_proxy.seenTime', '<', seenTime),
      ),
  );
}

export function* findUnknownProxy(): Operation<number | null> {
  const row = yield* first(db.selectFrom('unknown_proxy').select('seenTime'));
  return row?.seenTime ?? null;
}
