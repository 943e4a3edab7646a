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

const seconds = times({ quick: 3, full: 60 });
/** The maximum growth beyond the idle server's memory. */
const maxGrowthMegabytes = 512;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-pressure-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Sends batches from many clients that hardly wait after a refusal. */
const overload = async (name: string, main?: string) => {
  const path = join(folder, `${name}.db`);
  const token = await createTestAccount(path);
  const served = await startServerProcess(path, await freePort(), { main });
  const pid = served.process.pid as number;
  const idle = readResidentMegabytes(pid);
  const readMaximum = trackMaximum(() => readResidentMegabytes(pid));
  const ledger = createLedger(96, { batch: 400, onlyBatches: true, ballast: 1_200 });
  const load = ledger.send(served.url, token);
  await wait(seconds * 1_000);
  await load.stop();
  const megabytes = readMaximum();
  const exitCode = await stopServerProcess(served);
  const keys = readDatabase(path);
  const { endings, withoutRetryAfter } = ledger;
  const others = [...endings].filter(([ending]) => !['200', '429', '503'].includes(ending));
  // Events that were refused must not be stored, because the client retries them.
  const unacknowledged = keys.length - ledger.acknowledged.size;
  const refused = endings.get('503') ?? 0;
  return {
    ...judge(ledger, keys),
    unacknowledged,
    exitCode,
    withoutRetryAfter,
    others,
    refused,
    idle,
    megabytes,
    stored: keys.length,
  };
};

test(`limits its memory under much more load than it can store, for ${seconds} s, and stores exactly what it acknowledges`, async (context) => {
  const result = await overload('ours');
  expect(result).toMatchObject({ lost: 0, twice: 0, unacknowledged: 0, exitCode: 0, withoutRetryAfter: 0, others: [] });
  expect(result.refused).toBeGreaterThan(0);
  expect(result.megabytes - result.idle).toBeLessThan(maxGrowthMegabytes);
  const weakened = await overload('weakened', changeServer(folder, 'without-bound', withoutQueueLimit));
  expect(weakened.refused).toBe(0);
  expect(weakened.megabytes - weakened.idle).toBeGreaterThan(result.megabytes - result.idle);
  report(context, {
    fault: 'back-pressure',
    count: `${seconds} s, 96 clients that send batches of 480 kB and do not back off`,
    result: `${result.stored} stored = acknowledged, ${result.refused} × 503 with Retry-After; ${Math.round(result.idle)} MB before, at most ${Math.round(result.megabytes)} MB`,
    weakened: `no limit on queued events: ${weakened.refused} × 503, ${Math.round(weakened.megabytes)} MB`,
  });
});
