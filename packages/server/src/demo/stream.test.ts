import { Hono } from 'hono';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { EventPage, Store } from '../store/store.ts';
import { createStream } from './stream.ts';

const empty: EventPage = { events: [], next: null, through: 0 };

/** The panel's stream over a store whose reads fail from the given one on, and what was logged. */
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
      getContact: () => Promise.reject(new Error('nobody asks')),
      onCommit: (listener) => {
        commit = listener;
        return () => {};
      },
    } as Partial<Store> as Store,
    asker: { account: 1, token: 1, browser: false },
    log: pino({}, { write: (line) => (logged += line) }),
    isStopping: () => false,
  });
  const headers = { host: 'localhost', cookie: 'userUUID=a-browser-of-a-test' };
  const env = { incoming: { socket: { remoteAddress: '127.0.0.1' } } };
  const ask = (method = 'GET') => new Hono().get('/', stream).request('/', { method, headers }, env);
  return { ask, commit: () => commit(), logged: () => logged };
};

it('is refused while the store does not answer, as often as it is asked', async () => {
  const { ask, logged } = setUp(1);
  for (let times = 0; times < 30; times++) expect((await ask()).status).toBe(500);
  expect(logged()).toMatch(/the demo's panel failed/);
  expect(logged()).not.toContain('ada@');
});

it('is not begun for HEAD, which nobody would end', async () => {
  const { ask } = setUp(100);
  for (let times = 0; times < 30; times++) expect((await ask('HEAD')).status).toBe(200);
  const response = await ask();
  expect(response.status).toBe(200);
  await response.body?.cancel();
});

it('tells of a fault later on, and ends', async () => {
  const { ask, commit, logged } = setUp(3);
  const response = await ask();
  expect(response.status).toBe(200);
  setTimeout(commit, 100);
  const text = await response.text();
  expect(text).toMatch(/^data: \{"userUUID"[^\n]*\n\nevent: error\ndata: [^\n]+\n\n$/m);
  expect(text).not.toContain('disk');
  expect(logged()).toMatch(/"fault":.*disk of …@…/);
});
