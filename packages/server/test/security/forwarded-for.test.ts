import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom, times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import {
  browserToken,
  createTestAccount,
  startServerProcess,
  stopServerProcess,
  withoutLimits,
} from '../tools/server-process.ts';
import { changeServer } from '../tools/weakened-server.ts';
import { readingForwardedForFromTheLeft } from '../weaknesses/http.ts';
import { createResponseCounter, findDifferences } from './tools/response-counter.ts';

const guesses = times({ quick: 1_500, full: 100_000 });
/** The documented limit for any minute. */
const maxPerMinute = 20;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-forwarded-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** All requests come from 127.0.0.1, which is a trusted proxy for one server and an unknown client for the other. */
const trusting = {
  TRUST_PROXY: '127.0.0.1,10.0.0.0/8',
  RATE_LIMIT: withoutLimits('user', 'unknownToken'),
};
const trustingNobody = { RATE_LIMIT: trusting.RATE_LIMIT, TRUST_PROXY: '' };

const start = async (name: string, env: Readonly<Record<string, string>>, main?: string) => {
  const path = join(folder, `${name}.db`);
  const server = await createTestAccount(path);
  const counter = createResponseCounter();
  const open = async () => startServerProcess(path, await freePort(), { main, env });
  return { path, server, counter, open, served: await open() };
};
type Running = Awaited<ReturnType<typeof start>>;

let eventCount = 0;
const userUUID = 'visitor-0123456789';
const log = ({ counter }: Running, url: string, tokenUUID: string, forwardedFor: string) => {
  eventCount += 1;
  const fields = { tokenUUID, userUUID, eventID: 1, eventUUID: `event-${eventCount}` };
  return counter.call(url, 'logEvent', fields, { 'X-Forwarded-For': forwardedFor });
};

/** Returns the maximum number of these times within any minute. */
const maxWithinMinute = (milliseconds: readonly number[]): number =>
  Math.max(0, ...milliseconds.map((from) => milliseconds.filter((at) => at >= from && at < from + 60_000).length));

interface GuessResult {
  /** The times at which guesses were evaluated. A 401 means that the token was looked up. */
  readonly evaluated: number[];
  readonly statuses: Set<number>;
  /** The statuses of requests with valid tokens in the meantime. */
  readonly validTokenStatuses: Set<number>;
}

/** Guesses tokens, each with the header `forwardedFor(nth)`. Sends valid tokens after every hundredth guess. */
const guess = async (running: Running, count: number, forwardedFor: (nth: number) => string): Promise<GuessResult> => {
  const random = createRandom(count);
  const evaluated: number[] = [];
  const statuses = new Set<number>();
  const validTokenStatuses = new Set<number>();
  let next = 0;
  const client = async () => {
    while (next < count) {
      const nth = next;
      next += 1;
      const kind = nth % 2 === 0 ? 'browser' : 'server';
      const token = `${kind}_${random().toString(36).slice(2)}${random().toString(36).slice(2)}`;
      const { status } = await log(running, running.served.url, token, forwardedFor(nth));
      statuses.add(status);
      if (status === 401) evaluated.push(performance.now());
      if (nth % 100 !== 0) continue;
      for (const validToken of [browserToken, running.server]) {
        validTokenStatuses.add((await log(running, running.served.url, validToken, forwardedFor(nth))).status);
      }
    }
  };
  await Promise.all(Array.from({ length: 32 }, client));
  return { evaluated, statuses, validTokenStatuses };
};

const anyAddress = (nth: number) => `198.51.${100 + ((nth >> 8) % 100)}.${nth % 256}`;

/** The header from an attacker who forges its left part before the request reaches the trusted proxies. */
const forged = (nth: number) => `${anyAddress(nth)}, 10.1.1.${nth % 256}, 203.0.113.9`;

test('limits guesses per IP address, whatever X-Forwarded-For contains, but accepts valid tokens', async (context) => {
  const behindProxy = await start('ours', trusting);
  const result = await guess(behindProxy, guesses, forged);
  expect([...result.statuses].sort()).toEqual([401, 429]);
  expect(maxWithinMinute(result.evaluated)).toBeLessThanOrEqual(maxPerMinute);
  expect([...result.validTokenStatuses]).toEqual([200]);

  const { served } = behindProxy;
  // Sends as another client behind the same proxy, which has its own limit.
  expect((await log(behindProxy, served.url, 'browser_nobody_has_this', '198.51.100.7')).status).toBe(401);
  expect((await log(behindProxy, served.url, 'browser_nobody_has_this', '203.0.113.9')).status).toBe(429);
  expect((await log(behindProxy, served.url, 'browser_nobody_has_this', '203.0.113.9, 10.0.0.1')).status).toBe(429);
  await stopServerProcess(served);

  // Restarts the server, which resets the limit. Once it is used up again, the server still accepts valid tokens that
  // it has not seen yet.
  const again = { ...behindProxy, served: await behindProxy.open() };
  for (let nth = 0; nth < 30; nth += 1) await log(again, again.served.url, `browser_nobody_${nth}`, '203.0.113.9');
  expect((await log(again, again.served.url, 'browser_nobody_has_this', '203.0.113.9')).status).toBe(429);
  for (const validToken of [browserToken, again.server]) {
    expect((await log(again, again.served.url, validToken, '203.0.113.9')).status).toBe(200);
  }
  await stopServerProcess(again.served);
  expect(findDifferences(behindProxy.counter, behindProxy.path)).toEqual([]);

  // Starts a server without a trusted proxy, which ignores the header.
  const exposed = await start('exposed', trustingNobody);
  const ofExposed = await guess(exposed, 200, anyAddress);
  expect(maxWithinMinute(ofExposed.evaluated)).toBeLessThanOrEqual(maxPerMinute);
  expect([...ofExposed.validTokenStatuses]).toEqual([200]);
  await stopServerProcess(exposed.served);
  expect(findDifferences(exposed.counter, exposed.path)).toEqual([]);

  const weakened = await start('weakened', trusting, changeServer(folder, 'left', readingForwardedForFromTheLeft));
  const ofWeakened = await guess(weakened, 200, forged);
  await stopServerProcess(weakened.served);
  const evaluated = maxWithinMinute(ofWeakened.evaluated);
  expect(evaluated).toBeGreaterThan(maxPerMinute);
  report(context, {
    fault: 'guessed tokens',
    count: `${guesses} guesses from one address, each with a different X-Forwarded-For; ${2 * Math.ceil(guesses / 100)} requests with valid tokens in between`,
    result: `at most ${maxWithinMinute(result.evaluated)} evaluated in a minute, the others 429; every valid token 200, also after a restart`,
    weakened: `reads X-Forwarded-For from the left: ${evaluated} of 200 evaluated`,
  });
});
