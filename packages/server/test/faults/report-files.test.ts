import {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { FunnelQuery } from '../../src/reports/queries.ts';
import { computeModelResult } from '../fixtures/reports/report-model.ts';
import {
  account,
  baseQuery,
  hour,
  listFilesContaining,
  secret,
  setUp,
  totals,
} from '../fixtures/reports/report-world.ts';

test('counts events and owner changes that were stored before the report was requested', async () => {
  const { world, log, reports, right } = setUp();
  expect((await reports.run(totals)).result).toEqual(right());
  for (let round = 0; round < 3; round += 1) {
    log(1, 60 + round);
    world.own(2, [], [round]);
    expect((await reports.run(totals)).result).toEqual(right());
  }
  // Starts two concurrent reports: one is requested before an event, and the other after it.
  const before = reports.run(totals);
  log(1, 70);
  const after = reports.run(totals);
  expect((await after).result).toEqual(right());
  expect((await after).through).toBeGreaterThanOrEqual(64);
  await before;
});

test('lets only the server’s user read the files, which a later process continues to use', async () => {
  const { reports, files, readPositions, open, right } = setUp();
  await reports.run(totals);
  await reports.close();
  const modes = [...files(), join(files()[0] as string, '..')].map((path) => statSync(path).mode & 0o077);
  expect(Math.max(...modes)).toBe(0);
  readPositions.length = 0;
  expect((await open().run(totals)).result).toEqual(right());
  expect(Math.min(...readPositions)).toBeGreaterThan(20);
});

const damages: readonly (readonly [string, (paths: readonly string[]) => void])[] = [
  ['deleted', ([first]) => rmSync(first as string)],
  ['truncated', ([first]) => truncateSync(first as string, 100)],
  ['exchanged', ([first, second]) => writeFileSync(first as string, readFileSync(second as string))],
  [
    'with one changed byte',
    ([first]) => {
      const content = readFileSync(first as string);
      content[200] = (content[200] as number) ^ 1;
      writeFileSync(first as string, content);
    },
  ],
];

test('rebuilds damaged files, and reports correct numbers', async () => {
  const { reports, folder, files, readPositions, open, right } = setUp();
  await reports.run(totals);
  const events = () =>
    files()
      .filter((path) => path.includes('events-'))
      .sort();
  expect(events().length).toBeGreaterThan(1);
  for (const [how, damage] of damages) {
    damage(events());
    expect((await reports.run(totals)).result, how).toEqual(right());
  }
  // Makes a backup with hard links, which changes the files' ctime, but not their content.
  readPositions.length = 0;
  for (const [nth, path] of events().entries()) linkSync(path, join(folder, `backup-${nth}`));
  expect((await reports.run(totals)).result).toEqual(right());
  expect(Math.min(...readPositions)).toBeGreaterThan(20);
  // Simulates files that a previous process left.
  await reports.close();
  for (const [how, damage] of damages) {
    damage(events());
    const next = open();
    expect((await next.run(totals)).result, how).toEqual(right());
    await next.close();
  }
});

test('rebuilds files with a damaged manifest, and files from another store', async () => {
  const { reports, files, open, right, world } = setUp();
  await reports.run(totals);
  await reports.close();
  const manifest = files().find((path) => path.endsWith('manifest.json')) as string;
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"position":1', '"position":2'));
  const second = open();
  expect((await second.run(totals)).result).toEqual(right());
  await second.close();
  const others = Array.from({ length: 30 }, (_, nth) => ({
    user: 7,
    contact: 0,
    eventID: 2,
    eventTime: nth * hour,
    attributes: new Map(),
  }));
  world.restore(30, others);
  expect((await open().run(totals)).result).toEqual(right());
});

test('counts events that reuse the sequences of another account’s events after a backup was restored', async () => {
  const { reports, world, open, log, right } = setUp();
  world.skipSequences(30);
  expect((await reports.run(totals)).result).toEqual(right());
  await reports.close();
  world.skipSequences(-30);
  log(10, 60);
  expect((await open().run(totals)).result).toEqual(right());
});

test('counts attributes without their own column like other attributes, in memory and in files', async () => {
  const { world, reports } = setUp();
  const names = Array.from({ length: 120 }, (_, nth) => `attribute ${nth}`);
  const createAttributes = (count: number) => new Map(names.slice(0, count).map((name, nth) => [name, `${nth}.5`]));
  const add = (count: number) =>
    world.log(
      Array.from({ length: 15 }, (_, nth) => ({
        user: 4,
        contact: 0,
        eventID: 2,
        eventTime: nth * hour,
        attributes: nth % 2 === 0 ? createAttributes(count) : new Map([['attribute 119', 'text']]),
      })),
    );
  const last = 'attribute 119';
  const queries = [
    { ...totals, value: last, condition: { eventIDs: [2] } },
    { ...totals, value: 'attribute 3', condition: { attrID: last, above: 1 } },
    { ...totals, value: last, condition: { not: { attrID: last, is: ['text'] } } },
  ];
  for (const count of [120, 1, 110, 120]) {
    add(count);
    for (const query of queries)
      expect((await reports.run(query)).result).toEqual(computeModelResult(query, world.visible(), world.personOf));
  }
});

test('excludes erased events from reports immediately, and soon removes them from all files', async () => {
  const { reports, folder, files, world, right, log } = setUp();
  await reports.run(totals);
  const all = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  expect(await listFilesContaining(all(), secret)).not.toEqual([]);
  world.erase(9);
  expect((await reports.run(totals)).result).toEqual(right());
  // The report above, which learned of the erasure, has started the removal, but did not wait for it.
  await expect.poll(() => listFilesContaining(all(), secret)).toEqual([]);
  // The store still feeds the erased events to a process that rebuilds its files.
  for (const path of files()) rmSync(path);
  log(30, 61);
  expect((await reports.run(totals)).result).toEqual(right());
  await reports.purged(account);
  expect(await listFilesContaining(all(), `${secret}-0`)).toEqual([]);
  world.sweep();
  expect((await reports.run(totals)).result).toEqual(right());
});

test('removes spilled data by replacing the process, and serves reports in the meantime', async () => {
  const { reports, folder, world, right, faults } = setUp();
  await reports.run(totals);
  const first = reports.processID as number;
  // Creates a file that DuckDB can leave when a query exceeds its memory limit.
  const spilled = join(folder, 'spill', 'duckdb_temp_storage-0.tmp');
  writeFileSync(spilled, secret);
  world.erase(9);
  let isPurged = false;
  const purged = reports.purged(account).finally(() => {
    isPurged = true;
  });
  let reportCount = 0;
  while (!isPurged || reportCount < 20) {
    expect((await reports.run(totals)).result).toEqual(right());
    reportCount += 1;
  }
  await purged;
  expect(existsSync(spilled)).toBe(false);
  expect(reports.processID).not.toBe(first);
  expect(faults).toEqual([]);
});

test('refuses a second server’s reports on the same folder until the first server has exited', async () => {
  const { reports, open, right, faults } = setUp();
  await reports.run(totals);
  const other = open();
  await expect(other.run(totals)).rejects.toMatchObject({ code: 'no_reports' });
  expect(faults.map(({ message }) => message).join()).toContain('give each server its own REPORTS_DIR');
  // Expects no process: the server does not try again at each report.
  expect(other.processID).toBeUndefined();
  await expect(other.run(totals)).rejects.toMatchObject({ code: 'no_reports' });
  expect(other.processID).toBeUndefined();
  expect((await reports.run(totals)).result).toEqual(right());
  await reports.close();
  const answered = async () => (await other.run(totals).catch(() => undefined))?.result;
  await expect.poll(answered).toEqual(right());
});

test('starts no process to remove files for an account that has none', async () => {
  const { reports } = setUp();
  await reports.purged(account);
  expect(reports.processID).toBeUndefined();
  await reports.run(totals);
  expect(await reports.accountsWithFiles()).toEqual([account]);
});

test('refuses a report whose process was killed, and starts another process for the next report', async () => {
  const { reports, right, faults } = setUp();
  await reports.run(totals);
  const first = reports.processID as number;
  const running = reports.run(totals);
  process.kill(first, 'SIGKILL');
  await expect(running).rejects.toMatchObject({ code: 'no_reports', retryAfterSeconds: 5 });
  expect(faults.map(({ message }) => message)).toContain('the report process ended with SIGKILL');
  expect((await reports.run(totals)).result).toEqual(right());
  expect(reports.processID).not.toBe(first);
});

test('replaces a process that does not respond', async () => {
  const { reports, right, faults } = setUp({
    requestTimeoutMilliseconds: 3_000,
    limitMilliseconds: 60_000,
    buildMilliseconds: 60_000,
  });
  // Retries, because on a busy machine, a command to the process can take longer than three seconds.
  const answered = () =>
    expect
      .poll(async () => (await reports.run(totals).catch(() => undefined))?.result, { timeout: 120_000 })
      .toEqual(right());
  await answered();
  const first = reports.processID as number;
  process.kill(first, 'SIGSTOP');
  await expect(reports.run(totals)).rejects.toMatchObject({ code: 'no_reports' });
  expect(faults.map(({ message }) => message)).toContain('the report process does not respond');
  await answered();
  expect(reports.processID).not.toBe(first);
});

/**
 * Runs about twenty statements, so that the report takes longer than a one-millisecond timer even on a busy machine.
 */
const slow: FunnelQuery = {
  ...baseQuery,
  report: 'funnel',
  steps: Array.from({ length: 8 }, () => ({ and: [] })),
  withinMilliseconds: 1000 * hour,
  per: 'session',
  groups: {
    dimensions: [{ attrID: 'path', of: 'first' }, { by: 'hour' }],
    offsets: [[baseQuery.from, 0]],
    limit: 1_000,
  },
};

test('starts one process for concurrent reports on several accounts', async () => {
  const { reports, right, faults } = setUp();
  const runAll = () => Promise.all([1, 2, 3].map((of) => reports.run({ ...totals, account: of })));
  for (const { result } of await runAll()) expect(result).toEqual(right());
  process.kill(reports.processID as number, 'SIGKILL');
  await expect.poll(() => reports.processID).toBeUndefined();
  for (const { result } of await runAll()) expect(result).toEqual(right());
  expect(faults).toEqual([]);
});

test('refuses a report that takes too long, and interrupts a report for which no client waits', async () => {
  const { reports, right } = setUp({ limitMilliseconds: 0 });
  await expect(reports.run(slow)).rejects.toMatchObject({ code: 'report_too_slow' });
  const others = setUp();
  await others.reports.run(totals);
  const leaving = new AbortController();
  const running = others.reports.run(slow, { signal: leaving.signal });
  setImmediate(() => leaving.abort(new Error('the client is gone')));
  await expect(running).rejects.toThrow('the client is gone');
  expect((await others.reports.run(totals)).result).toEqual(right());
});

test('refuses a report whose files take long to build, and builds them in the meantime', async () => {
  const { reports, right } = setUp({ buildMilliseconds: 1 });
  await expect(reports.run(totals)).rejects.toMatchObject({ code: 'no_reports', retryAfterSeconds: 5 });
  const runUntilReady = async () => {
    for (;;) {
      try {
        return await reports.run(totals);
      } catch {
        await wait(1);
      }
    }
  };
  expect((await runUntilReady()).result).toEqual(right());
});

test('runs or queues up to 22 reports, and up to 11 per account, and refuses the rest', async () => {
  const { reports, right } = setUp();
  const order: number[] = [];
  const run = async (of: number) => {
    const reported = await reports.run({ ...totals, account: of });
    order.push(of);
    return reported;
  };
  const results = await Promise.allSettled([1, 2, 3].flatMap((of) => Array.from({ length: 12 }, () => run(of))));
  expect(results.map(({ status }) => status === 'fulfilled')).toEqual(
    Array.from({ length: 36 }, (_, nth) => nth < 24 && nth % 12 < 11),
  );
  expect(results[0]).toMatchObject({ value: { result: right() } });
  // Expects accounts to take turns: no account waits for all reports of another.
  for (const half of [order.slice(0, 11), order.slice(11)]) expect(new Set(half)).toEqual(new Set([1, 2]));
});

test('ends an idle process, and refuses reports after close', async () => {
  const { reports, right } = setUp({ idleMilliseconds: 1 });
  await reports.run(totals);
  await expect.poll(() => reports.processID).toBeUndefined();
  expect((await reports.run(totals)).result).toEqual(right());
  await reports.close();
  await expect(reports.run(totals)).rejects.toMatchObject({ code: 'no_reports' });
});

test('gives all of the process’s threads a lower priority than the server', async () => {
  const { reports } = setUp({ niceness: 3, threads: 2 });
  await reports.run(totals);
  const threads = readdirSync(`/proc/${reports.processID}/task`).map(Number);
  const expected = Math.min(getPriority() + 3, 19);
  expect(threads.length).toBeGreaterThan(2);
  // Skips threads that have ended in the meantime.
  const priorities = threads.flatMap((thread) => (existsSync(`/proc/${thread}`) ? [getPriority(thread)] : []));
  expect(new Set(priorities)).toEqual(new Set([expected]));
});
