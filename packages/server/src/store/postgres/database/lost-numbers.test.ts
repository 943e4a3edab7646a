/**
 * Tests that sequences skip the numbers that PostgreSQL might have lost when it last stopped (cluster-functions.ts).
 */
import { expect, test } from 'vitest';
import { newMigratedDatabase } from '../../../../test/fixtures/postgres/databases.ts';
import { simulateCluster } from '../../../../test/fixtures/postgres/simulated-citus.ts';
import { querySQL } from '../../../../test/fixtures/postgres/sql.ts';

const skip = 'SELECT skip_numbers()';

const newCluster = async (): Promise<string> => {
  const databaseURL = await newMigratedDatabase();
  await simulateCluster(databaseURL);
  await querySQL(databaseURL, skip);
  return databaseURL;
};
const recordOtherStart = `UPDATE position SET "skippedAfter" = left("skippedAfter", 9)`;
const recordOtherTimeline = `UPDATE position SET "skippedAfter" = '000000FF 1 1'`;

test('skips numbers of each sequence once per start', async () => {
  const databaseURL = await newCluster();
  const read = async () => {
    const rows = await querySQL<{ name: string; last: string }>(
      databaseURL,
      `SELECT relname AS name, coalesce(pg_sequence_last_value(seqrelid), 0) AS last
       FROM pg_sequence JOIN pg_class c ON c.oid = seqrelid WHERE relnamespace = current_schema()::regnamespace`,
    );
    return new Map(rows.map(({ name, last }) => [name, Number(last)]));
  };
  const before = await read();
  expect(before.size).toBeGreaterThan(0);
  await querySQL(databaseURL, skip);
  expect(await read()).toEqual(before);
  await querySQL(databaseURL, recordOtherStart);
  await querySQL(databaseURL, skip);
  const after = await read();
  for (const [name, last] of before) expect(after.get(name), name).toBeGreaterThanOrEqual(last + 2 ** 14);
  expect(after.get('event_order')).toBe((before.get('event_order') as number) + 2 ** 20);
  await querySQL(databaseURL, skip);
  expect(await read()).toEqual(after);
  // Has the same effect as a process crash.
  await querySQL(databaseURL, "SELECT pg_stat_reset_shared('bgwriter')");
  await expect.poll(() => querySQL(databaseURL, skip).then(read)).not.toEqual(after);
  // A standby might have missed skips.
  await querySQL(databaseURL, recordOtherTimeline);
  await querySQL(databaseURL, skip);
  const promoted = await read();
  for (const [name, last] of after) expect(promoted.get(name), name).toBeGreaterThanOrEqual(last + 2 ** 18);
});

test('stops skipping at the end of a sequence, so that connections can still be opened', async () => {
  const databaseURL = await newCluster();
  const last = 2 ** 31 - 1;
  await querySQL(databaseURL, `SELECT setval('account_account_seq', ${last - 1})`);
  await querySQL(databaseURL, recordOtherTimeline);
  await querySQL(databaseURL, skip);
  expect(await querySQL(databaseURL, "SELECT pg_sequence_last_value('account_account_seq') AS last")).toEqual([
    { last: String(last) },
  ]);
});
