import { expect, it } from 'vitest';
import { toLocalTime, toTime } from './local-time.ts';

it.each([
  ['2026-11-24T09:30', 'UTC', '2026-11-24T09:30Z'],
  ['2026-11-24T00:05', 'Europe/Berlin', '2026-11-23T23:05Z'],
  ['2026-07-01T00:05', 'Europe/Berlin', '2026-06-30T22:05Z'],
  ['2026-03-29T03:00', 'Europe/Berlin', '2026-03-29T01:00Z'],
  ['2026-10-25T01:59', 'Europe/Berlin', '2026-10-24T23:59Z'],
  ['2026-10-25T03:00', 'Europe/Berlin', '2026-10-25T02:00Z'],
  ['2026-11-24T18:30', 'America/Los_Angeles', '2026-11-25T02:30Z'],
  ['2026-11-24T09:30', 'Asia/Kathmandu', '2026-11-24T03:45Z'],
])('converts %s in %s', (localTime, timeZone, time) => {
  expect(toTime(localTime, timeZone)).toBe(Date.parse(time));
  expect(toLocalTime(Date.parse(time), timeZone)).toBe(localTime);
});

it('moves a time that clocks skip by an hour', () => {
  expect(['2026-03-29T00:30Z', '2026-03-29T01:30Z'].map(Date.parse)).toContain(
    toTime('2026-03-29T02:30', 'Europe/Berlin'),
  );
});
