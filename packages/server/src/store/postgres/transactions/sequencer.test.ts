import { afterEach, expect, test, vi } from 'vitest';
import { waitForSettled, waitForWriters } from './sequencer.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** A database that draws one more after each time that it is asked, from 9 on, and each time answers the next; the last for ever. */
const answering = <Answer>(answers: readonly Answer[], millisecondsEach: number) => {
  vi.useFakeTimers({ toFake: ['performance'] });
  let asked = 0;
  return (): { last: number; answer: Answer } => {
    vi.advanceTimersByTime(millisecondsEach);
    const answer = answers[Math.min(asked, answers.length - 1)] as Answer;
    asked += 1;
    return { last: 8 + asked, answer };
  };
};

const withFloors = (floors: readonly (number | null)[], millisecondsEach: number) => {
  const ask = answering(floors, millisecondsEach);
  let floor: number | null = null;
  return {
    // The last number is asked for first.
    async one<Row>() {
      const { last, answer } = ask();
      floor = answer;
      return { last } as Row;
    },
    get: async <Row>() => ({ floor }) as Row,
  };
};

const withWriters = (writers: readonly string[], millisecondsEach: number) => {
  const ask = answering(writers, millisecondsEach);
  return {
    async script() {
      const { last, answer } = ask();
      return [[{ last }], [...answer].map((writer) => ({ writer }))];
    },
  };
};

test('a reader waits until nothing is under way of what had been drawn', async () => {
  expect(await waitForSettled(withFloors([3, 7, null], 1), 1)).toBe(9);
  expect(await waitForSettled(withFloors([3, 12], 1), 1)).toBe(9);
});

test('a reader does not wait for ever, however long it takes to ask', async () => {
  await expect(waitForSettled(withFloors([3, 3, 3, 9], 1_000), 1)).resolves.toBe(9);
  await expect(waitForSettled(withFloors([3], 1_000), 1)).rejects.toMatchObject({
    code: 'unavailable',
    retryAfterSeconds: 1,
  });
});

test('a reader waits until all have ended who were writing when it asked, and for nobody else', async () => {
  expect(await waitForWriters(withWriters([''], 1), 1, 'contact_number')).toBe(9);
  expect(await waitForWriters(withWriters(['ab', 'bc', 'cd', 'c'], 1), 1, 'contact_number')).toBe(9);
  const stopped = withWriters(['ab', 'b'], 1_000);
  await expect(waitForWriters(stopped, 1, 'refused_number')).rejects.toMatchObject({ code: 'unavailable' });
});
