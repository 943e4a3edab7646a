import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { browserToken, createTestAccount, startServerProcess, stopServerProcess } from '../tools/server-process.ts';
import { changeServer } from '../tools/weakened-server.ts';
import { countingDaysByCalendar } from '../weaknesses/store.ts';
import { createLedger, judge, readEverything } from './tools/ledger.ts';

const repetitions = times({ quick: 1, full: 20 });

/** libfaketime changes a process's wall clock, but not its monotonic clock. */
const library = readdirSync('/usr/lib')
  .map((architecture) => `/usr/lib/${architecture}/faketime/libfaketimeMT.so.1`)
  .find((path) => existsSync(path));

/**
 * The clock's offsets: a day ahead, a day behind, 1970, about four years ahead and back, then forward through a week.
 */
const clocks = ['+0', '+1d', '-1d', '@1970-01-01 00:00:01', '+0', '+1500d', '+0', '+2d', '+4d', '+6d'];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-clock-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

interface LogResponse {
  readonly status: number;
  readonly duplicate?: boolean;
}

const log = async (url: string, tokenUUID: string, event: object): Promise<LogResponse> => {
  const body = JSON.stringify({ tokenUUID, eventID: 3, ...event });
  const response = await fetch(`${url}/event/logEvent`, { method: 'POST', body });
  const { duplicate = false } = (await response.json()) as { duplicate?: boolean };
  return { status: response.status, duplicate };
};

const serveWithJumpingClock = async (name: string, main?: string) => {
  const path = join(folder, `${name}.db`);
  const clock = join(folder, `${name}.clock`);
  // Replaced atomically, because the process might read it at any moment.
  const setClock = (time: string) => {
    writeFileSync(`${clock}.new`, `${time}\n`);
    renameSync(`${clock}.new`, clock);
  };
  setClock('+0');
  const token = await createTestAccount(path);
  const env = {
    LD_PRELOAD: library as string,
    FAKETIME_TIMESTAMP_FILE: clock,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
    RATE_LIMIT: 'user=5/5',
    // Trusts the client as a proxy, so that the server does not delay a 429 by a second.
    TRUST_PROXY: '127.0.0.1',
  };
  const served = await startServerProcess(path, await freePort(), { main, env });
  const ledger = createLedger(4);
  const load = ledger.send(served.url, token);
  const numbers = Array.from({ length: 20 }, (_, nth) => nth);
  const eventsOf = (round: number) => {
    const nameOf = (nth: number) => `round_${String(round).padStart(2, '0')}_${String(nth).padStart(2, '0')}`;
    return numbers.map((nth) => ({ userUUID: 'the-orderly-visitor', eventUUID: nameOf(nth) }));
  };
  let missedRepeats = 0;
  let limitsBroken = 0;
  const sent: string[] = [];
  for (const [round, time] of clocks.entries()) {
    setClock(time);
    for (const event of eventsOf(round)) {
      expect((await log(served.url, token, event)).status).toBe(200);
      sent.push(`${event.userUUID} ${event.eventUUID}`);
    }
    for (const event of eventsOf(0)) if (!(await log(served.url, token, event)).duplicate) missedRepeats += 1;

    // Logs as a new visitor in each round. The server accepts a burst, then refuses requests, then accepts another
    // burst after a pause.
    const visitor = { userUUID: `visitor-of-the-round-${round}` };
    const visit = async () => (await log(served.url, browserToken, visitor)).status;
    const statuses = new Set<number>();
    // Retries, because on a busy machine, 40 requests might take longer than the limit needs to recover.
    for (let tries = 0; tries < 20 && !statuses.has(429); tries += 1)
      for (const status of await Promise.all(Array.from({ length: 40 }, visit))) statuses.add(status);
    if (!statuses.has(200) || !statuses.has(429)) limitsBroken += 1;
    let isRecovered = false;
    for (let tries = 0; tries < 60 && !isRecovered; tries += 1) {
      await wait(500);
      isRecovered = (await visit()) === 200;
    }
    if (!isRecovered) limitsBroken += 1;
  }
  await load.stop();
  const stored = await readEverything(served.url, token);
  const others = [...ledger.endings].filter(([ending]) => ending !== '200');
  const exitCode = await stopServerProcess(served);
  const orderly = stored.filter((key) => key.startsWith('the-orderly-visitor'));
  const inOrder = JSON.stringify(orderly) === JSON.stringify(sent);
  return { ...judge(ledger, stored), inOrder, missedRepeats, limitsBroken, others, exitCode, events: stored.length };
};

test('keeps events in order, detects duplicates, and applies rate limits while its clock jumps', async (context) => {
  let events = 0;
  // Runs in parallel, because each run mostly waits.
  const weakenedRun = serveWithJumpingClock('weakened', changeServer(folder, 'by-calendar', countingDaysByCalendar));
  for (let nth = 0; nth < repetitions; nth += 1) {
    const result = await serveWithJumpingClock(`ours-${nth}`);
    expect(result).toMatchObject({
      lost: 0,
      twice: 0,
      inOrder: true,
      missedRepeats: 0,
      limitsBroken: 0,
      others: [],
      exitCode: 0,
    });
    events += result.events;
  }
  const weakened = await weakenedRun;
  expect(weakened.missedRepeats).toBeGreaterThan(0);
  report(context, {
    fault: 'clock changes',
    count: `${repetitions} × ${clocks.length} clocks (± a day, 1970, 1,500 days ahead and back, a week), ${events} events`,
    result: '0 lost, 0 twice, all in order, 0 repeats missed, rate limits hold',
    weakened: `counts days by the calendar: ${weakened.missedRepeats} repeats missed`,
  });
});
