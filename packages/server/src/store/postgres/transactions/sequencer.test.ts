import { afterEach, expect, test, vi } from 'vitest';
import { waitForSettled, waitForWriters } from './sequencer.ts';

afterEach(() => {
  vi.useRealTimers();
});

/**
 * Creates a database that draws a number, starting at 9, after each query. Each query returns the next of the results;
 * the last result is repeated.
 */
const answering = <Answer>(answers: readonly Answer[], millisecondsEach: number) => {
  vi.useFakeTimers({ toFake: ['performance'] });
  let queries = 0;
  return (): { last: number; answer: Answer } => {
    vi.advanceTimersByTime(millisecondsEach);
    const answer = answers[Math.min(queries, answers.length - 1)] as Answer;
    queries += 1;
    return { last: 8 + queries, answer };
  };
};

const withFloors = (floors: readonly (number | null)[], millisecondsEach: number) => {
  const query = answering(floors, millisecondsEach);
  let floor: number | null = null;
  return {
    // Queries the last number first.
    async one<Row>() {
      const { last, answer } = query();
      floor = answer;
      return { last } as Row;
    },
    get: async <Row>() => ({ floor }) as Row,
  };
};

const withWriters = (writers: readonly string[], millisecondsEach: number) => {
  const query = answering(writers, millisecondsEach);
  return {
    async script() {
      const { last, answer } = query();
      return [[{ last }], [...answer].map((writer) => ({ writer }))];
    },
  };
};

test('waits until every number allocated before the read is committed or rolled back', async () => {
  expect(await waitForSettled(withFloors([3, 7, null], 1), 1)).toBe(9);
  expect(await waitForSettled(withFloors([3, 12], 1), 1)).toBe(9);
});

test('stops waiting after a time limit, even if queries are slow', async () => {
  await expect(waitForSettled(withFloors([3, 3, 3, 9], 1_000), 1)).resolves.toBe(9);
  await expect(waitForSettled(withFloors([3], 1_000), 1)).rejects.toMatchObject({
    code: 'unavailable',
    retryAfterSeconds: 1,
  });
});

test('waits for transactions that were writing at the first query, but not for later ones', async () => {
  expect(await waitForWriters(withWriters([''], 1), 1, 'contact_number')).toBe(9);
  expect(await waitForWriters(withWriters(['ab', 'bc', 'cd', 'c'], 1), 1, 'contact_number')).toBe(9);
  const stopped = withWriters(['ab', 'b'], 1_000);
  await expect(waitForWriters(stopped, 1, 'refused_number')).rejects.toMatchObject({ code: 'unavailable' });
});
