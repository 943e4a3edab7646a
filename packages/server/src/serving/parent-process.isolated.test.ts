import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchParent } from './parent-process.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test.each([
  ['once when started by npx', { npm_command: 'exec' }, 1],
  ['once when started by npm start', { npm_command: 'start', npm_lifecycle_event: 'start' }, 1],
  ['never when started by another program', {}, 0],
])('reports the end of the parent process %s', (_, env, times) => {
  let parent = 100;
  const onExit = vi.fn();
  watchParent(onExit, { env, parentID: () => parent });
  vi.advanceTimersByTime(1_000);
  expect(onExit).not.toHaveBeenCalled();
  parent = 1;
  vi.advanceTimersByTime(200);
  expect(onExit).toHaveBeenCalledTimes(times);
  vi.advanceTimersByTime(1_000);
  expect(onExit).toHaveBeenCalledTimes(times);
});
