/**
 * Measures how fast large batches are stored. Compares the Store's logEvents with batches of 1,000, over a month of
 * history, with bare inserts of the same rows into an unindexed table in transactions of 1,000.
 */
import { openBenchmark } from '../account.ts';
import { openBareTable } from '../bare-inserts.ts';
import type { Options, Row } from '../benchmark.ts';
import { withCopy } from '../cached-database.ts';
import { createLimiter, eventsPerBatch, storeAll } from '../fill-store.ts';
import { openHistory } from '../history.ts';
import { settle } from '../settle.ts';
import { median, ratio, whole } from '../table.ts';
import { createVisits } from '../visits.ts';

export const run = async ({ quick, events }: Options): Promise<Row[]> => {
  const history = await openHistory(events);
  const rounds = quick ? 1 : 3;
  const batches = quick ? 20 : 100;
  return withCopy(history, async (path, folder) => {
    const { store, caller } = await openBenchmark(path);
    const table = openBareTable(`${folder}/bare.db`);
    const next = createVisits(rounds * batches * eventsPerBatch);
    const figures = { bare: [] as number[], ours: [] as number[], settled: [] as number[] };
    try {
      for (let round = 0; round < rounds; round += 1) {
        const now = Date.now();
        const all = Array.from({ length: batches }, () =>
          Array.from({ length: eventsPerBatch }, () => next(now).event),
        );
        const perSecond = (startTime: number, ended = performance.now()) =>
          (batches * eventsPerBatch) / ((ended - startTime) / 1_000);

        await settle();
        let startTime = performance.now();
        for (const batch of all) table.insertAll(batch);
        figures.bare.push(perSecond(startTime));

        startTime = performance.now();
        const limiter = createLimiter();
        for (const batch of all) await limiter.add(() => storeAll(store, caller, now, batch));
        await limiter.end();
        figures.ours.push(perSecond(startTime));
        figures.settled.push(perSecond(startTime, await settle()));
      }
    } finally {
      table.close();
      await store.close();
    }
    const floor = median(figures.bare);
    const row = (measured: string, ours: number, bar: string): Row => ({
      measured,
      floor: whole(floor),
      ours: whole(ours),
      ratio: ratio(ours, floor),
      bar,
    });
    return [
      row('events/s vs. bare inserts without an index', median(figures.ours), '≥ 0.6'),
      row('events/s until the store is idle', median(figures.settled), ''),
    ];
  });
};
