import { describe, expect, it } from 'vitest';
import { computeEdges, type Interval } from './calendar.ts';

const edges = (from: string, to: string, interval: Interval, zone: string, maxIntervals = 1_000) =>
  computeEdges(Date.parse(from), Date.parse(to), interval, zone, maxIntervals)?.map((edge) =>
    new Date(edge).toISOString().replace(':00.000Z', 'Z'),
  );

const lengths = (from: string, to: string, interval: Interval, zone: string) => {
  const times = computeEdges(Date.parse(from), Date.parse(to), interval, zone, 1_000) ?? [];
  return times.slice(1).map((time, index) => (time - (times[index] as number)) / 3_600_000);
};

describe('the edges of countEvents', () => {
  it.each<[string, string, string, Interval, string, string[]]>([
    [
      'days in UTC',
      '2026-03-01T05:00Z',
      '2026-03-02T05:00Z',
      'day',
      'UTC',
      ['2026-03-01T00:00Z', '2026-03-02T00:00Z', '2026-03-03T00:00Z'],
    ],
    [
      'exactly one whole day',
      '2026-03-01T00:00Z',
      '2026-03-02T00:00Z',
      'day',
      'UTC',
      ['2026-03-01T00:00Z', '2026-03-02T00:00Z'],
    ],
    [
      'days in Kolkata',
      '2026-03-01T18:29Z',
      '2026-03-01T18:31Z',
      'day',
      'Asia/Kolkata',
      ['2026-02-28T18:30Z', '2026-03-01T18:30Z', '2026-03-02T18:30Z'],
    ],
    [
      'hours in Kolkata',
      '2026-03-01T10:15Z',
      '2026-03-01T10:45Z',
      'hour',
      'Asia/Kolkata',
      ['2026-03-01T09:30Z', '2026-03-01T10:30Z', '2026-03-01T11:30Z'],
    ],
    [
      'a spring day in London with a DST change',
      '2026-03-29T12:00Z',
      '2026-03-29T12:01Z',
      'day',
      'Europe/London',
      ['2026-03-29T00:00Z', '2026-03-29T23:00Z'],
    ],
    [
      'a fall day in London with a DST change',
      '2026-10-25T12:00Z',
      '2026-10-25T12:01Z',
      'day',
      'Europe/London',
      ['2026-10-24T23:00Z', '2026-10-26T00:00Z'],
    ],
    [
      'weeks that start on Monday',
      '2026-03-01T12:00Z',
      '2026-03-02T12:00Z',
      'week',
      'UTC',
      ['2026-02-23T00:00Z', '2026-03-02T00:00Z', '2026-03-09T00:00Z'],
    ],
    [
      'a spring week in New York with a DST change',
      '2026-03-08T12:00Z',
      '2026-03-08T13:00Z',
      'week',
      'America/New_York',
      ['2026-03-02T05:00Z', '2026-03-09T04:00Z'],
    ],
    [
      'months in New York',
      '2026-03-15T12:00Z',
      '2026-04-15T12:00Z',
      'month',
      'America/New_York',
      ['2026-03-01T05:00Z', '2026-04-01T04:00Z', '2026-05-01T04:00Z'],
    ],
    [
      'the last month of a year',
      '2026-12-31T12:00Z',
      '2027-01-01T12:00Z',
      'month',
      'UTC',
      ['2026-12-01T00:00Z', '2027-01-01T00:00Z', '2027-02-01T00:00Z'],
    ],
    [
      'the total, on 15-minute boundaries',
      '2026-03-01T05:01Z',
      '2026-03-09T05:16Z',
      'total',
      'Europe/London',
      ['2026-03-01T05:00Z', '2026-03-09T05:30Z'],
    ],
    [
      'a day without midnight, in Cairo',
      '2026-04-24T12:00Z',
      '2026-04-24T13:00Z',
      'day',
      'Africa/Cairo',
      ['2026-04-23T22:00Z', '2026-04-24T21:00Z'],
    ],
    [
      'a day with two midnights, in Havana',
      '2026-11-01T12:00Z',
      '2026-11-01T13:00Z',
      'day',
      'America/Havana',
      ['2026-11-01T04:00Z', '2026-11-02T05:00Z'],
    ],
    [
      'a day that Samoa skipped',
      '2011-12-30T09:00Z',
      '2011-12-30T11:00Z',
      'day',
      'Pacific/Apia',
      ['2011-12-29T10:00Z', '2011-12-30T10:00Z', '2011-12-31T10:00Z'],
    ],
    [
      'a zone with an odd offset',
      '1971-05-05T12:00Z',
      '1971-05-05T13:00Z',
      'day',
      'Africa/Monrovia',
      ['1971-05-05T00:30Z', '1971-05-06T00:30Z'],
    ],
  ])('are %s', (_, from, to, interval, zone, expected) => {
    expect(edges(from, to, interval, zone)).toEqual(expected);
  });

  it.each([
    ['Europe/London', '2026-03-28T00:00Z', '2026-03-30T12:00Z', 71],
    ['Europe/London', '2026-10-24T00:00Z', '2026-10-26T12:00Z', 73],
    ['America/New_York', '2026-03-07T12:00Z', '2026-03-09T20:00Z', 71],
    ['America/New_York', '2026-10-31T12:00Z', '2026-11-02T20:00Z', 73],
    ['Asia/Kolkata', '2026-03-28T00:00Z', '2026-03-30T12:00Z', 72],
  ])('split the days around a DST change in %s into full hours', (zone, from, to, hours) => {
    const days = computeEdges(Date.parse(from), Date.parse(to), 'day', zone, 10) as number[];
    const inHours = computeEdges(days[0] as number, days[3] as number, 'hour', zone, 1_000) as number[];
    expect(inHours).toHaveLength(hours + 1);
    expect([inHours[0], inHours.at(-1)]).toEqual([days[0], days[3]]);
  });

  it('stay on the hour even if clocks change by half an hour', () => {
    expect(lengths('2026-04-04T12:00Z', '2026-04-04T18:00Z', 'hour', 'Australia/Lord_Howe')).toContain(1.5);
    expect(edges('2026-04-04T17:45Z', '2026-04-04T18:00Z', 'hour', 'Australia/Lord_Howe')).toEqual([
      '2026-04-04T17:30Z',
      '2026-04-04T18:30Z',
    ]);
  });

  it('are in ascending order, on 15-minute boundaries, and enclose the requested range', () => {
    for (const zone of [
      'Europe/London',
      'America/New_York',
      'Asia/Kolkata',
      'Africa/Cairo',
      'Pacific/Apia',
      'Africa/Monrovia',
    ]) {
      for (const interval of ['day', 'week', 'month'] as const) {
        const from = Date.parse('2010-06-15T07:07:07Z');
        const to = Date.parse('2012-06-15T07:07:07Z');
        const times = computeEdges(from, to, interval, zone, 1_000) as number[];
        expect(times.every((time, index) => time % 900_000 === 0 && time > (times[index - 1] ?? 0))).toBe(true);
        expect((times[0] as number) <= from && (times[1] as number) > from).toBe(true);
        expect((times.at(-1) as number) >= to && (times.at(-2) as number) < to).toBe(true);
      }
    }
  });

  it('are undefined if there would be too many', () => {
    expect(edges('2026-01-01T00:00Z', '2026-01-11T00:00Z', 'day', 'UTC', 10)).toHaveLength(11);
    expect(edges('2026-01-01T00:00Z', '2026-01-11T00:01Z', 'day', 'UTC', 10)).toBeUndefined();
    expect(edges('1970-01-01T00:00Z', '9999-12-31T00:00Z', 'hour', 'UTC')).toBeUndefined();
  });
});
