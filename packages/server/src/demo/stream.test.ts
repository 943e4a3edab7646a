import { Hono } from 'hono';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { EventPage, Store } from '../store/store.ts';
import { createStream } from './stream.ts';

const empty: EventPage = { events: [], next: null, through: 0 };

/** Creates the panel's stream with a store whose reads fail from number `failsFrom` on. */
const setUp = (failsFrom: number) => {
  let reads = 0;
  let commit = () => {};
  let logged = '';
  const stream = createStream({
    store: {
      getEvents: async () => {
        reads += 1;
        if (reads >= failsFrom) throw new Error('disk of ada@shop.example');
        return empty;
      },
      getContact: () => Promise.reject(new Error('unexpected call')),
      onCommit: (listener) => {
        commit = listener;
        return () => {};
      },
    } as Partial<Store> as Store,
    caller: { account: 1, token: 1, browser: false },
    log: pino({}, { write: (line) => (logged += line) }),
    isStopping: () => false,
  });
  const headers = { host: 'localhost', cookie: 'userUUID=a-browser-of-a-test' };
  const env = { incoming: { socket: { remoteAddress: '127.0.0.1' } } };
  const request = (method = 'GET') => new Hono().get('/', stream).request('/', { method, headers }, env);
  return { request, commit: () => commit(), logged: () => logged };
};

it('responds with 500 to any number of requests while the store fails', async () => {
  const { request, logged } = setUp(1);
  for (let times = 0; times < 30; times++) expect((await request()).status).toBe(500);
  expect(logged()).toMatch(/the demo panel failed/);
  expect(logged()).not.toContain('ada@');
});

it('opens no stream for HEAD requests', async () => {
  const { request } = setUp(100);
  for (let times = 0; times < 30; times++) expect((await request('HEAD')).status).toBe(200);
  const response = await request();
  expect(response.status).toBe(200);
  await response.body?.cancel();
});

it('sends an error event and ends if a later read fails', async () => {
  const { request, commit, logged } = setUp(3);
  const response = await request();
  expect(response.status).toBe(200);
  setTimeout(commit, 100);
  const text = await response.text();
  expect(text).toMatch(/^data: \{"userUUID"[^\n]*\n\nevent: error\ndata: [^\n]+\n\n$/m);
  expect(text).not.toContain('disk');
  expect(logged()).toMatch(/"fault":.*disk of …@…/);
});
