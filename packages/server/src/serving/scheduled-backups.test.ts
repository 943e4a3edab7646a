import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { initialPause, type MakeBackup, startBackups } from './scheduled-backups.ts';

const hour = 3_600_000;
const start = Date.parse('2026-11-01T00:00:00Z');

const setUp = (times: number[], everyMs = hour) => {
  const clock = { now: start };
  const lines: { level: string; msg: string }[] = [];
  const log = pino(
    { formatters: { level: (level) => ({ level }) } },
    { write: (line) => void lines.push(JSON.parse(line)) },
  );
  const made: number[] = [];
  const make = vi.fn<MakeBackup>(async () => {
    made.push(clock.now);
    times.push(clock.now);
    return { file: 'x', bytes: 1, removed: 0 };
  });
  const backups = {
    list: () => times.toSorted((one, other) => other - one).map((time) => ({ file: 'x', time })),
    removeDrafts: vi.fn(),
  };
  const plan = { databaseURL: 'sqlite:x', folder: 'x', everyMs, keep: 7 };
  let work: ((signal: AbortSignal) => Promise<number>) | undefined;
  const stopping = new AbortController();
  const begin = () =>
    startBackups({
      ...plan,
      backups,
      log,
      make,
      now: () => clock.now,
      repeating: (given) => {
        work = given;
        return async () => stopping.abort();
      },
    });
  /** Runs one iteration and advances the clock by its pause. */
  const pass = async () => {
    const pause = (await work?.(stopping.signal)) as number;
    clock.now += pause;
    return pause;
  };
  return { clock, lines, made, make, backups, begin, pass };
};

test('makes a backup immediately if there is none, then one per period', async () => {
  const { made, begin, pass, lines } = setUp([]);
  const { newestTime } = begin();
  expect([await pass(), await pass(), await pass()]).toEqual([hour, hour, hour]);
  expect(made).toEqual([start, start + hour, start + 2 * hour]);
  expect(newestTime()).toBe(start + 2 * hour);
  expect(lines.map(({ level, msg }) => `${level}: ${msg}`)).toEqual(
    Array(3).fill('info: a backup was made and verified'),
  );
});

test('waits only for the rest of the period after a restart', async () => {
  const { made, begin, pass } = setUp([start - hour / 4]);
  const { newestTime } = begin();
  expect(await pass()).toBe((hour / 4) * 3);
  expect(newestTime()).toBe(start - hour / 4);
  await pass();
  expect(made).toEqual([start + (hour / 4) * 3]);
});

test('waits for a period that is longer than the longest timer', async () => {
  const { made, begin, pass } = setUp([start], 60 * 24 * hour);
  begin();
  for (let day = 0; day < 60; day += 1) expect(await pass()).toBe(24 * hour);
  await pass();
  expect(made).toEqual([start + 60 * 24 * hour]);
});

test.each([
  ['ahead', 400 * 24 * hour],
  ['back', -400 * 24 * hour],
])('keeps its schedule when the clock jumps %s', async (_, jump) => {
  const { clock, made, begin, pass } = setUp([]);
  begin();
  await pass();
  clock.now += jump;
  for (let nth = 0; nth < 5; nth += 1) expect(await pass()).toBe(hour);
  expect(made).toHaveLength(6);
});

test('ignores a backup with a time in the future', () => {
  expect(initialPause(start + 1, hour, start)).toBe(0);
  expect(initialPause(start, hour, start)).toBe(hour);
  expect(initialPause(start - 2 * hour, hour, start)).toBe(0);
});

test('logs a failure once, and retries after 15 minutes', async () => {
  const { make, made, begin, pass, lines } = setUp([]);
  make.mockRejectedValueOnce(new Error('no space'));
  begin();
  expect(await pass()).toBe(hour / 4);
  expect(await pass()).toBe(hour);
  expect(await pass()).toBe(hour);
  expect(made).toHaveLength(2);
  expect(lines.map(({ level }) => level)).toEqual(['error', 'info', 'info']);
});

test('removes killed processes’ drafts once, at startup', async () => {
  const { backups, begin, pass } = setUp([start]);
  begin();
  await pass();
  await pass();
  expect(backups.removeDrafts).toHaveBeenCalledOnce();
});

test('logs a folder that cannot be listed, and still makes a backup', async () => {
  const { backups, begin, pass, lines, made } = setUp([]);
  vi.spyOn(backups, 'list').mockImplementationOnce(() => {
    throw new Error('EACCES');
  });
  begin();
  await pass();
  expect(lines.map(({ level }) => level)).toEqual(['error', 'info']);
  expect(made).toHaveLength(1);
});

test('aborts the current backup when it stops, without logging a failure', async () => {
  const { make, begin, pass, lines } = setUp([]);
  make.mockImplementationOnce(
    (_plan, _backups, signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('killed')))),
  );
  const { stop } = begin();
  const passing = pass();
  await stop();
  await passing;
  expect(lines).toEqual([]);
});
