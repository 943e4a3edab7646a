/** A server under measurement: started by servers.ts, told its kind and its database, ends when its parent lets go. */
import { createServer } from 'node:http';
import type { Server } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import pino from 'pino';
import { createApp } from '../src/app.ts';
import { defaultRateLimits } from '../src/http/rate-limits.ts';
import { hashToken } from '../src/ingest/token.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import type { ServerKind } from './servers.ts';

const [kind, path] = process.argv.slice(2) as [ServerKind, string];
const token = 'server_for_the_benchmark_only_0000';

const openAccount = async (): Promise<Store> => {
  const onFatal = (error: Error) => {
    throw error;
  };
  const store = await openStore({ databaseURL: `sqlite:${path}`, role: 'server', onFatal });
  const hash = hashToken(token);
  if (!(await store.findAccess(hash))) {
    const time = Date.now();
    await store.createAccount({
      accountUUID: 'benchmark',
      accountName: 'Benchmark',
      accountOrigin: [],
      accountTimezone: 'UTC',
      strict: false,
      catalogues: {},
      tokens: [{ tokenID: 'benchmark', kind: 'server', tokenName: '', hash, text: null, time }],
      contacts: [],
      time,
    });
  }
  return store;
};

const withoutKeeping = (store: Store): Store => ({
  ...store,
  logEvents: async ({ events }) => events.map(() => ({ kept: true })),
});

const serveApp = async (keep: boolean): Promise<Server> => {
  const store = await openAccount();
  const app = createApp({
    store: keep ? store : withoutKeeping(store),
    log: pino({ level: 'silent' }),
    basePath: '/',
    trustProxy: [],
    rateLimits: defaultRateLimits,
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

const server = kind === 'bare' ? serveBare() : await serveApp(kind === 'durable');
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as { port: number }).port, token });
});
process.on('disconnect', () => process.exit());
