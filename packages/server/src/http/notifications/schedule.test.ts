import { describe, expect, it } from 'vitest';
import { lastDigestTime, nextDigestTime, rangeOfDigest } from './schedule.ts';

const at = (text: string): number => Date.parse(text);
const iso = (time: number): string => new Date(time).toISOString();
const daily = { every: 'day', hour: 8 } as const;
const weekly = { every: 'week', hour: 8, weekday: 1 } as const;

describe('the next digest', () => {
  it('is at its hour in the time zone, on the same day or the next', () => {
    const next = (after: string) => iso(nextDigestTime(daily, 'Europe/Berlin', at(after)));
    expect(next('2026-11-30T06:59:59.999Z')).toBe('2026-11-30T07:00:00.000Z');
    expect(next('2026-11-30T07:00:00Z')).toBe('2026-12-01T07:00:00.000Z');
  });

  it('is on its weekday, by default Monday at 8', () => {
    expect(iso(nextDigestTime({ every: 'week' }, 'UTC', at('2026-11-30T08:00:00Z')))).toBe('2026-12-07T08:00:00.000Z');
    const sunday = { every: 'week', hour: 0, weekday: 7 } as const;
    expect(iso(nextDigestTime(sunday, 'UTC', at('2026-11-30T08:00:00Z')))).toBe('2026-12-06T00:00:00.000Z');
  });

  it.each([
    ['set forward over it', 'Europe/Berlin', 2, '2026-03-28T12:00:00Z', ['2026-03-29T01:00', '2026-03-30T00:00']],
    ['set back over it', 'Europe/Berlin', 2, '2026-10-24T12:00:00Z', ['2026-10-25T00:00', '2026-10-26T01:00']],
    [
      'set forward at midnight',
      'America/Santiago',
      0,
      '2026-09-05T12:00:00Z',
      ['2026-09-06T04:00', '2026-09-07T03:00'],
    ],
    ['set by half an hour', 'Australia/Lord_Howe', 2, '2026-10-03T12:00:00Z', ['2026-10-03T15:30', '2026-10-04T15:00']],
  ])('is once a day if the clocks are %s', (_, zone, hour, start, expected) => {
    const found: string[] = [];
    for (let time = at(start); found.length < expected.length; found.push(iso(time).slice(0, 16)))
      time = nextDigestTime({ every: 'day', hour }, zone, time);
    expect(found).toEqual(expected);
  });

  it.each(['Europe/Berlin', 'America/New_York', 'America/Santiago', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'UTC'])(
    'is once on each day of a year in %s, whether or not clocks are set at its hour',
    (zone) => {
      const days = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' });
      for (const hour of [0, 1, 2, 3, 12, 23]) {
        const dates: string[] = [];
        for (let time = at('2025-12-31T12:00:00Z'); dates.length < 370; dates.push(days.format(time)))
          time = nextDigestTime({ every: 'day', hour }, zone, time);
        const [first] = dates as [string];
        const expected = dates.map((_, nth) => new Date(at(first) + nth * 86_400_000).toISOString().slice(0, 10));
        expect(dates).toEqual(expected);
      }
    },
  );
});

describe('after an outage', () => {
  it('is the newest digest that was due', () => {
    const last = (dueTime: string, now: string) =>
      iso(lastDigestTime(daily, 'Europe/Berlin', { dueTime: at(dueTime), now: at(now) }));
    expect(last('2026-11-30T07:00:00Z', '2026-11-30T07:00:59Z')).toBe('2026-11-30T07:00:00.000Z');
    expect(last('2026-11-27T07:00:00Z', '2026-11-30T12:00:00Z')).toBe('2026-11-30T07:00:00.000Z');
    expect(last('2020-11-27T07:00:00Z', '2026-11-30T12:00:00Z')).toBe('2026-11-30T07:00:00.000Z');
  });
});

describe('the range of a digest', () => {
  const range = (settings: Parameters<typeof rangeOfDigest>[0], zone: string, time: string) => {
    const { from, to } = rangeOfDigest(settings, zone, at(time));
    return [iso(from), iso(to)];
  };
  it('is the day before', () => {
    expect(range(daily, 'Europe/Berlin', '2026-11-30T07:00:00Z')).toEqual([
      '2026-11-28T23:00:00.000Z',
      '2026-11-29T23:00:00.000Z',
    ]);
  });
  it('is the week before, from Monday to Sunday, also for a digest on another day', () => {
    const week = ['2026-11-22T23:00:00.000Z', '2026-11-29T23:00:00.000Z'];
    expect(range(weekly, 'Europe/Berlin', '2026-11-30T07:00:00Z')).toEqual(week);
    expect(range({ ...weekly, weekday: 3 }, 'Europe/Berlin', '2026-12-02T07:00:00Z')).toEqual(week);
  });
  it('has 23 or 25 hours if the clocks were changed', () => {
    const hours = (time: string) => {
      const { from, to } = rangeOfDigest(daily, 'Europe/Berlin', at(time));
      return (to - from) / 3_600_000;
    };
    expect([hours('2026-03-30T06:00:00Z'), hours('2026-10-26T07:00:00Z')]).toEqual([23, 25]);
  });
});
