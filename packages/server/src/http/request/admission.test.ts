import { Hono } from 'hono';
import pino from 'pino';
import { expect, test } from 'vitest';
import { emptyAnswer } from '../answers/answers.ts';
import { createRouteServer } from '../routes.ts';
import { createAdmission, createArrivals } from './admission.ts';

/** A server of a route that reads a body and answers when it is told to, and holds at most 10,000 bytes. */
const open = () => {
  const waiting: (() => void)[] = [];
  let read = 0;
  const admit = createAdmission(10_000);
  const { serve } = createRouteServer(pino({ level: 'silent' }), async (_, error) => error);
  const app = new Hono().all(
    '/',
    serve({
      methods: ['POST'],
      answer: (c, exchange) =>
        admit(c, async ({ hold }) => {
          const { byteLength } = await c.req.arrayBuffer();
          read += 1;
          hold(byteLength);
          await new Promise<void>((resolve) => waiting.push(resolve));
          return emptyAnswer(exchange, 200);
        }),
    }),
  );
  const post = (bytes: number, headers: Record<string, string> = { 'Content-Length': String(bytes) }) =>
    app.request('/', { method: 'POST', body: 'x'.repeat(bytes), headers });
  return { post, answerAll: () => waiting.splice(0).map((resolve) => resolve()), read: () => read };
};

const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

test('what would be too much is refused unread, until what is held has been answered', async () => {
  const { post, answerAll, read } = open();
  const first = post(6_000);
  await turn();
  const refused = await post(6_000);
  expect([refused.status, refused.headers.get('Retry-After'), read()]).toEqual([503, '1', 1]);
  const small = post(1_000);
  await turn();
  answerAll();
  expect([(await first).status, (await small).status]).toEqual([200, 200]);
  const again = post(6_000);
  await turn();
  answerAll();
  expect((await again).status).toBe(200);
});

test('what says nothing of its length is refused when it has been read', async () => {
  const { post, answerAll } = open();
  const first = post(6_000, {});
  await turn();
  expect((await post(6_000, {})).status).toBe(503);
  answerAll();
  expect((await first).status).toBe(200);
});

const kibibyte = 1024;

/** Bodies that come in under a bound of 100 KiB; `givenUp` are their names. */
const openArrivals = () => {
  const arrive = createArrivals(100 * kibibyte);
  const givenUp: string[] = [];
  return { givenUp, begin: (name: string) => arrive(() => givenUp.push(name)) };
};

test('gives up those that have been coming in for longest, and only as many as it must', () => {
  const { begin, givenUp } = openArrivals();
  const bodies = ['first', 'second', 'third'].map(begin);
  for (const body of bodies) body.add(32 * kibibyte);
  expect(givenUp).toEqual([]);
  begin('fourth').add(32 * kibibyte);
  expect(givenUp).toEqual(['first']);
  begin('large').add(60 * kibibyte);
  expect(givenUp).toEqual(['first', 'second', 'third']);
});

test('counts no longer what has come in whole, and what was given up', () => {
  const { begin, givenUp } = openArrivals();
  for (let nth = 0; nth < 100; nth += 1) {
    const body = begin(`body ${nth}`);
    body.add(90 * kibibyte);
    body.end();
  }
  const stalled = begin('stalled');
  stalled.add(90 * kibibyte);
  begin('next').add(20 * kibibyte);
  expect(givenUp).toEqual(['stalled']);
  stalled.add(90 * kibibyte);
  stalled.end();
  begin('last').add(70 * kibibyte);
  expect(givenUp).toEqual(['stalled']);
});

test('counts what each piece takes that comes in by itself', () => {
  const { begin, givenUp } = openArrivals();
  const dripping = begin('dripping');
  for (let nth = 0; nth < 100; nth += 1) dripping.add(1);
  expect(givenUp).toEqual(['dripping']);
});
