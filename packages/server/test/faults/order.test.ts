import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { times } from './counts.ts';
import { createLedger } from './ledger.ts';
import { report } from './report.ts';
import { freePort, makeAccount, startServed, stopServed } from './served.ts';
import { attachStrace, callsIn, cannotTrace, isAnswer, isSync, traced } from './tracing.ts';
import { changeServer, withoutSync } from './weakened.ts';

const requests = times({ quick: 200, full: 10_000 });
/** So few events are not packed together yet, whose writes would lie between those of an event and its answer. */
const requestsPerServer = 1_000;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-order-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Sends events one after the other; answers how many answers began before the event's frames were written and synced. */
const countEarlyAnswers = async (name: string, count: number, main?: string): Promise<number> => {
  const path = join(folder, `${name}.db`);
  const token = await makeAccount(path);
  const served = await startServed(path, await freePort(), { main });
  const log = join(folder, `${name}.log`);
  const calls = 'trace=fsync,fdatasync,pwrite64,write,writev,sendto,sendmsg';
  const detach = await attachStrace(served.process.pid as number, log, '-s', '16', '-e', calls);
  const ledger = createLedger(1);
  for (let sent = 0; sent < count; sent += 1) expect(await ledger.sendOne(served.url, token)).toBe(true);
  // The client may have an answer before strace has told of the end of the call that sent it.
  for (let left = 100; left > 0 && callsIn(log).filter(isAnswer).length < count; left -= 1) await wait(50);
  await detach();
  await stopServed(served);

  // An answer counts from when it begins, a write or a sync only when it has ended.
  const happenings = callsIn(log)
    .flatMap((call) => {
      if (isAnswer(call)) return { at: call.began, what: 'answer' };
      if (isSync(call)) return { at: call.ended, what: 'sync' };
      return /^pwrite64\(\d+<[^>]*-wal>/.test(call.text) ? { at: call.ended, what: 'write' } : [];
    })
    .sort((a, b) => a.at - b.at)
    .map(({ what }) => what);
  const answers = happenings.flatMap((what, at) => (what === 'answer' ? [at] : []));
  expect(answers).toHaveLength(count);
  // One request at a time: between the answer before and this one lie the writes of its frames, and then their sync.
  return answers.filter((at, nth) => {
    const before = happenings.slice(nth === 0 ? 0 : answers[nth - 1], at);
    return !before.includes('write') || before.lastIndexOf('sync') < before.lastIndexOf('write');
  }).length;
};

test(traced(`writes and syncs each of ${requests} events before the first byte of its answer`), {
  timeout: 60_000 + requests * 100,
}, async (context) => {
  if (cannotTrace) context.skip(cannotTrace);
  for (let answered = 0; answered < requests; answered += requestsPerServer) {
    const count = Math.min(requestsPerServer, requests - answered);
    expect(await countEarlyAnswers(`ours-${answered}`, count)).toBe(0);
  }

  const weakenedRequests = 50;
  const early = await countEarlyAnswers('weakened', weakenedRequests, changeServer(folder, 'weakened', withoutSync));
  expect(early).toBeGreaterThan(0);
  report(context, {
    fault: 'order',
    count: `${requests} answers`,
    result: `0 begun before the sync of the event's frames`,
    weakened: `synchronous=NORMAL: ${early} of ${weakenedRequests} too early`,
  });
});
