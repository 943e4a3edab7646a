/**
 * What the scripts cost a page: the CPU time that Chromium's main thread takes to evaluate them, from DevTools traces, for a
 * CPU that is 4 times slower. It is the thread's own time, times 4: throttling puts the thread to sleep, and on a busy
 * machine so does the scheduler. `npm run bench -w packages/tracker`; the goal is under 2 ms. The floor is a script that does
 * nothing; beside it stand scripts that only look where any tracker has to look.
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

type TraceEvent = { name: string; ph: string; ts: number; tdur?: number; args?: { data?: { url?: string } } };

const folder = await mkdtemp(join(tmpdir(), 'firsthand-bench-'));
await buildTracker(folder);
const scripts: Record<string, { text: string; attributes: string }> = {
  nothing: { text: '', attributes: '' },
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
  const script = scripts[searchParams.get('of') ?? ''];
  if (pathname === '/script') response.writeHead(200, { 'content-type': 'text/javascript' }).end(script?.text);
  else if (pathname === '/') {
    const of = encodeURIComponent(searchParams.get('of') as string);
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(
        `<!doctype html><script async src="/script?of=${of}" data-token="browser_x" ${script?.attributes}></script>`,
      );
  } else response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"200"}');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});

/** Milliseconds of compiling and running the script in a new browser profile, as the trace has them. */
const measure = async (of: string): Promise<number> => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await browser.startTracing(page, { categories: ['devtools.timeline'] });
  await page.goto(`${site}/?of=${encodeURIComponent(of)}`, { waitUntil: 'load' });
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  await context.close();
  const microseconds = traceEvents
    .filter(({ name, ph, args }) => name === 'EvaluateScript' && ph === 'X' && args?.data?.url?.includes('/script'))
    .map(({ tdur = 0 }) => tdur * slowdown);
  if (microseconds.length === 0) throw new Error(`${of}: the trace has no EvaluateScript`);
  return microseconds.reduce((sum, each) => sum + each, 0) / 1_000;
};

const quantile = (sorted: number[], share: number) => sorted[Math.floor((sorted.length - 1) * share)]?.toFixed(2);

console.log(`milliseconds of EvaluateScript, CPU ${slowdown}× slower, ${rounds} first visits   median   p90`);
const times = new Map(Object.keys(scripts).map((of) => [of, [] as number[]]));
// The first round, which warms the browser up, doesn't count.
for (let round = 0; round <= rounds; round++)
  for (const [of, each] of times) {
    const milliseconds = await measure(of);
    if (round > 0) each.push(milliseconds);
  }
for (const [of, each] of times) {
  each.sort((a, b) => a - b);
  console.log(`${of.padEnd(66)} ${quantile(each, 0.5)?.padStart(6)} ${quantile(each, 0.9)?.padStart(5)}`);
}
await browser.close();
server.close();
