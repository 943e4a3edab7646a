import { Hono } from 'hono';
import pino from 'pino';
import { expect, test } from 'vitest';
import { emptyResponse } from '../responses/responses.ts';
import { createRouteServer } from '../routes.ts';
import { createAdmission, createBodyMemoryLimit } from './admission.ts';

/** Creates a route with a limit of 10,000 bytes. It reads a body, and responds when `respondToAll` is called. */
const open = () => {
  const waiting: (() => void)[] = [];
  let read = 0;
  const admit = createAdmission(10_000);
  const { serve } = createRouteServer(pino({ level: 'silent' }), async (_, error) => error);
  const app = new Hono().all(
    '/',
    serve({
      methods: ['POST'],
      handle: (c, exchange) =>
        admit(c, async ({ hold }) => {
          const { byteLength } = await c.req.arrayBuffer();
          read += 1;
          hold(byteLength);
          await new Promise<void>((resolve) => waiting.push(resolve));
          return emptyResponse(exchange, 200);
        }),
    }),
  );
  const post = (bytes: number, headers: Record<string, string> = { 'Content-Length': String(bytes) }) =>
    app.request('/', { method: 'POST', body: 'x'.repeat(bytes), headers });
  return { post, respondToAll: () => waiting.splice(0).map((resolve) => resolve()), read: () => read };
};

const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

test('refuses bodies without reading them while memory is full', async () => {
  const { post, respondToAll, read } = open();
  const first = post(6_000);
  await turn();
  const refused = await post(6_000);
  expect([refused.status, refused.headers.get('Retry-After'), read()]).toEqual([503, '1', 1]);
  const small = post(1_000);
  await turn();
  respondToAll();
  expect([(await first).status, (await small).status]).toEqual([200, 200]);
  const again = post(6_000);
  await turn();
  respondToAll();
  expect((await again).status).toBe(200);
});

test('refuses a body without Content-Length after reading it', async () => {
  const { post, respondToAll } = open();
  const first = post(6_000, {});
  await turn();
  expect((await post(6_000, {})).status).toBe(503);
  respondToAll();
  expect((await first).status).toBe(200);
});

const kibibyte = 1024;

/** Creates a limit of 100 KiB on arriving bodies. `aborted` lists the names of the aborted bodies. */
const openArrivals = () => {
  const arrive = createBodyMemoryLimit(100 * kibibyte);
  const aborted: string[] = [];
  return { aborted, start: (name: string) => arrive(() => aborted.push(name)) };
};

test('aborts the bodies that have been arriving longest, and only as many as necessary', () => {
  const { start, aborted } = openArrivals();
  const bodies = ['first', 'second', 'third'].map(start);
  for (const body of bodies) body.add(32 * kibibyte);
  expect(aborted).toEqual([]);
  start('fourth').add(32 * kibibyte);
  expect(aborted).toEqual(['first']);
  start('large').add(60 * kibibyte);
  expect(aborted).toEqual(['first', 'second', 'third']);
});

test('stops counting complete and aborted bodies', () => {
  const { start, aborted } = openArrivals();
  for (let nth = 0; nth < 100; nth += 1) {
    const body = start(`body ${nth}`);
    body.add(90 * kibibyte);
    body.end();
  }
  const stalled = start('stalled');
  stalled.add(90 * kibibyte);
  start('next').add(20 * kibibyte);
  expect(aborted).toEqual(['stalled']);
  stalled.add(90 * kibibyte);
  stalled.end();
  start('last').add(70 * kibibyte);
  expect(aborted).toEqual(['stalled']);
});

test('counts the overhead of each chunk', () => {
  const { start, aborted } = openArrivals();
  const dripping = start('dripping');
  for (let nth = 0; nth < 100; nth += 1) dripping.add(1);
  expect(aborted).toEqual(['dripping']);
});
