import { Hono } from 'hono';
import pino from 'pino';
import { expect, test } from 'vitest';
import { emptyAnswer } from '../answers/answers.ts';
import { createRouteServer } from '../routes.ts';
import { createAdmission } from './admission.ts';

/** A server of a route that reads a body and answers when it is told to, and holds at most 10,000 bytes. */
const open = () => {
  const waiting: (() => void)[] = [];
  let read = 0;
  const guard = createAdmission(10_000);
  const serve = createRouteServer({
    log: pino({ level: 'silent' }),
    isStopping: () => false,
    spendRefusal: async (_, error) => error,
  });
  const app = new Hono().all(
    '/',
    serve(
      guard({
        methods: ['POST'],
        answer: async (c, exchange, room) => {
          const { byteLength } = await c.req.arrayBuffer();
          read += 1;
          room.hold(byteLength);
          await new Promise<void>((resolve) => waiting.push(resolve));
          return emptyAnswer(exchange, 200);
        },
      }),
    ),
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
