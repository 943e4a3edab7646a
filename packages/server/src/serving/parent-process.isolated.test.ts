import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { followParent } from './parent-process.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test.each([
  ['npx', { npm_command: 'exec' }, 1],
  ['npm start', { npm_command: 'start', npm_lifecycle_event: 'start' }, 1],
  ['another program', {}, 0],
])('the end of the parent below %s is noticed as often as it should be', (_, env, times) => {
  let parent = 100;
  const onGone = vi.fn();
  followParent(onGone, { env, parentID: () => parent });
  vi.advanceTimersByTime(1_000);
  expect(onGone).not.toHaveBeenCalled();
  parent = 1;
  vi.advanceTimersByTime(200);
  expect(onGone).toHaveBeenCalledTimes(times);
  vi.advanceTimersByTime(1_000);
  expect(onGone).toHaveBeenCalledTimes(times);
});
