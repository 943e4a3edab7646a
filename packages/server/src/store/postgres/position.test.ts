import { afterEach, expect, test, vi } from 'vitest';
import { waitForSettled } from './position.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** A database that has drawn 9, and answers a floor after the other; the last of them from then on. */
const withFloors = (floors: readonly (number | null)[], millisecondsEach: number) => {
  vi.useFakeTimers({ toFake: ['performance'] });
  let asked = 0;
  return {
    async script() {
      vi.advanceTimersByTime(millisecondsEach);
      const floor = floors[Math.min(asked, floors.length - 1)] as number | null;
      asked += 1;
      return [[{ last: 9 }], [{ floor }]];
    },
  };
};

test('a reader waits until nothing is under way of what had been drawn', async () => {
  expect(await waitForSettled(withFloors([3, 7, null], 1))).toBe(9);
  expect(await waitForSettled(withFloors([3, 12], 1))).toBe(9);
});

test('a reader does not wait for ever, however long it takes to ask', async () => {
  await expect(waitForSettled(withFloors([3, 3, 3, 9], 1_000))).resolves.toBe(9);
  await expect(waitForSettled(withFloors([3], 1_000))).rejects.toMatchObject({
    code: 'not_kept',
    retryAfterSeconds: 1,
  });
});
