import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { times } from '../../tools/counts.ts';
import { freePort } from '../../tools/ports.ts';
import { report } from '../../tools/report.ts';
import { makeAccount, residentMegabytes, startServed, stopServed, watchMost } from '../../tools/served.ts';
import { changeServer } from '../../tools/weakened.ts';
import { withoutBoundOnWaiting } from '../../weaknesses/http.ts';
import { createLedger, judge, readDatabase } from '../tools/ledger.ts';

const seconds = times({ quick: 5, full: 60 });
/** More than the server holds when it has nothing to do. */
const maxGrowthMegabytes = 512;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-pressure-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Many clients that send batch after batch and take no answer for a reason to wait. */
const press = async (name: string, main?: string) => {
  const path = join(folder, `${name}.db`);
  const token = await makeAccount(path);
  const served = await startServed(path, await freePort(), { main });
  const pid = served.process.pid as number;
  const idle = residentMegabytes(pid);
  const most = watchMost(() => residentMegabytes(pid));
  const ledger = createLedger(96, { batch: 400, onlyBatches: true, ballast: 1_200 });
  const load = ledger.send(served.url, token);
  await wait(seconds * 1_000);
  await load.stop();
  const megabytes = most();
  const exitCode = await stopServed(served);
  const held = readDatabase(path);
  const { endings, withoutRetryAfter } = ledger;
  const others = [...endings].filter(([ending]) => !['200', '429', '503'].includes(ending));
  // What was answered 503 is not there: it is the client's to send again.
  const more = held.length - ledger.acknowledged.size;
  const refused = endings.get('503') ?? 0;
  return {
    ...judge(ledger, held),
    more,
    exitCode,
    withoutRetryAfter,
    others,
    refused,
    idle,
    megabytes,
    kept: held.length,
  };
};

test(`bounds its memory under far more load than it can keep, for ${seconds} s, and keeps what it answers 200`, async (context) => {
  const found = await press('ours');
  expect(found).toMatchObject({ lost: 0, twice: 0, more: 0, exitCode: 0, withoutRetryAfter: 0, others: [] });
  expect(found.refused).toBeGreaterThan(0);
  expect(found.megabytes - found.idle).toBeLessThan(maxGrowthMegabytes);
  const weakened = await press('weakened', changeServer(folder, 'without-bound', withoutBoundOnWaiting));
  expect(weakened.refused === 0 || weakened.megabytes - weakened.idle >= maxGrowthMegabytes).toBe(true);
  report(context, {
    fault: 'back-pressure',
    count: `${seconds} s, 96 clients with batches of 480 kB that do not wait`,
    result: `${found.kept} kept = answered 200, ${found.refused} × 503 with Retry-After; ${Math.round(found.idle)} MB before, at most ${Math.round(found.megabytes)} MB`,
    weakened: `no bound on what waits: ${weakened.refused} × 503, ${Math.round(weakened.megabytes)} MB`,
  });
});
