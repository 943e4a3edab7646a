import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import Database from '../../src/store/sqlite/database/better-sqlite3.ts';
import { spread, times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import {
  createTestAccount,
  EarlyExitError,
  launch,
  listChildren,
  startServerProcess,
  stopServerProcess,
} from '../tools/server-process.ts';
import { changeServer } from '../tools/weakened-server.ts';
import { ignoringFailedCommits } from '../weaknesses/store.ts';
import { findEarlyResponses, listAcknowledgedEvents, straceOptions } from './tools/early-responses.ts';
import { createLedger, judge, readEverything } from './tools/ledger.ts';
import { isResponse, readCalls, strace, type TracedCall } from './tools/tracing.ts';

interface Fault {
  readonly calls: string;
  readonly error: 'EIO' | 'ENOSPC';
  /** Which call on each thread fails, counted from 1. */
  readonly nth: number;
}

const callNumbers = Array.from({ length: 200 }, (_, index) => index + 1);
const listFaults = (calls: string, error: Fault['error']): Fault[] => callNumbers.map((nth) => ({ calls, error, nth }));
const syncs = listFaults('fsync,fdatasync', 'EIO');
const writes = listFaults('pwrite64,write', 'EIO');
const noSpace = listFaults('pwrite64,write', 'ENOSPC');
const faultsPerKind = times({ quick: 3, full: 200 });
const faults = [syncs, writes, noSpace].flatMap((list) => spread(list, faultsPerKind));

let folder: string;
let template: string;
let token: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-io-'));
  template = join(folder, 'template.db');
  token = await createTestAccount(template);
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Result {
  readonly outcome: 'refused to start' | 'exited' | 'continued' | 'recovered' | 'not reached';
  readonly lost: number;
  readonly twice: number;
  /** If a sync fails: the number of 200 responses for events that were not known to be on the disk. */
  readonly earlyResponses: number;
  /** Acknowledged events whose responses are missing from the trace, so they can't be judged. */
  readonly unjudged: readonly string[];
  readonly integrity: unknown;
}

let cases = 0;
/**
 * Runs the server with one failing call, then without faults, and compares the stored events with the acknowledged
 * events.
 */
const serveWithFault = async ({ calls, error, nth }: Fault, main?: string): Promise<Result> => {
  const home = join(folder, `case-${cases++}`);
  mkdirSync(home);
  const path = join(home, 'firsthand.db');
  copyFileSync(template, path);
  const log = join(home, 'strace.log');
  const port = await freePort();
  const files = ['', '-wal', '-shm', '-lock', '-journal', '-lock-journal'].flatMap((end) => ['-P', path + end]);
  // Filters by path, because otherwise an event-loop call would fail instead. With the filter, responses aren't traced.
  const isSyncFault = calls.startsWith('fsync');
  const under = strace(
    log,
    ...(isSyncFault ? straceOptions : files),
    '-e',
    `inject=${calls}:error=${error}:when=${nth}`,
  );
  const injected = () => existsSync(log) && readFileSync(log, 'latin1').includes('(INJECTED)');
  // With ballast, the log frames contain the name of each event in a batch.
  const ledger = isSyncFault ? createLedger(1, { ballast: 16 }) : createLedger(4);
  let outcome: Result['outcome'];
  try {
    const served = await startServerProcess(path, port, { under, main });
    const [server] = listChildren(served.process.pid as number);
    let ended = false;
    void served.ended.then(() => {
      ended = true;
    });
    const load = ledger.send(served.url, token);
    // Stops at 5,000 events: each commit does several writes, so every fault has occurred by then. Reading the large
    // log more often would starve the client.
    while (!ended && !injected() && ledger.acknowledged.size < 5_000) await wait(50);
    const wasInjected = injected();
    const atFault = ledger.acknowledged.size;
    // Whether the server may continue: after a fatal error, responses for earlier commits can still be sent.
    const hasContinued = () => error === 'ENOSPC' && ledger.acknowledged.size >= atFault + 20;
    for (let round = 0; wasInjected && !ended && round < 1_000 && !hasContinued(); round += 1) await wait(10);
    const isResponding = await fetch(`${served.url}/healthz`).then(
      () => true,
      () => false,
    );
    // Waits, because the server might be exiting at this moment.
    if (!isResponding) await Promise.race([served.ended, wait(60_000)]);
    expect(isResponding || ended, 'it hangs').toBe(true);
    outcome = ended ? 'exited' : wasInjected ? 'continued' : 'not reached';
    if (!ended) process.kill(server as number, 'SIGKILL');
    await served.ended;
    await load.stop();
  } catch (refusal) {
    if (!(refusal instanceof EarlyExitError)) throw refusal;
    expect(refusal.exitCode).toBeGreaterThan(0);
    expect(refusal.complaints).not.toBe('');
    outcome = 'refused to start';
  }
  const traceCalls = readCalls(log);
  const failed = traceCalls.find(({ text }) => text.includes('(INJECTED)'));
  const isSyncOfFolder = ({ text }: TracedCall) => text.includes(`<${home}>`);
  const firstResponse = traceCalls.find(isResponse);
  // If SQLite can't sync the folder of a new log, it continues, but the server then syncs that folder itself, or exits.
  const isRecovered =
    failed &&
    isSyncOfFolder(failed) &&
    traceCalls.some(
      (call) =>
        isSyncOfFolder(call) &&
        call.text.endsWith(' = 0') &&
        call.ended < (firstResponse?.began ?? Number.POSITIVE_INFINITY),
    );
  const judgedCalls = isRecovered ? traceCalls.filter((call) => call !== failed) : traceCalls;
  const earlyResponses = isSyncFault ? findEarlyResponses(judgedCalls).length : 0;
  const acknowledgedInTrace = listAcknowledgedEvents(traceCalls);
  const unjudged = isSyncFault
    ? [...ledger.acknowledged].filter((key) => !acknowledgedInTrace.has(key.split(' ')[1] as string))
    : [];

  const again = await startServerProcess(path, port);
  let lost: number;
  let twice: number;
  try {
    lost = judge(ledger, await readEverything(again.url, token)).lost;
    await ledger.settle(again.url, token);
    twice = judge(ledger, await readEverything(again.url, token)).twice;
  } finally {
    await stopServerProcess(again);
  }
  const db = new Database(path, { readonly: true });
  const integrity = db.pragma('integrity_check', { simple: true });
  db.close();
  rmSync(home, { recursive: true });
  return { outcome: isRecovered ? 'recovered' : outcome, lost, twice, earlyResponses, unjudged, integrity };
};

test(`acknowledges nothing that it could not store, despite ${faults.length} I/O errors`, async (context) => {
  const outcomes = new Map<string, number>();
  for (const fault of faults) {
    const { outcome, ...result } = await serveWithFault(fault);
    expect(result, JSON.stringify(fault)).toEqual({
      lost: 0,
      twice: 0,
      earlyResponses: 0,
      unjudged: [],
      integrity: 'ok',
    });
    // After EIO, the state of the disk is unknown, so the server must exit and be restarted. A full disk is no reason
    // to exit.
    const allowed =
      fault.error === 'EIO' ? ['exited', 'refused to start', 'recovered'] : ['continued', 'refused to start'];
    if (outcome !== 'not reached') expect(allowed, JSON.stringify(fault)).toContain(outcome);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  expect((outcomes.get('exited') ?? 0) + (outcomes.get('continued') ?? 0)).toBeGreaterThan(faults.length / 2);

  const deaf = changeServer(folder, 'deaf', ignoringFailedCommits);
  const unsynced = await serveWithFault({ calls: 'fsync,fdatasync', error: 'EIO', nth: 20 }, deaf);
  expect(unsynced.earlyResponses).toBeGreaterThan(0);
  // The weakened server may have stored events whose users it failed to store. It then refuses to read those events.
  const unwritten = await serveWithFault({ calls: 'pwrite64,write', error: 'EIO', nth: 60 }, deaf).then(
    ({ lost }) => lost > 0 && `${lost} lost`,
    ({ message }: Error) => message.startsWith('getEvent answered 500') && 'a read refused',
  );
  expect(unwritten).not.toBe(false);
  report(context, {
    fault: 'I/O errors',
    count: `${faults.length} (${faultsPerKind} each: EIO on syncs, EIO on writes, ENOSPC on writes)`,
    result: `0 false 200s, integrity ok; ${[...outcomes].map(([outcome, count]) => `${outcome} ${count}`).join(', ')}`,
    weakened: `treats a failed commit as successful: ${unsynced.earlyResponses} responses after a failed sync, ${unwritten}`,
  });
});

test('creates either a complete database or none, no matter which call fails', async () => {
  for (const nth of spread(callNumbers.slice(0, 40), times({ quick: 2, full: 40 }))) {
    for (const calls of ['fsync,fdatasync', 'pwrite64']) {
      const home = join(folder, `new-${cases++}`);
      mkdirSync(home);
      const path = join(home, 'firsthand.db');
      const port = await freePort();
      const under = strace(
        join(home, 'strace.log'),
        '-e',
        `inject=${calls}:error=EIO:when=${nth}`,
        '-e',
        `trace=${calls}`,
      );
      const first = launch(path, port, { under });
      let started = false;
      while (!started && first.process.exitCode === null && first.process.signalCode === null) {
        started = await isReady(first.url);
        await wait(20);
      }
      if (started) for (const pid of listChildren(first.process.pid as number)) process.kill(pid, 'SIGKILL');
      await first.ended;
      expect(await stopServerProcess(await startServerProcess(path, port)), `${calls} ${nth}`).toBe(0);
    }
  }
});

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
