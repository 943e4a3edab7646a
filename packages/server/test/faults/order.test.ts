import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort, makeAccount, startServed } from './served.ts';

const requests = 200;

/** strace needs to be there, and to be allowed to trace. */
const cannotTrace = (() => {
  try {
    execFileSync('strace', ['-o', '/dev/null', 'true']);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'strace is not installed' : 'strace may not trace here';
  }
})();

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-order-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Attaches strace to a running process and all its threads; the log is in the order in which calls ended. */
const trace = async (pid: number, log: string): Promise<ChildProcess> => {
  const calls = 'trace=fsync,fdatasync,write,writev,sendto,sendmsg';
  const tracer = spawn('strace', ['-f', '-y', '-s', '16', '-e', calls, '-o', log, '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await once(tracer.stderr as NonNullable<typeof tracer.stderr>, 'data');
  return tracer;
};

/** What happened, in order: a sync of the write-ahead log that ended well, or the first bytes of an answer. */
const happenings = (log: string): ('sync' | 'answer')[] => {
  const unfinished = new Map<string, string>();
  const found: ('sync' | 'answer')[] = [];
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    if (rest.endsWith('<unfinished ...>')) {
      // An answer counts from when it begins, a sync only when it has ended.
      if (/"HTTP\/1\.1 200/.test(rest)) found.push('answer');
      else unfinished.set(thread, rest);
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    const call = resumed ? (unfinished.get(thread) ?? '') + resumed[1] : rest;
    if (/^(?:fsync|fdatasync)\(\d+<[^>]*-wal>/.test(call) && /= 0$/.test(call)) found.push('sync');
    else if (!resumed && /"HTTP\/1\.1 200/.test(call)) found.push('answer');
  }
  return found;
};

test(`syncs each of ${requests} events before the first byte of its answer${cannotTrace ? ` (skipped: ${cannotTrace})` : ''}`, async ({
  skip,
}) => {
  if (cannotTrace) skip(cannotTrace);
  const path = join(folder, 'firsthand.db');
  const token = await makeAccount(path);
  const served = await startServed(path, await freePort());
  const log = join(folder, 'strace.log');
  const tracer = await trace(served.process.pid as number, log);
  try {
    for (let sent = 0; sent < requests; sent += 1) {
      const body = JSON.stringify({ tokenUUID: token, eventID: 1, userUUID: 'user_0000000000000000' });
      const response = await fetch(`${served.url}/event/logEvent`, { method: 'POST', body });
      expect(response.status).toBe(200);
      await response.arrayBuffer();
    }
  } finally {
    const ended = once(tracer, 'exit');
    tracer.kill('SIGINT');
    await ended;
    served.process.kill('SIGTERM');
    await once(served.process, 'exit');
  }
  const order = happenings(log);
  const answers = order.flatMap((happening, index) => (happening === 'answer' ? [index] : []));
  expect(answers).toHaveLength(requests);
  // One request at a time, so each answer needs a sync of its own between the answer before it and itself.
  const unsynced = answers.filter((at, nth) => !order.slice(nth === 0 ? 0 : answers[nth - 1], at).includes('sync'));
  expect(unsynced).toEqual([]);
});
