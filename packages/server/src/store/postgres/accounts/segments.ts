/** Segments: filters of reports that an account saves under names. */
import { Refusal } from '../../../shared/refusal.ts';
import { checkRoomForSegment } from '../../rules/accounts/segment-limit.ts';
import type { RequestOf, SavedSegment } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import type { Transaction } from '../transactions/transaction.ts';

export const saveSegment = async (
  db: Transaction,
  { account, segmentName, filter, time }: RequestOf<'saveSegment'>,
): Promise<{ replaced: boolean }> => {
  // Saves of one account wait for each other here, so that each counts the segments of those before it.
  await db.all('SELECT 1 FROM account_position WHERE account = $1 FOR NO KEY UPDATE', [account]);
  const { count, replaced } = await db.one<{ count: number; replaced: boolean }>(
    `SELECT count(*) AS count, coalesce(bool_or("segmentName" = $2), false) AS replaced
     FROM report_segment WHERE account = $1`,
    [account, segmentName],
  );
  if (!replaced) checkRoomForSegment(count);
  await db.run(
    `INSERT INTO report_segment (account, "segmentName", filter, "createdTime", "updatedTime") VALUES ($1, $2, $3, $4, $4)
     ON CONFLICT (account, "segmentName") DO UPDATE SET filter = $3, "updatedTime" = $4`,
    [account, segmentName, filter, time],
  );
  return { replaced };
};

export const deleteSegment = async (
  db: Transaction,
  { account, segmentName }: RequestOf<'deleteSegment'>,
): Promise<void> => {
  const deleted = await db.run('DELETE FROM report_segment WHERE account = $1 AND "segmentName" = $2', [
    account,
    segmentName,
  ]);
  if (deleted === 0) throw new Refusal('unknown_segment', { field: 'segmentName' });
};

export const listSegments = (
  db: Connection,
  { account, segmentNames }: RequestOf<'listSegments'>,
): Promise<SavedSegment[]> =>
  db.all<SavedSegment>(
    `SELECT "segmentName", filter, "createdTime", "updatedTime" FROM report_segment
     WHERE account = $1 AND ($2::text[] IS NULL OR "segmentName" = ANY ($2)) ORDER BY "segmentName"`,
    [account, segmentNames],
  );
