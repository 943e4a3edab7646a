/**
 * Measures how fast a file is copied to PostgreSQL, and back to a new file. Times `firsthand copy` of a month of
 * history with its contacts, links, rollups and idempotency keys, until the last commit. Uses the PostgreSQL of
 * postgres.ts.
 */
import { copyStore } from '../../src/store/open.ts';
import type { Options, Row } from '../benchmark.ts';
import { withCopy } from '../cached-database.ts';
import { openHistory } from '../history.ts';
import { withPostgres } from '../processes/own-postgres.ts';
import { median, whole } from '../table.ts';

export const run = async ({ quick, events }: Options): Promise<Row[]> => {
  const history = await openHistory(events);
  const rounds = quick ? 1 : 3;
  const speeds = { up: [] as number[], down: [] as number[] };
  const copy = async (from: string, to: string): Promise<number> => {
    const startTime = performance.now();
    await copyStore({ from, to, onProgress: () => {} });
    return events / ((performance.now() - startTime) / 1_000);
  };
  await withCopy(history, (path, folder) =>
    withPostgres(async ({ createDatabase }) => {
      for (let round = 0; round < rounds; round += 1) {
        const database = await createDatabase(`round_${round}`);
        speeds.up.push(await copy(`sqlite:${path}`, database));
        speeds.down.push(await copy(database, `sqlite:${folder}/back-${round}.db`));
      }
    }),
  );
  return [
    { measured: 'from a file to PostgreSQL: events/s', ours: whole(median(speeds.up)), bar: '≥ 50,000' },
    { measured: 'from PostgreSQL into a new file: events/s', ours: whole(median(speeds.down)), bar: '' },
  ];
};
