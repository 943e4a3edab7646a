/** Segments: filters of reports that an account saves under names. */
import { Refusal } from '../../../shared/refusal.ts';
import { checkRoomForSegment } from '../../rules/accounts/segment-limit.ts';
import type { RequestOf, SavedSegment } from '../../store.ts';
import type { Connection } from '../database/connection.ts';

export const createSegmentWriter = (db: Connection) => {
  const exists = db
    .prepare<[number, string], number>('SELECT 1 FROM report_segment WHERE account = ? AND segmentName = ?')
    .pluck();
  const count = db.prepare<[number], number>('SELECT count(*) FROM report_segment WHERE account = ?').pluck();
  const upsert = db.prepare<RequestOf<'saveSegment'>>(`
    INSERT INTO report_segment (account, segmentName, filter, createdTime, updatedTime)
    VALUES (@account, @segmentName, @filter, @time, @time)
    ON CONFLICT (account, segmentName) DO UPDATE SET filter = @filter, updatedTime = @time`);
  const remove = db.prepare<RequestOf<'deleteSegment'>>(
    'DELETE FROM report_segment WHERE account = @account AND segmentName = @segmentName',
  );

  return {
    saveSegment(request: RequestOf<'saveSegment'>) {
      const { account, segmentName } = request;
      const replaced = exists.get(account, segmentName) !== undefined;
      if (!replaced) checkRoomForSegment(count.get(account) as number);
      upsert.run(request);
      return { replaced };
    },
    deleteSegment(request: RequestOf<'deleteSegment'>): void {
      if (remove.run(request).changes === 0) throw new Refusal('unknown_segment', { field: 'segmentName' });
    },
  };
};

export const createSegmentReader = (db: Connection) => {
  const list = db.prepare<{ account: number; names: string | null }, SavedSegment>(`
    SELECT segmentName, filter, createdTime, updatedTime FROM report_segment
    WHERE account = @account AND (@names IS NULL OR segmentName IN (SELECT value FROM json_each(@names)))
    ORDER BY segmentName`);
  return {
    listSegments: ({ account, segmentNames }: RequestOf<'listSegments'>): SavedSegment[] =>
      list.all({ account, names: segmentNames ? JSON.stringify(segmentNames) : null }),
  };
};
