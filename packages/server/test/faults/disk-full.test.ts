import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
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
import { ignoringFailedCommits } from '../weaknesses/store.ts';
import { createLedger, judge, readEverything } from './tools/ledger.ts';

const fillings = times({ quick: 2, full: 50 });
/** The size of the disk: each round fills it and leaves a few more stored events on it. */
const diskMebibytes = 24 + 8 * fillings;

let folder: string;
const mounted: string[] = [];

const mountDisk = (name: string): string => {
  const disk = join(folder, name);
  mkdirSync(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMebibytes}m`, 'tmpfs', disk], { stdio: 'ignore' });
  mounted.push(disk);
  return disk;
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-full-'));
  mountDisk('first');
});
afterAll(() => {
  for (const disk of mounted) execFileSync('umount', ['--lazy', disk]);
  rmSync(folder, { recursive: true });
});

/** Fills the disk, except for about `leave` bytes. Returns a function that frees the space. */
const fill = (disk: string, leave: number) => {
  const filler = openSync(join(disk, 'filler'), 'w');
  const block = Buffer.alloc(65_536);
  try {
    for (let left = statfsSync(disk).bavail * statfsSync(disk).bsize - leave; left > 0; left -= block.length) {
      writeSync(filler, block);
    }
  } catch (error) {
    // ENOSPC is expected if the server has used some of the space in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
  return () => {
    closeSync(filler);
    rmSync(join(disk, 'filler'));
  };
};

/** Fills the disk under a running server and frees the space again, `count` times. */
const fillRepeatedly = async (disk: string, count: number, main?: string) => {
  const path = join(disk, 'firsthand.db');
  const token = await createTestAccount(path);
  const began = performance.now();
  const served = await startServerProcess(path, await freePort(), { main, env: { LOG_LEVEL: 'info' } });
  const ledger = createLedger(8);
  const resumeMilliseconds: number[] = [];
  let refusedReads = 0;
  let fullButReady = 0;
  const isReady = async () => {
    const response = await fetch(`${served.url}/readyz`);
    await response.arrayBuffer();
    return response.status === 200;
  };
  for (let filling = 0; filling < count; filling += 1) {
    const load = ledger.send(served.url, token);
    await wait(100);
    const freeSpace = fill(disk, Math.floor(Math.random() * 300_000));
    const refusals = () => ledger.endings.get('503') ?? 0;
    const before = refusals();
    for (let round = 0; round < 300 && refusals() < before + 50; round += 1) {
      await wait(10);
      const read = await fetch(`${served.url}/event/getEvent?limit=10`, {
        headers: { Authorization: `Bearer ${token}` },
      });
      await read.arrayBuffer();
      if (read.status !== 200) refusedReads += 1;
    }
    // The write-ahead log can contain free space. While the server can still store events, it is right to report ready.
    const storedWhileFull = ledger.acknowledged.size;
    let isUnready = false;
    for (let round = 0; round < 300 && !isUnready; round += 1) {
      isUnready = !(await isReady());
      if (!isUnready) await wait(10);
    }
    if (!isUnready && ledger.acknowledged.size === storedWhileFull) fullButReady += 1;
    freeSpace();
    const started = performance.now();
    const storedBefore = ledger.acknowledged.size;
    while (ledger.acknowledged.size === storedBefore) {
      expect(performance.now() - started, 'still stores nothing').toBeLessThan(60_000);
      await wait(2);
    }
    resumeMilliseconds.push(performance.now() - started);
    expect(await isReady()).toBe(true);
    await load.stop();
  }
  const { lost } = judge(ledger, await readEverything(served.url, token));
  await ledger.settle(served.url, token);
  const { twice } = judge(ledger, await readEverything(served.url, token));
  const exitCode = await stopServerProcess(served);
  const db = new Database(path, { readonly: true });
  const integrity = db.pragma('integrity_check', { simple: true });
  db.close();
  const { withoutRetryAfter, endings } = ledger;
  const logLines = served.complaints().match(/.*"code":"SQLITE_FULL".*\n/g) ?? [];
  return {
    fullButReady,
    /** Expects at least one line, and at most one a minute. */
    logsCause: logLines.length > 0 && logLines.length <= 1 + (performance.now() - began) / 60_000,
    lost,
    twice,
    integrity,
    exitCode,
    refusedReads,
    withoutRetryAfter,
    resumeMilliseconds,
    refused: endings.get('503') ?? 0,
  };
};

test(`serves reads while the disk is full, and stores events again once there is space, ${fillings} times`, async (context) => {
  const result = await fillRepeatedly(mounted[0] as string, fillings);
  expect(result).toMatchObject({
    lost: 0,
    twice: 0,
    integrity: 'ok',
    exitCode: 0,
    refusedReads: 0,
    fullButReady: 0,
    logsCause: true,
    withoutRetryAfter: 0,
  });
  expect(result.refused).toBeGreaterThanOrEqual(fillings * 50);

  // The weakened server has lost events, or has damaged the file so that it cannot read them.
  const weakened = await fillRepeatedly(
    mountDisk('deaf'),
    1,
    changeServer(folder, 'deaf-server', ignoringFailedCommits),
  ).then(
    ({ lost }) => `${lost} lost`,
    ({ message }: Error) => message.replace(/:.*/s, ''),
  );
  expect(weakened).toMatch(/^(?:[1-9]\d* lost|getEvent answered 500)$/);
  report(context, {
    fault: 'disk full',
    count: `${fillings} times, a disk of ${diskMebibytes} MiB`,
    result: `0 lost, ${result.refused} × 503 with Retry-After, every read served, /readyz 503, the cause logged once a minute; stores again after ${Math.round(quantile(result.resumeMilliseconds, 0.5))} ms, at most ${Math.round(Math.max(...result.resumeMilliseconds))} ms`,
    weakened: `treats a failed commit as successful: ${weakened}`,
  });
});
