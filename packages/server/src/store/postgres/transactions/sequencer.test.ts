import { afterEach, expect, test, vi } from 'vitest';
import { waitForSettled, waitForWriters } from './sequencer.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** A database that draws one more after each time that it is asked, from 9 on, and each time answers the next; the last for ever. */
const answering = (answers: readonly Record<string, unknown>[][], millisecondsEach: number) => {
  vi.useFakeTimers({ toFake: ['performance'] });
  let asked = 0;
  return {
    async script() {
      vi.advanceTimersByTime(millisecondsEach);
      const held = answers[Math.min(asked, answers.length - 1)] as Record<string, unknown>[];
      asked += 1;
      return [[{ last: 8 + asked }], held];
    },
  };
};

const withFloors = (floors: readonly (number | null)[], millisecondsEach: number) =>
  answering(
    floors.map((floor) => [{ floor }]),
    millisecondsEach,
  );

const withWriters = (writers: readonly string[], millisecondsEach: number) =>
  answering(
    writers.map((each) => [...each].map((writer) => ({ writer }))),
    millisecondsEach,
  );

test('a reader waits until nothing is under way of what had been drawn', async () => {
  expect(await waitForSettled(withFloors([3, 7, null], 1), 1)).toBe(9);
  expect(await waitForSettled(withFloors([3, 12], 1), 1)).toBe(9);
});

test('a reader does not wait for ever, however long it takes to ask', async () => {
  await expect(waitForSettled(withFloors([3, 3, 3, 9], 1_000), 1)).resolves.toBe(9);
  await expect(waitForSettled(withFloors([3], 1_000), 1)).rejects.toMatchObject({
    code: 'not_kept',
    retryAfterSeconds: 1,
  });
});

test('a reader waits until all have ended who were writing when it asked, and for nobody else', async () => {
  expect(await waitForWriters(withWriters([''], 1), 1, 'contact_number')).toBe(9);
  expect(await waitForWriters(withWriters(['ab', 'bc', 'cd', 'c'], 1), 1, 'contact_number')).toBe(9);
  const stopped = withWriters(['ab', 'b'], 1_000);
  await expect(waitForWriters(stopped, 1, 'refused_number')).rejects.toMatchObject({ code: 'not_kept' });
});
