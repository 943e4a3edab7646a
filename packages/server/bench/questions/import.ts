/**
 * How fast are large batches stored? Compares the Store's logEvents with 1,000 events at once, over a month of history, with bare inserts of
 * the same rows into an unindexed table in transactions of 1,000.
 */
import { openBenchmark } from '../account.ts';
import { openBareTable } from '../bare-inserts.ts';
import { createFlight, eventsPerBatch, keepAll } from '../filling.ts';
import { openHistory } from '../history.ts';
import type { Options, Row } from '../question.ts';
import { onCopy } from '../remembered.ts';
import { settle } from '../settling.ts';
import { median, ratio, whole } from '../table.ts';
import { createVisits } from '../visits.ts';

export const run = async ({ quick, events }: Options): Promise<Row[]> => {
  const history = await openHistory(events);
  const rounds = quick ? 1 : 3;
  const batches = quick ? 20 : 100;
  return onCopy(history, async (path, folder) => {
    const { store, asker } = await openBenchmark(path);
    const table = openBareTable(`${folder}/bare.db`);
    const next = createVisits(rounds * batches * eventsPerBatch);
    const figures = { bare: [] as number[], ours: [] as number[], settled: [] as number[] };
    try {
      for (let round = 0; round < rounds; round += 1) {
        const now = Date.now();
        const all = Array.from({ length: batches }, () =>
          Array.from({ length: eventsPerBatch }, () => next(now).event),
        );
        const perSecond = (began: number, ended = performance.now()) =>
          (batches * eventsPerBatch) / ((ended - began) / 1_000);

        await settle();
        let began = performance.now();
        for (const batch of all) table.insertAll(batch);
        figures.bare.push(perSecond(began));

        began = performance.now();
        const flight = createFlight();
        for (const batch of all) await flight.add(() => keepAll(store, asker, now, batch));
        await flight.end();
        figures.ours.push(perSecond(began));
        figures.settled.push(perSecond(began, await settle()));
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
      row('events/s, beside bare inserts without an index', median(figures.ours), '≥ 0.6'),
      row('events/s until the store rests', median(figures.settled), ''),
    ];
  });
};
