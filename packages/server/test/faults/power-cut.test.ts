import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import Database from '../../src/store/sqlite/database/better-sqlite3.ts';
import { createRandom, times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { createTestAccount, startServerProcess, stopServerProcess } from '../tools/server-process.ts';
import { type Change, changeServer } from '../tools/weakened-server.ts';
import { frequentCheckpoints, withoutSync } from '../weaknesses/store.ts';
import { createDisk, journalOptions, readDatabaseFile, readJournal } from './tools/disk-journal.ts';
import { createLedger } from './tools/ledger.ts';
import { attachStrace } from './tools/tracing.ts';

const cuts = times({ quick: 60, full: 300 });
const events = times({ quick: 300, full: 600 });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-power-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Records a server's writes and syncs, then simulates power cuts at random positions in that journal. */
const cutPower = async (name: string, changes: readonly Change[], count: number) => {
  const path = join(folder, `${name}.db`);
  const token = await createTestAccount(path);
  const initial = readDatabaseFile(path);
  const log = join(folder, `${name}.log`);
  const served = await startServerProcess(path, await freePort(), { main: changeServer(folder, name, changes) });
  const detach = await attachStrace(served.process.pid as number, log, ...journalOptions);
  const ledger = createLedger(1);
  const load = createLedger(3, { batch: 5 });
  const sending = load.send(served.url, token);
  for (let sent = 0; sent < events; sent += 1) expect(await ledger.sendOne(served.url, token)).toBe(true);
  await sending.stop();
  await detach();
  await stopServerProcess(served);

  const random = createRandom(4_711);
  const steps = readJournal(log, path);
  const disk = createDisk(initial, steps, random);
  const places = Array.from({ length: count }, () => 1 + Math.floor(random() * steps.length)).sort((a, b) => a - b);
  let lost = 0;
  let damaged = 0;
  let unsynced = 0;
  for (const [cut, at] of places.entries()) {
    const home = join(folder, `${name}-${cut}`);
    unsynced += disk.cut(at, home).unsynced;
    const db = new Database(join(home, `${name}.db`));
    if (db.pragma('integrity_check', { simple: true }) !== 'ok') damaged += 1;
    const stored = new Set(db.prepare<[], string>('SELECT eventUUID FROM event').pluck().all());
    lost += disk.acknowledged.filter((eventUUID) => !stored.has(eventUUID)).length;
    db.close();
    rmSync(home, { recursive: true });
  }
  const checkpoints = steps.filter((step) => step.kind === 'sync' && step.file === `${name}.db`).length;
  expect(disk.acknowledged.length).toBeGreaterThan(0);
  return { lost, damaged, unsynced, checkpoints, acknowledged: disk.acknowledged.length };
};

test(`loses no acknowledged event when the power is cut, ${cuts} times`, async (context) => {
  const result = await cutPower('ours', frequentCheckpoints, cuts);
  expect(result).toMatchObject({ lost: 0, damaged: 0 });
  expect(result.unsynced, 'writes that were dropped, torn or kept').toBeGreaterThan(cuts / 2);
  expect(result.checkpoints, 'checkpoints of the log').toBeGreaterThan(0);

  const weakened = await cutPower('weakened', [...frequentCheckpoints, ...withoutSync], 20);
  expect(weakened.lost).toBeGreaterThan(0);
  report(context, {
    fault: 'power cut',
    count: `${cuts} cuts of a journal with ${result.acknowledged} acknowledged events, ${result.unsynced} unsynced writes kept, torn or dropped, ${result.checkpoints} checkpoints`,
    result: '0 lost, integrity ok after each cut',
    weakened: `synchronous=NORMAL: ${weakened.lost} lost in 20 cuts`,
  });
});
