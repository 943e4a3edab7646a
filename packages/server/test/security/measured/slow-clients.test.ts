import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { quantile, times } from '../../tools/counts.ts';
import { freePort } from '../../tools/ports.ts';
import { report } from '../../tools/report.ts';
import {
  browserToken,
  createTestAccount,
  readResidentMegabytes,
  startServerProcess,
  stopServerProcess,
  trackMaximum,
  withoutLimits,
} from '../../tools/server-process.ts';
import { changeServer } from '../../tools/weakened-server.ts';
import { withoutArrivalLimit, withoutDecompressionLimit } from '../../weaknesses/http.ts';
import type { Kind, StatusLine } from '../tools/hostile-clients.ts';
import { createResponseCounter, findDifferences } from '../tools/response-counter.ts';

const isFull = times({ quick: 0, full: 1 }) === 1;
const counts: Readonly<Record<Kind, number>> = {
  'slow headers': times({ quick: 100, full: 500 }),
  'stalled bodies': times({ quick: 100, full: 500 }),
  'stalled chunks': times({ quick: 20, full: 100 }),
  'slow bodies': times({ quick: 100, full: 500 }),
  'bodies of 100 MB': times({ quick: 10, full: 100 }),
  'chunks of 100 MB': times({ quick: 10, full: 100 }),
  'gzip bodies': times({ quick: 300, full: 1_500 }),
  'form bodies': times({ quick: 50, full: 300 }),
  'idle connections': times({ quick: 300, full: 1_500 }),
};
const seconds = times({ quick: 0.5, full: 10 });
const maxGrowthMegabytes = 50;
/** The limit on an idle machine. On a busy machine, the limit is three times the time without an attack. */
const maxMilliseconds = 100;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-slow-'));
  const source = fileURLToPath(new URL('../tools/hostile-clients.ts', import.meta.url));
  buildSync({ entryPoints: [source], bundle: true, platform: 'node', format: 'esm', outfile: script() });
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the script with the hostile clients, which is compiled only once, because the clients start often. */
const script = () => join(folder, 'hostile-clients.mjs');

/** Starts hostile clients in a separate process. Resolves when all of them are connected. */
const attack = async (port: number, kind: Kind, count: number) => {
  const child = spawn(process.execPath, [script(), String(port), kind, String(count)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    text = (text + more).slice(-20_000);
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  while (!text.includes('\n')) {
    if (child.exitCode !== null) throw new Error(`the hostile clients exited with ${child.exitCode}`);
    await wait(10);
  }
  const readStatus = (): StatusLine => JSON.parse(text.trimEnd().split('\n').at(-1) as string);
  return {
    readStatus,
    async stop() {
      const last = readStatus();
      child.stdin.end();
      await ended;
      return last;
    },
  };
};

const env = {
  RATE_LIMIT: withoutLimits(),
};
/** Frees unreferenced buffers, of which V8 otherwise retains up to 64 MB. */
const nodeArgs = ['--expose-gc', '--import', 'data:text/javascript,setInterval(gc, 200).unref()'];

const start = async (name: string, main?: string) => {
  const path = join(folder, `${name}.db`);
  const server = await createTestAccount(path);
  const port = await freePort();
  const served = await startServerProcess(path, port, { main, env, nodeArgs });
  const counter = createResponseCounter();
  let eventCount = 0;
  const log = async () => {
    eventCount += 1;
    const began = performance.now();
    const fields = {
      tokenUUID: browserToken,
      userUUID: 'visitor-0123456789',
      eventID: 1,
      eventUUID: `event-${eventCount}`,
    };
    const { status } = await counter.call(served.url, 'logEvent', fields);
    return { status, milliseconds: performance.now() - began };
  };
  const logMany = async () => {
    const attrValue = 'x'.repeat(2_000);
    const eventAttrArray = Array.from({ length: 90 }, (_, nth) => ({ attrID: `ballast-${nth}`, attrValue }));
    const event = Array.from({ length: 5 }, () => {
      eventCount += 1;
      return { eventID: 2, eventUUID: `event-${eventCount}`, eventAttrArray };
    });
    return counter.call(served.url, 'logEvents', { tokenUUID: server, userUUID: 'visitor-of-batches', event });
  };
  // Warms up the server, so that heap growth caused by healthy clients is not attributed to the attack.
  for (let nth = 0; nth < times({ quick: 10, full: 60 }); nth += 1) {
    await Promise.all([...Array.from({ length: 50 }, log), ...Array.from({ length: 5 }, logMany)]);
  }
  const pid = served.process.pid as number;
  return { path, port, served, counter, log, logMany, megabytes: () => readResidentMegabytes(pid) };
};
type Running = Awaited<ReturnType<typeof start>>;

/** Runs four healthy clients for this long. They pause between events. */
const runHealthyClients = async ({ log }: Running, milliseconds: number) => {
  const durations: number[] = [];
  const statuses = new Set<number>();
  const end = performance.now() + milliseconds;
  const client = async () => {
    while (performance.now() < end) {
      const response = await log();
      durations.push(response.milliseconds);
      statuses.add(response.status);
      await wait(5);
    }
  };
  await Promise.all(Array.from({ length: 4 }, client));
  return { durations, statuses: [...statuses] };
};

const tooLarge = 'HTTP/1.1 413 Payload Too Large';

/**
 * Attacks until memory has grown by more than `minGrowth` megabytes, but no longer than `milliseconds` plus a minute.
 */
const attackAndMeasure = async (
  running: Running,
  kind: Kind,
  count: number,
  { milliseconds = seconds * 1_000, minGrowth = -Infinity } = {},
) => {
  const before = running.megabytes();
  const readMaximum = trackMaximum(running.megabytes);
  const hostile = await attack(running.port, kind, count);
  const { durations, statuses } = await runHealthyClients(running, milliseconds);
  const { status } = await running.logMany();
  // Allows extra time, because on a busy machine the clients need some time to send that much.
  const end = performance.now() + 60_000;
  const isRefused = () => !kind.endsWith('of 100 MB') || hostile.readStatus().responses.includes(tooLarge);
  const isOver = () => isRefused() && running.megabytes() - before > minGrowth;
  while (!isOver() && performance.now() < end) await wait(50);
  const { open, responses } = await hostile.stop();
  return {
    kind,
    growth: readMaximum() - before,
    p99: quantile(durations, 0.99),
    statuses: [...statuses, status],
    open,
    responses,
  };
};

test('limits its memory and serves others in time despite slow, stalled, huge and idle clients', async (context) => {
  const running = await start('ours');
  // Measures before and after each kind of client, because other load on the machine varies.
  const rest = async () => quantile((await runHealthyClients(running, seconds * 200)).durations, 0.99);
  const results: (Awaited<ReturnType<typeof attackAndMeasure>> & { readonly calm: number })[] = [];
  let before = await rest();
  for (const [kind, count] of Object.entries(counts)) {
    const attackResult = await attackAndMeasure(running, kind as Kind, count);
    const after = await rest();
    results.push({ ...attackResult, calm: Math.max(before, after) });
    before = after;
  }
  const lines = results.map(
    ({ kind, p99, calm, growth }) =>
      `${counts[kind]} ${kind}: p99 ${Math.round(p99)} ms (${Math.round(calm)} without), ${growth > 0 ? '+' : ''}${Math.round(growth)} MB`,
  );
  console.info(lines.join('\n'));
  for (const { statuses, growth, p99, calm, kind } of results) {
    expect([kind, ...new Set(statuses)]).toEqual([kind, 200]);
    expect(growth, kind).toBeLessThan(maxGrowthMegabytes);
    if (isFull) expect(p99, kind).toBeLessThan(Math.max(maxMilliseconds, 3 * calm));
  }
  // These requests are refused, and their connections closed, as soon as they announce their length.
  const resultOf = (kind: Kind) => results.find((result) => result.kind === kind) as (typeof results)[number];
  expect(resultOf('bodies of 100 MB').responses).toEqual([tooLarge]);
  // These requests announce no length. Before one of them exceeds the limit, others can run out of the shared memory.
  const { responses } = resultOf('chunks of 100 MB');
  expect(responses).toContain(tooLarge);
  expect([tooLarge, 'HTTP/1.1 503 Service Unavailable']).toEqual(expect.arrayContaining([...responses]));
  if (isFull) expect([resultOf('bodies of 100 MB').open, resultOf('chunks of 100 MB').open]).toEqual([0, 0]);
  await stopServerProcess(running.served);
  expect(findDifferences(running.counter, running.path)).toEqual([]);

  const weakened = await start('weakened', changeServer(folder, 'without-arrivals', withoutArrivalLimit));
  const { growth } = await attackAndMeasure(weakened, 'stalled bodies', 100, {
    milliseconds: 1_000,
    minGrowth: maxGrowthMegabytes,
  });
  await stopServerProcess(weakened.served);
  expect(growth).toBeGreaterThan(maxGrowthMegabytes);
  report(context, {
    fault: 'slow clients',
    count: Object.entries(counts)
      .map(([kind, count]) => `${count} ${kind}`)
      .join(', '),
    result: lines.join('; '),
    weakened: `no limit on received bytes: +${Math.round(growth)} MB for 100 stalled bodies`,
  });
});

test('limits its memory despite many small gzip bodies that are large after decompression', async (context) => {
  const count = counts['gzip bodies'];
  const measureGzip = async (name: string, main?: string, minGrowth = -Infinity) => {
    const running = await start(name, main);
    const before = running.megabytes();
    const { statuses, ...first } = await attackAndMeasure(running, 'gzip bodies', count);
    let { growth } = first;
    // Retries, because on a busy machine the bodies might arrive one at a time.
    for (let nth = 0; nth < 10 && growth <= minGrowth; nth += 1) {
      const growthSoFar = running.megabytes() - before;
      growth = growthSoFar + (await attackAndMeasure(running, 'gzip bodies', count)).growth;
    }
    await stopServerProcess(running.served);
    return { growth, statuses, line: `from ${Math.round(before)} to ${Math.round(before + growth)} MB` };
  };
  const ours = await measureGzip('gzip');
  const unreserved = changeServer(folder, 'without-reserve', withoutDecompressionLimit);
  const weakened = await measureGzip('gzip-unreserved', unreserved, maxGrowthMegabytes);
  console.info(ours.line, weakened.line);
  expect(ours.statuses.every((status) => status === 200)).toBe(true);
  expect(ours.growth).toBeLessThan(maxGrowthMegabytes);
  expect(weakened.growth).toBeGreaterThan(maxGrowthMegabytes);
  report(context, {
    fault: 'gzip bodies',
    count: `${count} concurrent gzip bodies of 1 KB, 1 MB each after decompression`,
    result: ours.line,
    weakened: `does not count decompressed bytes, no limit on concurrent decompression: ${weakened.line}`,
  });
});
