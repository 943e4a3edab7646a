import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { times } from '../../tools/counts.ts';
import { freePort } from '../../tools/ports.ts';
import { report } from '../../tools/report.ts';
import {
  createTestAccount,
  readResidentMegabytes,
  startServerProcess,
  stopServerProcess,
  trackMaximum,
} from '../../tools/server-process.ts';
import { changeServer } from '../../tools/weakened-server.ts';
import { withoutQueueLimit } from '../../weaknesses/http.ts';
import { createLedger, judge, readDatabase } from '../tools/ledger.ts';
import { attachStrace } from '../tools/tracing.ts';

const seconds = times({ quick: 6, full: 60 });
/** The whole process's maximum memory, including its code. */
const maxMegabytes = times({ quick: 400, full: 256 });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-slow-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Sends far more than the disk can store if each sync takes a second. */
const overloadSlowDisk = async (name: string, main?: string) => {
  const path = join(folder, `${name}.db`);
  const token = await createTestAccount(path);
  const served = await startServerProcess(path, await freePort(), { main });
  const pid = served.process.pid as number;
  const idle = readResidentMegabytes(pid);
  const delay = 'inject=fsync,fdatasync:delay_enter=1000000';
  const detach = await attachStrace(pid, '/dev/null', '-e', 'trace=fsync,fdatasync', '-e', delay);
  const readMaximum = trackMaximum(() => readResidentMegabytes(pid));
  const ledger = createLedger(64, { batch: 500, onlyBatches: true, ballast: 1_200 });
  const load = ledger.send(served.url, token);
  await wait(seconds * 1_000);
  const stopped = load.stop();
  await detach();
  await stopped;
  const megabytes = readMaximum();
  await stopServerProcess(served);
  const { lost } = judge(ledger, readDatabase(path));
  const { endings, withoutRetryAfter } = ledger;
  const others = [...endings].filter(([name]) => name !== '200' && name !== '503');
  return {
    lost,
    withoutRetryAfter,
    others,
    idle,
    megabytes,
    stored: ledger.acknowledged.size,
    refused: endings.get('503') ?? 0,
  };
};

test('loses nothing and limits its memory while each sync takes a second', async (context) => {
  const result = await overloadSlowDisk('ours');
  expect(result).toMatchObject({ lost: 0, withoutRetryAfter: 0, others: [] });
  expect(result.refused).toBeGreaterThan(0);
  expect(result.stored).toBeGreaterThan(0);
  expect(result.megabytes).toBeLessThan(maxMegabytes);

  const weakened = await overloadSlowDisk('weakened', changeServer(folder, 'without-bound', withoutQueueLimit));
  expect(weakened.refused).toBe(0);
  expect(weakened.megabytes).toBeGreaterThan(result.megabytes);
  report(context, {
    fault: 'slow disk',
    count: `${seconds} s with syncs of 1 s, 64 clients with batches of 600 kB`,
    result: `0 of ${result.stored} lost, ${result.refused} × 503 with Retry-After, ${Math.round(result.idle)} MB before, at most ${Math.round(result.megabytes)} MB`,
    weakened: `no limit on queued events: ${weakened.refused} × 503, ${Math.round(weakened.megabytes)} MB`,
  });
});
