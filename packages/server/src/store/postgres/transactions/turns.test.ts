import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

/** Work that is done when the test says so. */
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

test('works for one key go one after the other, also after one that fails; others beside them', async () => {
  const inTurn = createTurns();
  const [first, second, third, other] = [startedWork(), startedWork(), startedWork(), startedWork()];
  const done = [first, second, third].map(({ work }) => inTurn('ann', work));
  const otherDone = inTurn('ben', other.work);
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
  const last = inTurn('ann', again.work);
  expect(again.hasStarted()).toBe(true);
  again.finish();
  await last;
});
