/**
 * What does keeping an event durably cost? Single events and batches over HTTP, committed and synced before each answer,
 * beside the same app that keeps nothing, beside bare node:http, and beside bare better-sqlite3 inserts of such rows.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Load, LoadResult } from './load.ts';
import { type Running, type ServerKind, startServer } from './servers.ts';
import { median, table, whole } from './table.ts';

/** Rows like ours into an unindexed table in transactions of `size`, in WAL mode with FULL sync: rows a second. */
const bareInserts = (path: string, size: number, milliseconds: number): number => {
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec(
    'CREATE TABLE IF NOT EXISTS bare (user INTEGER, eventID INTEGER, eventUUID TEXT, time INTEGER, attributes TEXT)',
  );
  const insert = db.prepare('INSERT INTO bare VALUES (?, ?, ?, ?, ?)');
  let rows = 0;
  const insertMany = db.transaction(() => {
    for (let row = 0; row < size; row += 1) {
      rows += 1;
      const id = rows.toString(36).padStart(16, '0');
      insert.run(
        rows % 10_000,
        rows % 20,
        id,
        Date.now(),
        `{"path":"/products/${rows % 500}","price":"9.90","campaign":"autumn"}`,
      );
    }
  });
  const start = Date.now();
  while (Date.now() - start < milliseconds) insertMany();
  const perSecond = rows / ((Date.now() - start) / 1000);
  db.close();
  return perSecond;
};

const startLoad = () => {
  const child = fork(new URL('./load.ts', import.meta.url), [], { execArgv: ['--import', 'tsx'] });
  return {
    async run(load: Load): Promise<LoadResult> {
      child.send(load);
      const [result] = (await once(child, 'message')) as [LoadResult];
      return result;
    },
    stop: () => child.disconnect(),
  };
};

export const run = async (quick: boolean): Promise<void> => {
  const rounds = quick ? 1 : 5;
  const milliseconds = quick ? 2_000 : 4_000;
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-bench-'));
  const kinds: readonly ServerKind[] = ['bare', 'nothing kept', 'durable'];
  const shapes = [
    { eventsPerRequest: 1, connections: 64 },
    { eventsPerRequest: 1, connections: 256 },
    { eventsPerRequest: 50, connections: 32 },
  ];
  const servers = new Map<ServerKind, Running>();
  for (const kind of kinds) servers.set(kind, await startServer(kind, join(folder, `${kind}.db`)));
  const load = startLoad();
  const results = new Map<string, LoadResult[]>();
  const bare = new Map<number, number[]>([
    [1, []],
    [1_000, []],
  ]);
  try {
    for (let round = -1; round < rounds; round += 1) {
      for (const shape of shapes) {
        for (const [kind, { port, token }] of servers) {
          // The first round only warms up.
          const result = await load.run({ ...shape, port, token, milliseconds: round < 0 ? 1_000 : milliseconds });
          if (result.refused > 0) throw new Error(`${kind}: ${result.refused} answers were not 200`);
          const key = `${kind} ${shape.eventsPerRequest} ${shape.connections}`;
          if (round >= 0) results.set(key, [...(results.get(key) ?? []), result]);
        }
      }
      for (const [size, figures] of bare) {
        const figure = bareInserts(join(folder, 'bare.db'), size, milliseconds / 2);
        if (round >= 0) figures.push(figure);
      }
    }
  } finally {
    load.stop();
    for (const server of servers.values()) await server.stop();
    rmSync(folder, { recursive: true });
  }

  const rows = shapes.flatMap(({ eventsPerRequest, connections }) => {
    const figures = (kind: ServerKind) => results.get(`${kind} ${eventsPerRequest} ${connections}`) as LoadResult[];
    const perSecond = (kind: ServerKind) => median(figures(kind).map((result) => result.eventsPerSecond));
    const floor = perSecond('nothing kept');
    return kinds.map((kind) => [
      `${eventsPerRequest} a request, ${connections} connections: ${kind}`,
      // The bare server answers a batch without looking at its events.
      whole(perSecond(kind)),
      (perSecond(kind) / floor).toFixed(2),
      median(figures(kind).map(({ p50 }) => p50)).toFixed(1),
      median(figures(kind).map(({ p99 }) => p99)).toFixed(1),
    ]);
  });
  for (const [size, figures] of bare) {
    rows.push([`bare better-sqlite3 inserts, ${size} a transaction, no index`, whole(median(figures)), '', '', '']);
  }
  console.log(`## Ingestion: medians of ${rounds} alternating runs of ${milliseconds / 1000} s\n`);
  console.log(table(['', 'events/s', '÷ nothing kept', 'p50 ms', 'p99 ms'], rows));
};
