import { expect, test } from 'vitest';
import { createKeyedMutex } from './keyed-mutex.ts';

/** Work that finishes when the test calls `finish`. */
const startedWork = () => {
  let finish = (_error?: Error) => {};
  const work = () => {
    isStarted = true;
    return new Promise<void>((resolve, reject) => {
      finish = (error) => (error ? reject(error) : resolve());
    });
  };
  let isStarted = false;
  return { work, hasStarted: () => isStarted, finish: (error?: Error) => finish(error) };
};

test('runs work with the same key in order, even after a failure, and other work in parallel', async () => {
  const runInOrder = createKeyedMutex();
  const [first, second, third, other] = [startedWork(), startedWork(), startedWork(), startedWork()];
  const done = [first, second, third].map(({ work }) => runInOrder('ann', work));
  const otherDone = runInOrder('ben', other.work);
  expect([first, second, third, other].map(({ hasStarted }) => hasStarted())).toEqual([true, false, false, true]);
  first.finish(new Error('away'));
  await expect(done[0]).rejects.toThrow('away');
  await expect.poll(second.hasStarted).toBe(true);
  expect(third.hasStarted()).toBe(false);
  second.finish();
  await expect.poll(third.hasStarted).toBe(true);
  third.finish();
  other.finish();
  await Promise.all([...done.slice(1), otherDone]);
  const again = startedWork();
  const last = runInOrder('ann', again.work);
  expect(again.hasStarted()).toBe(true);
  again.finish();
  await last;
});
