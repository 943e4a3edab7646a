import { eventUUIDPattern } from '@firsthand/contract/identifiers';
import { afterEach, expect, test, vi } from 'vitest';
import { createEventUUID, timeOf } from './event-uuid.ts';

afterEach(() => vi.useRealTimers());

test('tells its time, and sorts as text in the order made, more than a thousand in a millisecond', () => {
  vi.useFakeTimers({ now: Date.now() });
  const start = Date.now();
  const made = Array.from({ length: 3_000 }, createEventUUID);
  expect(timeOf(made[0] as string)).toBe(start);
  expect(timeOf(made[2_999] as string)).toBe(start + 2);
  expect([...made].sort()).toEqual(made);
  for (const eventUUID of made) expect(eventUUID).toMatch(eventUUIDPattern);
});

test('a clock that is set back does not change the order', () => {
  vi.useFakeTimers({ now: Date.now() + 3_600e3 });
  const before = createEventUUID();
  vi.setSystemTime(Date.now() - 86_400e3);
  expect(createEventUUID() > before).toBe(true);
});

test('tells a time in 1970, and sorts it before later times', async () => {
  vi.resetModules();
  const { createEventUUID, setPastTime, timeOf } = await import('./event-uuid.ts');
  const times = [1, 1_000, 3_600_000, 86_400_000, 2_678_400_000, Date.UTC(1972, 5, 25), Date.UTC(2026, 0)];
  const made = times.map((time) => {
    setPastTime(time);
    return createEventUUID();
  });
  expect(made.map(timeOf)).toEqual(times);
  expect([...made].sort()).toEqual(made);
});
