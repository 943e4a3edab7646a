/**
 * Measures the disk space per event: the size of all files of a closed database divided by its events, compared with
 * the same rows in a table without an index. Measures a month of history, and the events of one day, for which all
 * idempotency keys are still stored.
 */
import { statSync } from 'node:fs';
import Database from '../../src/store/sqlite/database/better-sqlite3.ts';
import { openBenchmark } from '../account.ts';
import { openBareTable } from '../bare-inserts.ts';
import type { Options, Row } from '../benchmark.ts';
import { inFolder, sumFileSizes } from '../cached-database.ts';
import { createLimiter, eventsPerBatch, storeAll } from '../fill-store.ts';
import { openHistory } from '../history.ts';
import { settle } from '../settle.ts';
import { ratio, table, whole } from '../table.ts';
import { createVisits } from '../visits.ts';

/** Prints the largest tables and indexes, in bytes per event. */
const printParts = (of: string, path: string, events: number): void => {
  const db = new Database(path, { readonly: true });
  const parts = db
    .prepare<[], { name: string; bytes: number }>(
      'SELECT name, sum(pgsize) AS bytes FROM dbstat WHERE aggregate = TRUE GROUP BY name ORDER BY bytes DESC LIMIT 8',
    )
    .all();
  const free = Number(db.pragma('freelist_count', { simple: true })) * Number(db.pragma('page_size', { simple: true }));
  db.close();
  const rows = [...parts, { name: '(unused pages)', bytes: free }];
  const cells = rows.map(({ name, bytes }) => [name, (bytes / events).toFixed(1)]);
  console.log(`${table([`part of ${of}`, 'bytes per event'], cells)}\n`);
};

/** Bytes per event if all events are from today: in our store, and in a bare table. */
const measureToday = (events: number) =>
  inFolder(async (folder) => {
    const path = `${folder}/firsthand.db`;
    const barePath = `${folder}/bare.db`;
    const { store, caller } = await openBenchmark(path);
    const bare = openBareTable(barePath);
    const next = createVisits(events);
    const now = Date.now();
    const limiter = createLimiter();
    for (let created = 0; created < events; created += eventsPerBatch) {
      const batch = Array.from({ length: eventsPerBatch }, (_, nth) => next(now + created + nth).event);
      bare.insertAll(batch);
      await limiter.add(() => storeAll(store, caller, now, batch));
    }
    await limiter.end();
    await settle();
    await store.close();
    bare.close();
    printParts('one day', path, events);
    return { ours: (await sumFileSizes(folder)) / events, bare: statSync(barePath).size / events };
  });

export const run = async ({ quick, events }: Options): Promise<Row[]> => {
  const history = await openHistory(events);
  printParts('a month of history', history.path, events);
  const month = (await sumFileSizes(history.folder)) / events;
  const today = await measureToday(quick ? 50_000 : 500_000);
  const row = (measured: string, ours: number): Row => ({
    measured,
    floor: whole(today.bare),
    ours: whole(ours),
    ratio: ratio(ours, today.bare),
    bar: '≤ 110',
  });
  return [
    row('a month of history: bytes per event vs. a table without an index', month),
    row('one day: bytes per event vs. a table without an index', today.ours),
  ];
};
