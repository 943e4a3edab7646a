import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { times } from '../../tools/counts.ts';
import { freePort } from '../../tools/ports.ts';
import { report } from '../../tools/report.ts';
import { createTestAccount, startServerProcess, stopServerProcess, trackMaximum } from '../../tools/server-process.ts';
import { changeServer } from '../../tools/weakened-server.ts';
import { neverCheckpointing } from '../../weaknesses/store.ts';
import { createLedger, judge, readDatabase } from '../tools/ledger.ts';

/** The total size of the events. Their pages and indexes take additional space. */
const totalBytes = times({ quick: 100, full: 500 }) * 1024 * 1024;
const maxMebibytes = 64;
const batch = 400;
const ballast = 2_000;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-wal-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Reads pages continuously until stopped. */
const readBackToBack = (url: string, token: string) => {
  let stopped = false;
  let pages = 0;
  const reader = async () => {
    for (let cursor = ''; !stopped; pages += 1) {
      const query = `order=asc&limit=1000&cursor=${encodeURIComponent(cursor)}`;
      const response = await fetch(`${url}/event/getEvent?${query}`, { headers: { Authorization: `Bearer ${token}` } });
      expect(response.status).toBe(200);
      cursor = ((await response.json()) as { nextCursor: string }).nextCursor;
    }
  };
  const done = Promise.all([reader(), reader()]);
  return async () => {
    stopped = true;
    await done;
    return pages;
  };
};

const writeAndRead = async (name: string, bytes: number, main?: string) => {
  const path = join(folder, `${name}.db`);
  const token = await createTestAccount(path);
  const served = await startServerProcess(path, await freePort(), { main });
  const readMaximum = trackMaximum(() => statSync(`${path}-wal`).size, 5);
  const ledger = createLedger(2, { batch, onlyBatches: true, ballast });
  const load = ledger.send(served.url, token);
  const stopReading = readBackToBack(served.url, token);
  while (ledger.acknowledged.size * ballast < bytes) await wait(20);
  const pages = await stopReading();
  await load.stop();
  const mebibytes = readMaximum() / 1024 / 1024;
  await stopServerProcess(served);
  const verdict = judge(ledger, readDatabase(path));
  rmSync(path);
  return { ...verdict, mebibytes, pages, events: ledger.acknowledged.size };
};

test(`limits the write-ahead log to ${maxMebibytes} MiB while events are written and read continuously`, async (context) => {
  const result = await writeAndRead('ours', totalBytes);
  expect(result).toMatchObject({ lost: 0, twice: 0 });
  expect(result.mebibytes).toBeLessThanOrEqual(maxMebibytes);
  expect(result.pages).toBeGreaterThan(0);
  const weakened = await writeAndRead(
    'weakened',
    100 * 1024 * 1024,
    changeServer(folder, 'changed', neverCheckpointing),
  );
  expect(weakened.mebibytes).toBeGreaterThan(maxMebibytes);
  report(context, {
    fault: 'write-ahead log',
    count: `${result.events} events of ${ballast} bytes, ${result.pages} pages read in the meantime`,
    result: `at most ${Math.round(result.mebibytes)} MiB; 0 lost`,
    weakened: `no checkpoints: ${Math.round(weakened.mebibytes)} MiB`,
  });
});
