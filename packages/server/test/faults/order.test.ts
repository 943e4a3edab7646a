import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { createTestAccount, startServerProcess, stopServerProcess } from '../tools/server-process.ts';
import { changeServer } from '../tools/weakened-server.ts';
import { withoutSync } from '../weaknesses/store.ts';
import { findEarlyResponses, listAcknowledgedEvents, straceOptions } from './tools/early-responses.ts';
import { createLedger } from './tools/ledger.ts';
import { attachStrace, isResponse, readCalls } from './tools/tracing.ts';

const requests = times({ quick: 200, full: 10_000 });
/**
 * The number of requests per server, which limits the size of a log, because the test reads the whole log into memory.
 */
const requestsPerServer = 1_000;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-order-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Sends events one by one. Returns how many responses began before the event's log frames were written and synced. */
const countEarlyResponses = async (name: string, count: number, main?: string): Promise<number> => {
  const path = join(folder, `${name}.db`);
  const token = await createTestAccount(path);
  const served = await startServerProcess(path, await freePort(), { main });
  const log = join(folder, `${name}.log`);
  const detach = await attachStrace(served.process.pid as number, log, ...straceOptions);
  const ledger = createLedger(1);
  for (let sent = 0; sent < count; sent += 1) expect(await ledger.sendOne(served.url, token)).toBe(true);
  // Polls, because the client can receive a response before strace logs the end of the call that sent the response.
  for (let left = 2_400; left > 0 && readCalls(log).filter(isResponse).length < count; left -= 1) await wait(50);
  await detach();
  await stopServerProcess(served);

  const calls = readCalls(log);
  const acknowledged = listAcknowledgedEvents(calls);
  expect([...ledger.acknowledged].filter((key) => !acknowledged.has(key.split(' ')[1] as string))).toEqual([]);
  expect(acknowledged.size).toBe(count);
  return findEarlyResponses(calls).length;
};

test(`writes and syncs each of ${requests} events before the first byte of its response`, async (context) => {
  for (let answered = 0; answered < requests; answered += requestsPerServer) {
    const count = Math.min(requestsPerServer, requests - answered);
    expect(await countEarlyResponses(`ours-${answered}`, count)).toBe(0);
  }

  const weakenedRequests = 50;
  const early = await countEarlyResponses('weakened', weakenedRequests, changeServer(folder, 'weakened', withoutSync));
  expect(early).toBeGreaterThan(0);
  report(context, {
    fault: 'order of sync and response',
    count: `${requests} responses`,
    result: `0 responses began before the event's frames were synced`,
    weakened: `synchronous=NORMAL: ${early} of ${weakenedRequests} too early`,
  });
});
