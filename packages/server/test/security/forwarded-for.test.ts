import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom, times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { browserToken, makeAccount, startServed, stopServed, withoutLimits } from '../tools/served.ts';
import { changeServer } from '../tools/weakened.ts';
import { readingForwardedForFromTheLeft } from '../weaknesses/http.ts';
import { createBooks, differences } from './tools/books.ts';

const guesses = times({ quick: 1_500, full: 100_000 });
/** By design, in any minute. */
const maxPerMinute = 20;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-forwarded-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Everything comes from here: a proxy to the one server, anybody to the other. */
const trusting = {
  TRUST_PROXY: '127.0.0.1,10.0.0.0/8',
  RATE_LIMIT: withoutLimits('user', 'unknownToken'),
};
const trustingNobody = { RATE_LIMIT: trusting.RATE_LIMIT, TRUST_PROXY: '' };

const start = async (name: string, env: Readonly<Record<string, string>>, main?: string) => {
  const path = join(folder, `${name}.db`);
  const server = await makeAccount(path);
  const books = createBooks();
  const open = async () => startServed(path, await freePort(), { main, env });
  return { path, server, books, open, served: await open() };
};
type Running = Awaited<ReturnType<typeof start>>;

let made = 0;
const userUUID = 'visitor-0123456789';
const log = ({ books }: Running, url: string, tokenUUID: string, forwardedFor: string) => {
  made += 1;
  const fields = { tokenUUID, userUUID, eventID: 1, eventUUID: `event-${made}` };
  return books.ask(url, 'logEvent', fields, { 'X-Forwarded-For': forwardedFor });
};

/** The most of these times that lie within any minute. */
const maxWithinMinute = (milliseconds: readonly number[]): number =>
  Math.max(0, ...milliseconds.map((from) => milliseconds.filter((at) => at >= from && at < from + 60_000).length));

interface Guessed {
  /** When a guess was told to be no token, which only a look can tell. */
  readonly evaluated: number[];
  readonly statuses: Set<number>;
  /** How good tokens fared meanwhile. */
  readonly good: Set<number>;
}

/** Guesses tokens, with `forwardedFor` what stands in the header each time; every hundredth request has a good one. */
const guess = async (running: Running, count: number, forwardedFor: (nth: number) => string): Promise<Guessed> => {
  const random = createRandom(count);
  const evaluated: number[] = [];
  const statuses = new Set<number>();
  const good = new Set<number>();
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
      for (const known of [browserToken, running.server]) {
        good.add((await log(running, running.served.url, known, forwardedFor(nth))).status);
      }
    }
  };
  await Promise.all(Array.from({ length: 32 }, client));
  return { evaluated, statuses, good };
};

const anyAddress = (nth: number) => `198.51.${100 + ((nth >> 8) % 100)}.${nth % 256}`;

/** An attacker behind a trusted proxy, who writes what he likes into the header before it gets there. */
const forged = (nth: number) => `${anyAddress(nth)}, 10.1.1.${nth % 256}, 203.0.113.9`;

test('X-Forwarded-For gives nobody more guesses than an address has, and good tokens go on', async (context) => {
  const behindProxy = await start('ours', trusting);
  const found = await guess(behindProxy, guesses, forged);
  expect([...found.statuses].sort()).toEqual([401, 429]);
  expect(maxWithinMinute(found.evaluated)).toBeLessThanOrEqual(maxPerMinute);
  expect([...found.good]).toEqual([200]);

  const { served } = behindProxy;
  // Another client of the same proxy, and the proxies themselves, have guesses of their own.
  expect((await log(behindProxy, served.url, 'browser_nobody_has_this', '198.51.100.7')).status).toBe(401);
  expect((await log(behindProxy, served.url, 'browser_nobody_has_this', '203.0.113.9')).status).toBe(429);
  expect((await log(behindProxy, served.url, 'browser_nobody_has_this', '203.0.113.9, 10.0.0.1')).status).toBe(429);
  await stopServed(served);

  // After a restart nothing is known of its guesses; when they are used up again, good tokens that nobody has sent yet go on.
  const again = { ...behindProxy, served: await behindProxy.open() };
  for (let nth = 0; nth < 30; nth += 1) await log(again, again.served.url, `browser_nobody_${nth}`, '203.0.113.9');
  expect((await log(again, again.served.url, 'browser_nobody_has_this', '203.0.113.9')).status).toBe(429);
  for (const known of [browserToken, again.server]) {
    expect((await log(again, again.served.url, known, '203.0.113.9')).status).toBe(200);
  }
  await stopServed(again.served);
  expect(differences(behindProxy.books, behindProxy.path)).toEqual([]);

  // Where no proxy is trusted, the header is what anybody says.
  const exposed = await start('exposed', trustingNobody);
  const ofExposed = await guess(exposed, 200, anyAddress);
  expect(maxWithinMinute(ofExposed.evaluated)).toBeLessThanOrEqual(maxPerMinute);
  expect([...ofExposed.good]).toEqual([200]);
  await stopServed(exposed.served);
  expect(differences(exposed.books, exposed.path)).toEqual([]);

  const weakened = await start('weakened', trusting, changeServer(folder, 'left', readingForwardedForFromTheLeft));
  const ofWeakened = await guess(weakened, 200, forged);
  await stopServed(weakened.served);
  const evaluated = maxWithinMinute(ofWeakened.evaluated);
  expect(evaluated).toBeGreaterThan(maxPerMinute);
  report(context, {
    fault: 'guessed tokens',
    count: `${guesses} guesses from an address, each with another X-Forwarded-For; ${2 * Math.ceil(guesses / 100)} requests with good tokens between them`,
    result: `at most ${maxWithinMinute(found.evaluated)} evaluated in a minute, the others 429; every good token 200, after a restart too`,
    weakened: `X-Forwarded-For read from the left: ${evaluated} of 200 evaluated`,
  });
});
