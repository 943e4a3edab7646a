import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import Database from '../../src/store/sqlite/database/better-sqlite3.ts';
import { spread, times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import {
  createTestAccount,
  EarlyExitError,
  listChildren,
  startServerProcess,
  stopServerProcess,
} from '../tools/server-process.ts';
import { type Change, changeServer } from '../tools/weakened-server.ts';
import { migratingByStatement } from '../weaknesses/store.ts';
import { createLedger } from './tools/ledger.ts';
import { readCompletedCalls, strace } from './tools/tracing.ts';

const kills = times({ quick: 6, full: 200 });

let folder: string;
let template: string;
let events: number;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-migration-'));
  template = join(folder, 'template.db');
  const token = await createTestAccount(template);
  const served = await startServerProcess(template, await freePort());
  const ledger = createLedger(1, { batch: 1_000, onlyBatches: true, ballast: 100 });
  const load = ledger.send(served.url, token);
  while (ledger.acknowledged.size < 3_000) await new Promise((resolve) => setTimeout(resolve, 10));
  await load.stop();
  events = ledger.sentCount;
  await stopServerProcess(served);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Builds a future version of the server with a migration that adds a table, an index and a column. */
const createNewer = (name: string, changes: readonly Change[]): string => {
  const main = changeServer(folder, name, changes);
  writeFileSync(
    join(dirname(main), '../src/store/sqlite/migrations/9000-more.sql'),
    `ALTER TABLE account_day ADD COLUMN colour TEXT;
     CREATE TABLE coloured AS SELECT *, 'red' AS shade FROM event_block;
     CREATE INDEX coloured_by_count ON coloured (count);
     UPDATE account_day SET colour = 'red';
     UPDATE event_block SET count = count;
     ALTER TABLE coloured RENAME TO event_shade;`,
  );
  return main;
};

type Schema = 'old' | 'new' | 'between';

const inspect = (path: string): { schema: Schema; rows: unknown; integrity: unknown } => {
  const db = new Database(path);
  const isNew = (db.pragma('user_version', { simple: true }) as number) === 9_000;
  const columns = (db.pragma('table_info(account_day)') as { name: string }[]).map(({ name }) => name);
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
  const marks = [columns.includes('colour'), tables.includes('event_shade'), !tables.includes('coloured') && isNew];
  const schema = marks.every((mark) => mark === isNew) ? (isNew ? 'new' : 'old') : 'between';
  const rows = db.prepare('SELECT count(*) FROM event').pluck().get();
  const integrity = db.pragma('integrity_check', { simple: true });
  db.close();
  return { schema, rows, integrity };
};

const calls = ['pwrite64', 'fsync', 'fdatasync', 'ftruncate', 'unlink'];
interface Point {
  readonly call: string;
  /** At which call of this kind the migrating thread is killed, counted from 1. */
  readonly nth: number;
}

let cases = 0;
/** Starts the newer server with a copy of the old file, under strace with these options. */
const start = async (main: string, ...options: readonly string[]) => {
  const home = join(folder, `case-${cases++}`);
  mkdirSync(home);
  const path = join(home, 'firsthand.db');
  copyFileSync(template, path);
  const log = join(home, 'strace.log');
  const under = strace(log, '-s', '0', ...options);
  let exitCode: number | null | undefined;
  try {
    const served = await startServerProcess(path, await freePort(), { main, under });
    for (const pid of listChildren(served.process.pid as number)) process.kill(pid, 'SIGTERM');
    exitCode = await served.ended;
  } catch (error) {
    if (!(error instanceof EarlyExitError)) throw error;
    exitCode = error.exitCode;
  }
  return { path, log, exitCode };
};

/** Lists the migrating thread's system calls that change a file, traced during an undisturbed start. */
const findPoints = async (main: string): Promise<Point[]> => {
  const { path, log } = await start(main, '-e', `trace=${calls}`);
  expect(inspect(path)).toEqual({ schema: 'new', rows: events, integrity: 'ok' });
  const tracedCalls = readCompletedCalls(log).filter(({ text }) => /^\w+\(/.test(text));
  // Whether the main thread made a call. It is the first thread to access the database.
  const isOurs = ({ text }: { text: string }) => text.includes(path);
  const thread = tracedCalls.find(isOurs)?.thread;
  const counts = new Map<string, number>();
  return tracedCalls
    .filter((call) => call.thread === thread)
    .flatMap((traced) => {
      const call = /^\w+/.exec(traced.text)?.[0] ?? '';
      const nth = (counts.get(call) ?? 0) + 1;
      counts.set(call, nth);
      return isOurs(traced) ? { call, nth } : [];
    });
};

const killAt = async (main: string, { call, nth }: Point) => {
  const { path, exitCode } = await start(
    main,
    '-e',
    `trace=${call}`,
    '-e',
    `inject=${call}:signal=SIGKILL:when=${nth}`,
  );
  return { path, killed: exitCode !== 0, ...inspect(path) };
};

test(`leaves either the old or the new schema if it is killed, at ${kills} points`, async (context) => {
  const newer = createNewer('newer', []);
  const points = await findPoints(newer);
  const schemas = { old: 0, new: 0, between: 0 };
  for (const point of spread(points, kills)) {
    const { schema, killed, rows, integrity, path } = await killAt(newer, point);
    expect({ rows, integrity }, JSON.stringify(point)).toEqual({ rows: events, integrity: 'ok' });
    // Counts only points that were reached, because the last system calls of a startup vary between runs.
    if (killed) schemas[schema] += 1;
    else expect(schema).toBe('new');
    // The next start completes the migration.
    if (schema === 'old') {
      expect(await stopServerProcess(await startServerProcess(path, await freePort(), { main: newer }))).toBe(0);
      expect(inspect(path)).toMatchObject({ schema: 'new', rows: events });
    }
    rmSync(dirname(path), { recursive: true });
  }
  expect(schemas.between).toBe(0);
  expect(schemas.old).toBeGreaterThan(0);
  expect(schemas.old + schemas.new).toBeGreaterThan(kills / 2);

  const careless = createNewer('careless', migratingByStatement);
  let carelessKills = 0;
  let isBetween = false;
  for (const point of spread(await findPoints(careless), 12)) {
    if (isBetween) break;
    carelessKills += 1;
    isBetween = (await killAt(careless, point)).schema === 'between';
  }
  expect(isBetween).toBe(true);
  report(context, {
    fault: 'migration killed',
    count: `${schemas.old + schemas.new} kills, each at a different one of ${points.length} calls, ${events} events`,
    result: `old schema ${schemas.old}, new ${schemas.new}, between 0; 0 rows lost`,
    weakened: `one transaction per statement: between the schemas after ${carelessKills} kills`,
  });
});

test('refuses a file from a newer version and leaves it unchanged', async () => {
  const path = join(folder, 'newer.db');
  copyFileSync(template, path);
  await stopServerProcess(await startServerProcess(path, await freePort(), { main: createNewer('newest', []) }));
  const before = readFileSync(path);
  await expect(startServerProcess(path, await freePort())).rejects.toMatchObject({
    exitCode: 1,
    complaints: expect.stringContaining('newer Firsthand'),
  });
  expect(readFileSync(path)).toEqual(before);
});
