/**
 * Measures what the scripts cost a page: the CPU time that Chromium's main thread takes to evaluate them, from DevTools
 * traces, times 4 for a slow CPU. The goal is under 2 ms: `npm run bench -w packages/tracker`.
 *
 * Multiplies the CPU time instead of throttling the browser, because throttling only puts the thread to sleep. An empty
 * script is the baseline; three others only read what any tracker has to read.
 *
 * The first script that touches an element pays for the prototypes of all elements. So each script is measured alone,
 * and after a script that has touched the head. The last columns show the later task in which the tracker starts.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { buildTracker } from '../build/build.ts';

const slowdown = 4;
const rounds = 20;

type TraceEvent = {
  name: string;
  ph: string;
  ts: number;
  tdur?: number;
  args?: { data?: { url?: string; frame?: string } };
};

const folder = await mkdtemp(join(tmpdir(), 'firsthand-bench-'));
await buildTracker(folder);
const scripts: Record<string, { text: string; attributes: string }> = {
  nothing: { text: '', attributes: '' },
  'reading document.currentScript': { text: 'document.currentScript', attributes: '' },
  'reading document.cookie': { text: 'document.cookie', attributes: '' },
  'opening localStorage': { text: 'Object.keys(localStorage)', attributes: '' },
  'tracker.js': { text: await readFile(join(folder, 'tracker.js'), 'utf8'), attributes: '' },
  'tracker.js, consent required': {
    text: await readFile(join(folder, 'tracker.js'), 'utf8'),
    attributes: 'data-consent="required"',
  },
  'tracker.full.js': {
    text: await readFile(join(folder, 'tracker.full.js'), 'utf8'),
    attributes: 'data-page-views="1" data-clicks data-outbound="2" data-downloads="3" data-contacts',
  },
};
await rm(folder, { recursive: true });

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url as string, 'http://bench');
  const script = scripts[searchParams.get('script') ?? ''];
  if (pathname === '/script') response.writeHead(200, { 'content-type': 'text/javascript' }).end(script?.text);
  else if (pathname === '/') {
    const name = encodeURIComponent(searchParams.get('script') as string);
    const tag = `<script async src="/script?script=${name}" data-token="browser_x" ${script?.attributes}></script>`;
    const before = searchParams.has('others') ? '<script>document.head</script>' : '';
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html>${before}${tag}`);
  } else response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"200"}');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});

/**
 * Returns, from the trace, how many milliseconds it took to compile and run the script in a new browser profile, and to
 * run its timers.
 */
const measure = async (name: string, pageOptions: string): Promise<{ evaluated: number; started: number }> => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await browser.startTracing(page, { categories: ['devtools.timeline'] });
  await page.goto(`${site}/?script=${encodeURIComponent(name)}${pageOptions}`, { waitUntil: 'load' });
  await page.waitForTimeout(50);
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  await context.close();
  const millisecondsOf = (is: (event: TraceEvent) => unknown) =>
    traceEvents
      .filter((event) => event.ph === 'X' && is(event))
      .reduce((sum, { tdur = 0 }) => sum + (tdur * slowdown) / 1_000, 0);
  const evaluated = millisecondsOf(
    ({ name, args }) => name === 'EvaluateScript' && args?.data?.url?.includes('/script'),
  );
  if (evaluated === 0) throw new Error(`${name}: the trace has no EvaluateScript event`);
  return { evaluated, started: millisecondsOf(({ name, args }) => name === 'TimerFire' && args?.data?.frame) };
};

const formatQuantile = (numbers: readonly number[], share: number): string =>
  String([...numbers].sort((a, b) => a - b)[Math.floor((numbers.length - 1) * share)]?.toFixed(2)).padStart(6);

const times = Object.keys(scripts).map((name) => ({
  name,
  columns: ['', '&others'].map((pageOptions) => ({
    pageOptions,
    evaluated: [] as number[],
    started: [] as number[],
  })),
}));
// The first round warms up the browser and is not counted.
for (let round = 0; round <= rounds; round++)
  for (const { name, columns } of times)
    for (const { pageOptions, evaluated, started } of columns) {
      const milliseconds = await measure(name, pageOptions);
      if (round === 0) continue;
      evaluated.push(milliseconds.evaluated);
      started.push(milliseconds.started);
    }
console.log(
  `EvaluateScript in milliseconds on a ${slowdown}× slower CPU, ${rounds} first visits: median, 90th percentile`,
);
console.log(`${''.padEnd(34)}  alone on a page   after others      start, after others`);
for (const { name, columns } of times) {
  const [alone, others] = columns.map(
    ({ evaluated }) => `${formatQuantile(evaluated, 0.5)} ${formatQuantile(evaluated, 0.9)}`,
  );
  const started = columns.at(-1)?.started ?? [];
  console.log(
    `${name.padEnd(34)}  ${alone}     ${others}     ${formatQuantile(started, 0.5)} ${formatQuantile(started, 0.9)}`,
  );
}
await browser.close();
server.close();
