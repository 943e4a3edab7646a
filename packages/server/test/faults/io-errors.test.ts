import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import Database from '../../src/store/sqlite/database/better-sqlite3.ts';
import { spread, times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { childrenOf, EndedEarly, launch, makeAccount, startServed, stopServed } from '../tools/served.ts';
import { changeServer } from '../tools/weakened.ts';
import { ignoringFailedCommits } from '../weaknesses/store.ts';
import { answerOptions, eventsToldIn, findFalseAnswers } from './tools/false-answers.ts';
import { createLedger, judge, readEverything } from './tools/ledger.ts';
import { callsBegunIn, isAnswer, strace, type TracedCall } from './tools/tracing.ts';

interface Fault {
  readonly calls: string;
  readonly error: 'EIO' | 'ENOSPC';
  /** Which of a thread's calls fails. */
  readonly nth: number;
}

const numbers = Array.from({ length: 200 }, (_, index) => index + 1);
const everyFault = (calls: string, error: Fault['error']): Fault[] => numbers.map((nth) => ({ calls, error, nth }));
const syncs = everyFault('fsync,fdatasync', 'EIO');
const writes = everyFault('pwrite64,write', 'EIO');
const noSpace = everyFault('pwrite64,write', 'ENOSPC');
const wanted = times({ quick: 5, full: 200 });
const faults = [syncs, writes, noSpace].flatMap((list) => spread(list, wanted));

let folder: string;
let template: string;
let token: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-io-'));
  template = join(folder, 'template.db');
  token = await makeAccount(template);
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Found {
  readonly outcome: 'refused to start' | 'ended' | 'went on' | 'made good' | 'never came to it';
  readonly lost: number;
  readonly twice: number;
  /** When syncs fail: answers of 200 to events that were not known to be on the disk. */
  readonly falseAnswers: number;
  /** And events that were acknowledged, though no answer was seen that could be judged. */
  readonly untold: readonly string[];
  readonly integrity: unknown;
}

let cases = 0;
/** Serves with one call failing, then without: what of what was acknowledged is there? */
const suffer = async ({ calls, error, nth }: Fault, main?: string): Promise<Found> => {
  const home = join(folder, `case-${cases++}`);
  mkdirSync(home);
  const path = join(home, 'firsthand.db');
  copyFileSync(template, path);
  const log = join(home, 'strace.log');
  const port = await freePort();
  const files = ['', '-wal', '-shm', '-lock', '-journal', '-lock-journal'].flatMap((end) => ['-P', path + end]);
  // Without the filter of paths, a call of the event loop would be the one to fail; with it, answers aren't seen.
  const isSyncFault = calls.startsWith('fsync');
  const under = strace(
    log,
    ...(isSyncFault ? answerOptions : files),
    '-e',
    `inject=${calls}:error=${error}:when=${nth}`,
  );
  const injected = () => existsSync(log) && readFileSync(log, 'latin1').includes('(INJECTED)');
  // With ballast, the frames name each event of a batch.
  const ledger = isSyncFault ? createLedger(1, { ballast: 16 }) : createLedger(4);
  let outcome: Found['outcome'];
  try {
    const served = await startServed(path, port, { under, main });
    const [server] = childrenOf(served.process.pid as number);
    let ended = false;
    void served.ended.then(() => {
      ended = true;
    });
    const load = ledger.send(served.url, token);
    // Each commit has several writes, so all come to their turn; the count of answers bounds what comes after it. Asked
    // more often, reading a log that holds pages would keep the client from sending.
    while (!ended && !injected() && ledger.acknowledged.size < 5_000) await wait(50);
    const wasInjected = injected();
    const atFault = ledger.acknowledged.size;
    // Of an error that ends it, some that were committed before may still be answered.
    const goesOn = () => error === 'ENOSPC' && ledger.acknowledged.size >= atFault + 20;
    for (let round = 0; wasInjected && !ended && round < 1_000 && !goesOn(); round += 1) await wait(10);
    const isAnswering = await fetch(`${served.url}/healthz`).then(
      () => true,
      () => false,
    );
    // It may be ending just now.
    if (!isAnswering) await Promise.race([served.ended, wait(60_000)]);
    expect(isAnswering || ended, 'it hangs').toBe(true);
    outcome = ended ? 'ended' : wasInjected ? 'went on' : 'never came to it';
    if (!ended) process.kill(server as number, 'SIGKILL');
    await served.ended;
    await load.stop();
  } catch (refusal) {
    if (!(refusal instanceof EndedEarly)) throw refusal;
    expect(refusal.exitCode).toBeGreaterThan(0);
    expect(refusal.complaints).not.toBe('');
    outcome = 'refused to start';
  }
  const traceCalls = callsBegunIn(log);
  const failed = traceCalls.find(({ text }) => text.includes('(INJECTED)'));
  const ofFolder = ({ text }: TracedCall) => text.includes(`<${home}>`);
  const firstAnswer = traceCalls.find(isAnswer);
  // SQLite goes on when it can't sync the folder of a new log: the server has synced that itself, or ended.
  const isMadeGood =
    failed &&
    ofFolder(failed) &&
    traceCalls.some(
      (call) =>
        ofFolder(call) && call.text.endsWith(' = 0') && call.ended < (firstAnswer?.began ?? Number.POSITIVE_INFINITY),
    );
  const toBeJudged = isMadeGood ? traceCalls.filter((call) => call !== failed) : traceCalls;
  const falseAnswers = isSyncFault ? findFalseAnswers(toBeJudged).length : 0;
  const told = eventsToldIn(traceCalls);
  const untold = isSyncFault ? [...ledger.acknowledged].filter((key) => !told.has(key.split(' ')[1] as string)) : [];

  const again = await startServed(path, port);
  let lost: number;
  let twice: number;
  try {
    lost = judge(ledger, await readEverything(again.url, token)).lost;
    await ledger.settle(again.url, token);
    twice = judge(ledger, await readEverything(again.url, token)).twice;
  } finally {
    await stopServed(again);
  }
  const db = new Database(path, { readonly: true });
  const integrity = db.pragma('integrity_check', { simple: true });
  db.close();
  rmSync(home, { recursive: true });
  return { outcome: isMadeGood ? 'made good' : outcome, lost, twice, falseAnswers, untold, integrity };
};

test(`acknowledges nothing that it could not keep, ${faults.length} I/O errors long`, async (context) => {
  const outcomes = new Map<string, number>();
  for (const fault of faults) {
    const { outcome, ...found } = await suffer(fault);
    expect(found, JSON.stringify(fault)).toEqual({ lost: 0, twice: 0, falseAnswers: 0, untold: [], integrity: 'ok' });
    // What is on the disk can't be known: only a new start is honest. A full disk is no reason to end.
    const allowed =
      fault.error === 'EIO' ? ['ended', 'refused to start', 'made good'] : ['went on', 'refused to start'];
    if (outcome !== 'never came to it') expect(allowed, JSON.stringify(fault)).toContain(outcome);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  expect((outcomes.get('ended') ?? 0) + (outcomes.get('went on') ?? 0)).toBeGreaterThan(faults.length / 2);

  const deaf = changeServer(folder, 'deaf', ignoringFailedCommits);
  const unsynced = await suffer({ calls: 'fsync,fdatasync', error: 'EIO', nth: 20 }, deaf);
  expect(unsynced.falseAnswers).toBeGreaterThan(0);
  // What it leaves may be of users that it has not kept, which is not served either.
  const unwritten = await suffer({ calls: 'pwrite64,write', error: 'EIO', nth: 60 }, deaf).then(
    ({ lost }) => lost > 0 && `${lost} lost`,
    ({ message }: Error) => message.startsWith('getEvent answered 500') && 'a read refused',
  );
  expect(unwritten).not.toBe(false);
  report(context, {
    fault: 'I/O errors',
    count: `${faults.length} (${wanted} each: EIO on syncs, EIO on writes, ENOSPC on writes)`,
    result: `0 false 200s, integrity ok; ${[...outcomes].map(([outcome, count]) => `${outcome} ${count}`).join(', ')}`,
    weakened: `takes a failed commit for a good one: ${unsynced.falseAnswers} answers after a failed sync, ${unwritten}`,
  });
});

test('makes a database whole or not at all, whichever call fails', async () => {
  for (const nth of spread(numbers.slice(0, 40), times({ quick: 4, full: 40 }))) {
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
      if (started) for (const pid of childrenOf(first.process.pid as number)) process.kill(pid, 'SIGKILL');
      await first.ended;
      expect(await stopServed(await startServed(path, port)), `${calls} ${nth}`).toBe(0);
    }
  }
});

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
