import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createTokenUse } from './token-use.ts';

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 0, 1, 9, 20) }));
afterEach(() => void vi.useRealTimers());

const hours = (nth: number) => Date.UTC(2026, 0, 1, nth);
const setUp = () => {
  const recordTokenUses = vi.fn(async (_: { uses: readonly (readonly [number, number])[] }) => {});
  return { recordTokenUses, ...createTokenUse({ recordTokenUses }, Date.now) };
};

it('writes an hour’s uses once, outside requests', async () => {
  const { note, recordTokenUses } = setUp();
  for (let times = 0; times < 1_000; times += 1) for (const token of [1, 2]) note(token);
  expect(recordTokenUses).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(35 * 60_000);
  for (let times = 0; times < 1_000; times += 1) note(1);
  await vi.advanceTimersByTimeAsync(60_000);
  const uses = [
    [1, hours(9)],
    [2, hours(9)],
  ];
  expect(recordTokenUses.mock.calls).toEqual([[{ uses }]]);
});

it('writes again in the next hour', async () => {
  const { note, recordTokenUses } = setUp();
  note(1);
  await vi.advanceTimersByTimeAsync(3_600_000);
  note(1);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(recordTokenUses.mock.calls.map(([{ uses }]) => uses)).toEqual([[[1, hours(9)]], [[1, hours(10)]]]);
});

it('retries a failed write on the next use', async () => {
  const { note, recordTokenUses } = setUp();
  recordTokenUses.mockRejectedValueOnce(new Error('not now'));
  note(1);
  await vi.advanceTimersByTimeAsync(60_000);
  note(1);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(recordTokenUses).toHaveBeenCalledTimes(2);
});

it('caches a limited number of tokens', async () => {
  const { note, recordTokenUses } = setUp();
  for (let token = 0; token <= 10_000; token += 1) note(token);
  note(10_000);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(recordTokenUses.mock.calls[0]?.[0].uses).toHaveLength(10_001);
});

it('writes pending uses when the server stops, waiting at most half a second', async () => {
  const { note, finish, recordTokenUses } = setUp();
  note(1);
  await finish();
  expect(recordTokenUses.mock.calls).toEqual([[{ uses: [[1, hours(9)]] }]]);
  await finish();
  expect(recordTokenUses).toHaveBeenCalledTimes(1);
  recordTokenUses.mockReturnValueOnce(new Promise(() => {}));
  note(2);
  const finished = finish();
  await vi.advanceTimersByTimeAsync(500);
  await finished;
  expect(recordTokenUses).toHaveBeenCalledTimes(2);
});
