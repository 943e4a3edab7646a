/** What several processes must survive: one that answers is killed, the one that writes is killed, all are stopped. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { quantile, times } from './counts.ts';
import { createLedger, createReader, judge, readEverything } from './ledger.ts';
import { report } from './report.ts';
import { childrenOf, freePort, makeAccount, startServed, stopServed } from './served.ts';
import { answeringEarly, type Change, changeServer, withoutBound } from './weakened.ts';

const kills = times({ quick: 4, full: 300 });
const restarts = times({ quick: 3, full: 100 });
const stops = times({ quick: 3, full: 50 });

const env = { WORKERS: '2' };

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-workers-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** The workers of a server; what runs TypeScript has processes of its own. */
const workersOf = (pid: number): number[] =>
  childrenOf(pid).filter((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').endsWith('\0worker\0'));

/** Kills one worker after the other under load, and looks at the end whether the server holds what was acknowledged. */
const killWorkers = async (name: string, count: number, main?: string) => {
  const path = join(folder, `${name}.db`);
  const token = await makeAccount(path);
  const served = await startServed(path, await freePort(), { main, env: { ...env, LOG_LEVEL: 'info' } });
  const first = served.process.pid as number;
  const ledger = createLedger(16);
  const load = ledger.send(served.url, token);
  try {
    for (let kill = 0; kill < count; kill += 1) {
      await wait(50 + Math.random() * 250);
      const workers = workersOf(first);
      process.kill(workers[kill % workers.length] as number, 'SIGKILL');
      // The other goes on: nobody waits for the new one.
      const before = ledger.acknowledged.size;
      await expect.poll(() => ledger.acknowledged.size, { timeout: 60_000 }).toBeGreaterThan(before + 16);
      const answering = () => served.complaints().match(/"a worker answers"/g);
      await expect.poll(answering, { timeout: 60_000 }).toHaveLength(kill + 3);
    }
  } finally {
    await load.stop();
  }
  const { lost } = judge(ledger, await readEverything(served.url, token));
  await ledger.settle(served.url, token);
  const { twice } = judge(ledger, await readEverything(served.url, token));
  const replaced = served.complaints().match(/a worker has ended, and is replaced/g)?.length ?? 0;
  const exitCode = await stopServed(served);
  return { lost, twice, replaced, exitCode, acknowledged: ledger.acknowledged.size };
};

/** A worker acknowledges events, and sends them on a moment later. */
const workersAnsweringEarly: readonly Change[] = [
  {
    file: 'store/sqlite/store.ts',
    from: 'const outcomes = await commit(packCalls(calls), { bytes, changesAccess: calls.some(changesAccess) });',
    to: `setTimeout(() => void commit(packCalls(calls), { bytes, changesAccess: false }), 20);
        return calls.map((call: any) => ({ value: call.request.events?.map(() => ({ kept: true })) }));
        const outcomes = undefined as any;`,
  },
];

test(`loses no acknowledged event and keeps none twice while ${kills} workers are killed under load`, {
  timeout: 120_000 + kills * 30_000,
}, async (context) => {
  const found = await killWorkers('workers', kills);
  expect(found).toMatchObject({ lost: 0, twice: 0, replaced: kills, exitCode: 0 });
  const weakened = await killWorkers('workers-early', 4, changeServer(folder, 'early-workers', workersAnsweringEarly));
  expect(weakened.lost).toBeGreaterThan(0);
  report(context, {
    fault: 'one of two workers killed',
    count: `${kills} × kill -9, ${found.acknowledged} events`,
    result: '0 lost, 0 twice; the other answers on, each is replaced',
    weakened: `a worker answers before it has sent them on: ${weakened.lost} lost in 4 kills`,
  });
});

/** Kills the process that writes, under load, again and again. */
const killFirst = async (name: string, count: number, main?: string) => {
  const path = join(folder, `${name}.db`);
  const token = await makeAccount(path);
  const port = await freePort();
  const ledger = createLedger(16);
  const reader = createReader(token);
  const ready: number[] = [];
  let lost = 0;
  for (let kill = 0; kill < count; kill += 1) {
    const served = await startServed(path, port, { main, env });
    ready.push(served.readyMilliseconds);
    lost += judge(ledger, await reader.readOn(served.url)).lost;
    const workers = workersOf(served.process.pid as number);
    const load = ledger.send(served.url, token);
    await wait(50 + Math.random() * 250);
    served.process.kill('SIGKILL');
    // Which is when its standard error is closed, by the workers as well.
    await served.ended;
    await load.stop();
    await expect.poll(() => workers.filter(isAlive), { timeout: 20_000 }).toEqual([]);
  }
  const served = await startServed(path, port, { main, env });
  lost += judge(ledger, await readEverything(served.url, token)).lost;
  await ledger.settle(served.url, token);
  const { twice } = judge(ledger, await readEverything(served.url, token));
  await stopServed(served);
  return { lost, twice, ready, acknowledged: ledger.acknowledged.size };
};

test(`loses no acknowledged event through ${restarts} kills of the process that writes, and no worker outlives it`, {
  timeout: 120_000 + restarts * 20_000,
}, async (context) => {
  const found = await killFirst('first', restarts);
  expect(found).toMatchObject({ lost: 0, twice: 0 });
  const weakened = await killFirst('first-early', 3, changeServer(folder, 'early-first', answeringEarly));
  expect(weakened.lost).toBeGreaterThan(0);
  report(context, {
    fault: 'the first of three processes killed',
    count: `${restarts} × kill -9, ${found.acknowledged} events`,
    result: `0 lost, 0 twice, no worker left; ready again p50 ${Math.round(quantile(found.ready, 0.5))} ms`,
    weakened: `answers before the commit: ${weakened.lost} lost in 3 kills`,
  });
});

/** Stops all of them under load. A client may find the door closed, and nothing else. */
const stopAll = async (name: string, count: number, main?: string) => {
  const path = join(folder, `${name}.db`);
  const token = await makeAccount(path);
  const port = await freePort();
  const ledger = createLedger(16);
  const exitCodes = new Set<number | null>();
  const took: number[] = [];
  for (let stop = 0; stop < count; stop += 1) {
    const served = await startServed(path, port, { main, env });
    const load = ledger.send(served.url, token);
    await wait(50 + Math.random() * 250);
    const began = performance.now();
    exitCodes.add(await stopServed(served));
    took.push(performance.now() - began);
    await load.stop();
  }
  const served = await startServed(path, port, { main, env });
  const { lost } = judge(ledger, await readEverything(served.url, token));
  await stopServed(served);
  const harmless = ['200', '503', 'ECONNREFUSED'];
  const broken = [...ledger.endings].filter(([ending]) => !harmless.includes(ending));
  return { lost, exitCodes: [...exitCodes], broken, took, acknowledged: ledger.acknowledged.size };
};

/** Ends the workers in the face of their clients. */
const impatient: readonly Change[] = [{ file: 'workers/serve.ts', from: 'crew.stop(drainMs)', to: '(crew.kill(), 0)' }];

test(`loses nothing and breaks no connection when all are stopped under load, ${stops} times`, {
  timeout: 120_000 + stops * 20_000,
}, async (context) => {
  const found = await stopAll('stop', stops);
  expect(found).toMatchObject({ lost: 0, exitCodes: [0], broken: [] });
  const weakened = await stopAll('stop-impatient', 2, changeServer(folder, 'impatient', impatient));
  expect(weakened.broken).not.toEqual([]);
  report(context, {
    fault: 'SIGTERM, two workers',
    count: `${stops} stops under load, ${found.acknowledged} events`,
    result: `0 lost, 0 connections reset, exit 0 after ${Math.round(quantile(found.took, 0.5))} ms, at most ${Math.round(Math.max(...found.took))} ms`,
    weakened: `ends the workers at once: ${weakened.broken.map(([ending, times]) => `${times} × ${ending}`).join(', ')}`,
  });
});

/** Lets the process that writes stand still under load, so that the pipes fill up. */
const standStill = async (name: string, main?: string) => {
  const path = join(folder, `${name}.db`);
  const token = await makeAccount(path);
  const served = await startServed(path, await freePort(), { main, env });
  const ledger = createLedger(80, { onlyBatches: true, batch: 100, ballast: 1_500 });
  const load = ledger.send(served.url, token);
  await wait(500);
  served.process.kill('SIGSTOP');
  // Requests in the pipes, in the workers, and on the way there.
  await wait(2_000);
  served.process.kill('SIGCONT');
  await wait(500);
  await load.stop();
  await ledger.settle(served.url, token);
  const { lost, twice } = judge(ledger, await readEverything(served.url, token));
  const exitCode = await stopServed(served);
  const { withoutRetryAfter, endings } = ledger;
  return { lost, twice, exitCode, withoutRetryAfter, endings, acknowledged: ledger.acknowledged.size };
};

test('says 503, and loses nothing, when the process that writes stands still', {
  timeout: 120_000,
}, async (context) => {
  const found = await standStill('still');
  expect(found).toMatchObject({ lost: 0, twice: 0, exitCode: 0, withoutRetryAfter: 0 });
  expect([...found.endings.keys()].sort()).toEqual(['200', '503']);
  const weakened = await standStill('still-unbound', changeServer(folder, 'unbound', withoutBound));
  expect([...weakened.endings.keys()]).not.toContain('503');
  report(context, {
    fault: 'the first of three processes stands still',
    count: `2 s under 80 clients, ${found.acknowledged} events`,
    result: `0 lost, 0 twice, ${found.endings.get('503')} × 503 with Retry-After`,
    weakened: 'lets any number of events wait: no 503',
  });
});

test('ends with all of its workers, and with 70, when it cannot be known what is on the disk', {
  timeout: 60_000,
}, async () => {
  const path = join(folder, 'fatal.db');
  const token = await makeAccount(path);
  const main = changeServer(folder, 'fatal', [
    {
      file: 'store/sqlite/writer-thread.ts',
      from: 'orDie(() => engine.write(calls))',
      to: "orDie((): ReturnType<typeof engine.write> => { throw new Error('the disk did not sync'); })",
    },
  ]);
  const served = await startServed(path, await freePort(), { main, env });
  const workers = workersOf(served.process.pid as number);
  expect(workers).toHaveLength(2);
  const ledger = createLedger(1);
  expect(await ledger.sendOne(served.url, token)).toBe(false);
  expect(await served.ended).toBe(70);
  expect(served.complaints()).toMatch(/the disk did not sync/);
  await expect.poll(() => workers.filter(isAlive), { timeout: 20_000 }).toEqual([]);
});
