import { expect, it } from 'vitest';
import { createTurns } from './turns.ts';

const { signal } = new AbortController();

it('runs as many at once as it may, and the others in their order', async () => {
  const inTurn = createTurns(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const all = [1, 2, 3, 4].map((nth) =>
    inTurn(async () => {
      begun.push(nth);
      await new Promise<void>((end) => ends.push(end));
      return nth;
    }, signal),
  );
  await Promise.resolve();
  expect(begun).toEqual([1, 2]);
  for (let nth = 0; nth < 4; nth += 1) {
    await expect.poll(() => ends[nth]).toBeDefined();
    ends[nth]?.();
  }
  expect(await Promise.all(all)).toEqual([1, 2, 3, 4]);
  expect(begun).toEqual([1, 2, 3, 4]);
});

it('does not begin what is no longer wanted, and goes on after a failure', async () => {
  const inTurn = createTurns(1);
  const ending = new AbortController();
  const failing = inTurn(async () => {
    throw new Error('no answer');
  }, signal);
  const unwanted = inTurn(async () => 'begun', ending.signal);
  const last = inTurn(async () => 'last', signal);
  ending.abort();
  await expect(failing).rejects.toThrow('no answer');
  await expect(unwanted).rejects.toThrow(/abort/i);
  expect(await last).toBe('last');
});
