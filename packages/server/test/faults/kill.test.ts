import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import Database from '../../src/store/sqlite/database/better-sqlite3.ts';
import { quantile, times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { createTestAccount, startServerProcess, stopServerProcess } from '../tools/server-process.ts';
import { changeServer } from '../tools/weakened-server.ts';
import { acknowledgingEarly } from '../weaknesses/store.ts';
import { createLedger, createReader, judge, readEverything } from './tools/ledger.ts';

const kills = times({ quick: 10, full: 1_000 });
/**
 * The maximum number of kills: the weakened server loses an event within a few kills, unless a slow machine has not
 * acknowledged any by then.
 */
const maxWeakenedKills = 30;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-kill-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/**
 * Kills a server under load until an acknowledged event is lost, or `maxKills` times. Compares the stored events with
 * the acknowledged events after each start.
 */
const killRepeatedly = async (name: string, maxKills: number, main?: string) => {
  const path = join(folder, `${name}.db`);
  const token = await createTestAccount(path);
  const port = await freePort();
  const ledger = createLedger(16);
  const reader = createReader(token);
  const ready: number[] = [];
  let lost = 0;
  let loadedMilliseconds = 0;
  let done = 0;
  for (; done < maxKills && lost === 0; done += 1) {
    const served = await startServerProcess(path, port, { main });
    ready.push(served.readyMilliseconds);
    lost += judge(ledger, await reader.readOn(served.url)).lost;
    const load = ledger.send(served.url, token);
    const started = performance.now();
    await wait(50 + Math.random() * 250);
    served.process.kill('SIGKILL');
    await served.ended;
    loadedMilliseconds += performance.now() - started;
    await load.stop();
  }
  const perSecond = (ledger.acknowledged.size / loadedMilliseconds) * 1_000;
  const served = await startServerProcess(path, port, { main });
  lost += judge(ledger, await readEverything(served.url, token)).lost;
  // Retries unacknowledged events, which must not store an event twice.
  await ledger.settle(served.url, token);
  const { twice } = judge(ledger, await readEverything(served.url, token));
  await stopServerProcess(served);
  const db = new Database(path, { readonly: true });
  const integrity = db.pragma('integrity_check', { simple: true });
  db.close();
  return { lost, twice, done, integrity, ready, perSecond, acknowledged: ledger.acknowledged.size };
};

test(`loses no acknowledged event and stores no event twice despite ${kills} kills under load`, async (context) => {
  const result = await killRepeatedly('ours', kills);
  expect(result).toMatchObject({ lost: 0, twice: 0, integrity: 'ok' });
  expect(result.acknowledged).toBeGreaterThan(kills * 20);

  const weakened = await killRepeatedly(
    'weakened',
    maxWeakenedKills,
    changeServer(folder, 'early', acknowledgingEarly),
  );
  expect(weakened.lost).toBeGreaterThan(0);

  const [p50, p99] = [0.5, 0.99].map((share) => Math.round(quantile(result.ready, share)));
  report(context, {
    fault: 'process killed',
    count: `${kills} × kill -9, ${result.acknowledged} events at ${Math.round(result.perSecond)}/s`,
    result: `0 lost, 0 twice, integrity ok; ready again p50 ${p50} ms, p99 ${p99} ms`,
    weakened: `responds before the commit: ${weakened.lost} lost in ${weakened.done} kills`,
  });
});
