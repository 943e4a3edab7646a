/** A server to measure, started by servers.ts with its kind and its database. It exits when its parent disconnects. */
import { createServer } from 'node:http';
import type { Server } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createAdaptorServer } from '@hono/node-server';
import pino from 'pino';
import { defaultRateLimits, type RateLimits } from '../../src/http/access/rate-limits.ts';
import { createApp } from '../../src/http/app.ts';
import type { Reports } from '../../src/reports/queries.ts';
import { openReports } from '../../src/serving/reports.ts';
import type { Store } from '../../src/store/store.ts';
import { openBenchmark } from '../account.ts';
import { startProfiler } from './profiler.ts';
import type { ServerCommand, ServerKind } from './servers.ts';

const [kind, path, ...priority] = process.argv.slice(2) as [ServerKind, string, ...string[]];
const [niceness, threads = 2] = priority.map(Number);

/** Limits so high that they are checked but never reached: all requests come from one address. */
const rateLimits = Object.fromEntries(
  Object.keys(defaultRateLimits).map((name) => [name, { perSecond: 1e9, burst: 1e10 }]),
) as unknown as RateLimits;

const withoutStorage = (store: Store): Store => ({
  ...store,
  logEvents: async ({ events }) => events.map(() => ({ kept: true })),
});

const log = pino({ level: 'silent' });

const serveApp = (store: Store, reports?: Reports): Server => {
  const app = createApp({
    store: kind === 'no storage' ? withoutStorage(store) : store,
    reports,
    log,
    basePath: '/',
    trustProxy: [],
    rateLimits,
    files: {},
  });
  return createAdaptorServer({ fetch: app.fetch }) as Server;
};

const serveBare = () =>
  createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const parsed = JSON.parse(Buffer.concat(chunks).toString());
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ eventUUID: parsed.eventUUID ?? '', status: '200' }));
    });
  });

/** The interval between ticks, which is subtracted from the measured delay. */
const tickMilliseconds = 1;
const eventLoop = monitorEventLoopDelay({ resolution: tickMilliseconds });
let stopProfiler: () => Promise<unknown> = async () => undefined;
const handlers: { readonly [Name in ServerCommand]: () => unknown } = {
  'watch the event loop': () => {
    eventLoop.reset();
    eventLoop.enable();
  },
  'event loop delay': () => Math.max(0, eventLoop.percentile(99) / 1e6 - tickMilliseconds),
  profile: async () => {
    stopProfiler = await startProfiler();
  },
  profiled: () => stopProfiler(),
};
process.on('message', async (command: ServerCommand) => process.send?.({ response: await handlers[command]() }));

const start = async (): Promise<void> => {
  const store = kind === 'bare' ? undefined : (await openBenchmark(path)).store;
  const config = {
    databaseURL: `sqlite:${path}`,
    reportsDir: undefined,
    reportsMemory: 256,
    reportsThreads: threads,
    reportsSeconds: 10,
  };
  const servedReports = store && kind === 'reporting' ? await openReports({ store, config, log, niceness }) : undefined;
  process.on('disconnect', async () => {
    await servedReports?.stop();
    await store?.close();
    process.exit();
  });
  const server = store ? serveApp(servedReports?.store ?? store, servedReports?.reports) : serveBare();
  server.listen(0, '127.0.0.1', () => {
    process.send?.((server.address() as { port: number }).port);
  });
};
void start();
