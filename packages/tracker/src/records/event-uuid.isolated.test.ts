import { eventUUIDPattern } from '@firsthand/contract/identifiers';
import { afterEach, expect, test, vi } from 'vitest';
import { createEventUUID, parseEventTime } from './event-uuid.ts';

afterEach(() => vi.useRealTimers());

test('creates eventUUIDs that contain their time and sort in creation order, even thousands per millisecond', () => {
  vi.useFakeTimers({ now: Date.now() });
  const start = Date.now();
  const eventUUIDs = Array.from({ length: 3_000 }, createEventUUID);
  expect(parseEventTime(eventUUIDs[0] as string)).toBe(start);
  expect(parseEventTime(eventUUIDs[2_999] as string)).toBe(start + 2);
  expect([...eventUUIDs].sort()).toEqual(eventUUIDs);
  for (const eventUUID of eventUUIDs) expect(eventUUID).toMatch(eventUUIDPattern);
});

test('creates eventUUIDs in ascending order even when the clock is set back', () => {
  vi.useFakeTimers({ now: Date.now() + 3_600e3 });
  const before = createEventUUID();
  vi.setSystemTime(Date.now() - 86_400e3);
  expect(createEventUUID() > before).toBe(true);
});

test('creates eventUUIDs for times in 1970 that sort before those for later times', async () => {
  vi.resetModules();
  const { createEventUUID, setPastTime, parseEventTime } = await import('./event-uuid.ts');
  const times = [1, 1_000, 3_600_000, 86_400_000, 2_678_400_000, Date.UTC(1972, 5, 25), Date.UTC(2026, 0)];
  const eventUUIDs = times.map((time) => {
    setPastTime(time);
    return createEventUUID();
  });
  expect(eventUUIDs.map(parseEventTime)).toEqual(times);
  expect([...eventUUIDs].sort()).toEqual(eventUUIDs);
});
