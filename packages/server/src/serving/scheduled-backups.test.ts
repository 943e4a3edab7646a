import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { firstPause, type MakeBackup, startBackups } from './scheduled-backups.ts';

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
  /** Runs the work, and lets its pause pass. */
  const pass = async () => {
    const pause = (await work?.(stopping.signal)) as number;
    clock.now += pause;
    return pause;
  };
  return { clock, lines, made, make, backups, begin, pass };
};

test('makes one at once where there is none, and then one each period', async () => {
  const { made, begin, pass, lines } = setUp([]);
  const { newestTime } = begin();
  expect([await pass(), await pass(), await pass()]).toEqual([hour, hour, hour]);
  expect(made).toEqual([start, start + hour, start + 2 * hour]);
  expect(newestTime()).toBe(start + 2 * hour);
  expect(lines.map(({ level, msg }) => `${level}: ${msg}`)).toEqual(
    Array(3).fill('info: a backup was made and verified'),
  );
});

test('a server that is started again waits for the rest of the period only', async () => {
  const { made, begin, pass } = setUp([start - hour / 4]);
  const { newestTime } = begin();
  expect(await pass()).toBe((hour / 4) * 3);
  expect(newestTime()).toBe(start - hour / 4);
  await pass();
  expect(made).toEqual([start + (hour / 4) * 3]);
});

test('waits for a period longer than a timer can be set for', async () => {
  const { made, begin, pass } = setUp([start], 60 * 24 * hour);
  begin();
  for (let day = 0; day < 60; day += 1) expect(await pass()).toBe(24 * hour);
  await pass();
  expect(made).toEqual([start + 60 * 24 * hour]);
});

test.each([
  ['ahead', 400 * 24 * hour],
  ['back', -400 * 24 * hour],
])('a clock that jumps %s makes no more backups than one that does not', async (_, jump) => {
  const { clock, made, begin, pass } = setUp([]);
  begin();
  await pass();
  clock.now += jump;
  for (let nth = 0; nth < 5; nth += 1) expect(await pass()).toBe(hour);
  expect(made).toHaveLength(6);
});

test('a backup from the future does not keep a server from making one', () => {
  expect(firstPause(start + 1, hour, start)).toBe(0);
  expect(firstPause(start, hour, start)).toBe(hour);
  expect(firstPause(start - 2 * hour, hour, start)).toBe(0);
});

test('a failure is logged once, and tried again in time', async () => {
  const { make, made, begin, pass, lines } = setUp([]);
  make.mockRejectedValueOnce(new Error('no space'));
  begin();
  expect(await pass()).toBe(hour / 4);
  expect(await pass()).toBe(hour);
  expect(await pass()).toBe(hour);
  expect(made).toHaveLength(2);
  expect(lines.map(({ level }) => level)).toEqual(['error', 'info', 'info']);
});

test('what killed processes have left is removed at the start', async () => {
  const { backups, begin, pass } = setUp([start]);
  begin();
  await pass();
  await pass();
  expect(backups.removeDrafts).toHaveBeenCalledOnce();
});

test('a folder that cannot be listed is logged, and does not stop the server', async () => {
  const { backups, begin, pass, lines, made } = setUp([]);
  vi.spyOn(backups, 'list').mockImplementationOnce(() => {
    throw new Error('EACCES');
  });
  begin();
  await pass();
  expect(lines.map(({ level }) => level)).toEqual(['error', 'info']);
  expect(made).toHaveLength(1);
});

test('a stop aborts the backup under way, and is no failure', async () => {
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
