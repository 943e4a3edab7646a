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
  makeAccount,
  residentMegabytes,
  startServed,
  stopServed,
  watchMost,
  withoutLimits,
} from '../../tools/served.ts';
import { changeServer } from '../../tools/weakened.ts';
import { withoutBoundOnArrivals, withoutBoundOnUnpacking } from '../../weaknesses/http.ts';
import { createBooks, differences } from '../tools/books.ts';
import type { Kind, Said } from '../tools/hostile-clients.ts';

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
/** On a machine that is free; on a busy one, three times what it takes without an attack. */
const maxMilliseconds = 100;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-slow-'));
  const source = fileURLToPath(new URL('../tools/hostile-clients.ts', import.meta.url));
  buildSync({ entryPoints: [source], bundle: true, platform: 'node', format: 'esm', outfile: script() });
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The hostile clients as JavaScript: they are started often, and to compile them takes longer than to run them. */
const script = () => join(folder, 'hostile-clients.mjs');

/** Hostile clients in a process of their own; resolves when all are connected. */
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
    if (child.exitCode !== null) throw new Error(`the hostile clients ended with ${child.exitCode}`);
    await wait(10);
  }
  const said = (): Said => JSON.parse(text.trimEnd().split('\n').at(-1) as string);
  return {
    said,
    async stop() {
      const last = said();
      child.stdin.end();
      await ended;
      return last;
    },
  };
};

const env = {
  RATE_LIMIT: withoutLimits(),
};

const start = async (name: string, main?: string) => {
  const path = join(folder, `${name}.db`);
  const server = await makeAccount(path);
  const port = await freePort();
  const served = await startServed(path, port, { main, env });
  const books = createBooks();
  let made = 0;
  const log = async () => {
    made += 1;
    const began = performance.now();
    const fields = { tokenUUID: browserToken, userUUID: 'visitor-0123456789', eventID: 1, eventUUID: `event-${made}` };
    const { status } = await books.ask(served.url, 'logEvent', fields);
    return { status, milliseconds: performance.now() - began };
  };
  const logMany = async () => {
    const attrValue = 'x'.repeat(2_000);
    const eventAttrArray = Array.from({ length: 90 }, (_, nth) => ({ attrID: `ballast-${nth}`, attrValue }));
    const event = Array.from({ length: 5 }, () => {
      made += 1;
      return { eventID: 2, eventUUID: `event-${made}`, eventAttrArray };
    });
    return books.ask(served.url, 'logEvents', { tokenUUID: server, userUUID: 'visitor-of-batches', event });
  };
  // As much as a busy server holds anyway: what its heap has grown to for healthy clients is nobody's attack.
  for (let nth = 0; nth < times({ quick: 10, full: 60 }); nth += 1) {
    await Promise.all([...Array.from({ length: 50 }, log), ...Array.from({ length: 5 }, logMany)]);
  }
  const pid = served.process.pid as number;
  return { path, port, served, books, log, logMany, megabytes: () => residentMegabytes(pid) };
};
type Running = Awaited<ReturnType<typeof start>>;

/** Healthy clients for a while: four that log events, each with a pause between two. */
const useFor = async ({ log }: Running, milliseconds: number) => {
  const taken: number[] = [];
  const statuses = new Set<number>();
  const end = performance.now() + milliseconds;
  const client = async () => {
    while (performance.now() < end) {
      const answer = await log();
      taken.push(answer.milliseconds);
      statuses.add(answer.status);
      await wait(5);
    }
  };
  await Promise.all(Array.from({ length: 4 }, client));
  return { taken, statuses: [...statuses] };
};

const tooLarge = 'HTTP/1.1 413 Payload Too Large';

/** Goes on until memory has grown by more than `least` megabytes, or for a minute. */
const press = async (
  running: Running,
  kind: Kind,
  count: number,
  { milliseconds = seconds * 1_000, least = -Infinity, before = running.megabytes() } = {},
) => {
  const most = watchMost(running.megabytes);
  const hostile = await attack(running.port, kind, count);
  const { taken, statuses } = await useFor(running, milliseconds);
  const { status } = await running.logMany();
  // On a busy machine it takes them a while to send that much.
  const end = performance.now() + 60_000;
  const isRefused = () => !kind.endsWith('of 100 MB') || hostile.said().answers.includes(tooLarge);
  const isOver = () => isRefused() && running.megabytes() - before > least;
  while (!isOver() && performance.now() < end) await wait(50);
  const { open, answers } = await hostile.stop();
  return { kind, growth: most() - before, p99: quantile(taken, 0.99), statuses: [...statuses, status], open, answers };
};

test('slow, stalled, huge and idle clients take neither memory nor the others’ time', async (context) => {
  const running = await start('ours');
  // Between two kinds of clients: something else may use the machine for a while.
  const rest = async () => quantile((await useFor(running, seconds * 200)).taken, 0.99);
  const results: (Awaited<ReturnType<typeof press>> & { readonly calm: number })[] = [];
  let before = await rest();
  for (const [kind, count] of Object.entries(counts)) {
    const megabytes = running.megabytes();
    let pressed = await press(running, kind as Kind, count);
    // V8 tolerates 64 MB of buffers that nobody holds any more; what clients make the server hold grows each time.
    for (let nth = 0; nth < 2 && pressed.growth >= maxGrowthMegabytes; nth += 1)
      pressed = await press(running, kind as Kind, count, { before: megabytes });
    const after = await rest();
    results.push({ ...pressed, calm: Math.max(before, after) });
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
  // Refused as soon as they have said how much they want, and closed.
  const huge = (kind: Kind) => results.find((result) => result.kind === kind) as (typeof results)[number];
  expect(huge('bodies of 100 MB').answers).toEqual([tooLarge]);
  // Nobody knows how much these want: before one has sent too much, others may need the room.
  const { answers } = huge('chunks of 100 MB');
  expect(answers).toContain(tooLarge);
  expect([tooLarge, 'HTTP/1.1 503 Service Unavailable']).toEqual(expect.arrayContaining([...answers]));
  if (isFull) expect([huge('bodies of 100 MB').open, huge('chunks of 100 MB').open]).toEqual([0, 0]);
  await stopServed(running.served);
  expect(differences(running.books, running.path)).toEqual([]);

  const weakened = await start('weakened', changeServer(folder, 'without-arrivals', withoutBoundOnArrivals));
  const { growth } = await press(weakened, 'stalled bodies', 100, {
    milliseconds: 1_000,
    least: maxGrowthMegabytes,
  });
  await stopServed(weakened.served);
  expect(growth).toBeGreaterThan(maxGrowthMegabytes);
  report(context, {
    fault: 'slow clients',
    count: Object.entries(counts)
      .map(([kind, count]) => `${count} ${kind}`)
      .join(', '),
    result: lines.join('; '),
    weakened: `no bound on what has come in: +${Math.round(growth)} MB for 100 stalled bodies`,
  });
});

test('many small bodies of gzip, large once unpacked, take little memory', async (context) => {
  const count = counts['gzip bodies'];
  const pressed = async (name: string, main?: string, least = -Infinity) => {
    const running = await start(name, main);
    const before = running.megabytes();
    const { statuses, ...first } = await press(running, 'gzip bodies', count);
    let { growth } = first;
    // On a busy machine the bodies may arrive one at a time.
    for (let nth = 0; nth < 10 && growth <= least; nth += 1) {
      const grown = running.megabytes() - before;
      growth = grown + (await press(running, 'gzip bodies', count)).growth;
    }
    await stopServed(running.served);
    return { growth, statuses, line: `from ${Math.round(before)} to ${Math.round(before + growth)} MB` };
  };
  const ours = await pressed('gzip');
  const unreserved = changeServer(folder, 'without-reserve', withoutBoundOnUnpacking);
  const weakened = await pressed('gzip-unreserved', unreserved, maxGrowthMegabytes);
  console.info(ours.line, weakened.line);
  expect(ours.statuses.every((status) => status === 200)).toBe(true);
  expect(ours.growth).toBeLessThan(maxGrowthMegabytes);
  expect(weakened.growth).toBeGreaterThan(maxGrowthMegabytes);
  report(context, {
    fault: 'gzip',
    count: `${count} gzip bodies of 1 KB at once, 1 MB each once unpacked`,
    result: ours.line,
    weakened: `unpacked bytes not counted, any number unpacked at once: ${weakened.line}`,
  });
});
