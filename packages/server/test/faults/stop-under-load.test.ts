import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { quantile, times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { createTestAccount, startServerProcess, stopServerProcess } from '../tools/server-process.ts';
import { changeServer } from '../tools/weakened-server.ts';
import { stoppingWithoutWaiting } from '../weaknesses/http.ts';
import { createLedger, createReader, judge, readEverything } from './tools/ledger.ts';

const stops = times({ quick: 3, full: 100 });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-stop-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Repeatedly stops a server under load. Clients can only get 200, 503 or a refused connection. */
const stopRepeatedly = async (name: string, count: number, main?: string) => {
  const path = join(folder, `${name}.db`);
  const token = await createTestAccount(path);
  const port = await freePort();
  const ledger = createLedger(16);
  const reader = createReader(token);
  const exitCodes = new Set<number | null>();
  const stopMilliseconds: number[] = [];
  let lost = 0;
  for (let stop = 0; stop < count; stop += 1) {
    const served = await startServerProcess(path, port, { main });
    lost += judge(ledger, await reader.readOn(served.url)).lost;
    const load = ledger.send(served.url, token);
    await wait(50 + Math.random() * 250);
    const started = performance.now();
    exitCodes.add(await stopServerProcess(served));
    stopMilliseconds.push(performance.now() - started);
    await load.stop();
  }
  const served = await startServerProcess(path, port, { main });
  lost += judge(ledger, await readEverything(served.url, token)).lost;
  await ledger.settle(served.url, token);
  const { twice } = judge(ledger, await readEverything(served.url, token));
  await stopServerProcess(served);
  // 503 while the server is shutting down; ECONNREFUSED once it no longer listens.
  const harmless = ['200', '503', 'ECONNREFUSED'];
  const broken = [...ledger.endings].filter(([ending]) => !harmless.includes(ending));
  return { lost, twice, exitCodes: [...exitCodes], broken, stopMilliseconds, acknowledged: ledger.acknowledged.size };
};

test(`loses nothing and breaks no connection when stopped under load, ${stops} times`, async (context) => {
  const result = await stopRepeatedly('ours', stops);
  expect(result).toMatchObject({ lost: 0, twice: 0, exitCodes: [0], broken: [] });
  const weakened = await stopRepeatedly('weakened', 3, changeServer(folder, 'impatient', stoppingWithoutWaiting));
  expect(weakened.broken).not.toEqual([]);
  report(context, {
    fault: 'SIGTERM',
    count: `${stops} stops under load, ${result.acknowledged} events`,
    result: `0 lost, 0 connections reset, exit 0 after ${Math.round(quantile(result.stopMilliseconds, 0.5))} ms, at most ${Math.round(Math.max(...result.stopMilliseconds))} ms`,
    weakened: `does not wait for running requests: ${weakened.broken.map(([ending, count]) => `${count} × ${ending}`).join(', ')}`,
  });
});
