import { describe, expect, it } from 'vitest';
import { createOffsetLookup } from '../calendar.ts';
import { edgesWithin, offsetsIn, rangesOf } from './ranges.ts';

const now = Date.parse('2026-11-24T12:00Z');
const inISO = (range: { from: number; to: number } | undefined) =>
  range && [range.from, range.to].map((time) => new Date(time).toISOString().replace(':00.000Z', 'Z'));
const timeOf = (text: string) => (text.length > 10 ? Date.parse(text) : text);

describe('a report’s range', () => {
  it.each([
    ['a day', '2026-11-01', '2026-11-02', 'Asia/Kolkata', '2026-10-31T18:30Z', '2026-11-01T18:30Z'],
    ['a time', '2026-11-01T05:00Z', '2026-11-02', 'America/New_York', '2026-11-01T05:00Z', '2026-11-02T05:00Z'],
    ['a day without midnight', '2026-04-24', '2026-04-25', 'Africa/Cairo', '2026-04-23T22:00Z', '2026-04-24T21:00Z'],
  ])('starts and ends with %s in the zone’s local time', (_, from, to, zone, begin, end) => {
    expect(inISO(rangesOf({ from: timeOf(from), to: timeOf(to) }, zone, now).range)).toEqual([begin, end]);
  });

  it('ends now by default', () => {
    expect(rangesOf({ from: 5 }, 'UTC', now).range).toEqual({ from: 5, to: now + 1 });
  });

  it.each([
    [{ from: 7, to: 7 }, '`to` must be later than `from`'],
    [{ from: '2027-01-01' }, '`to` must be later than `from`; without it, `to` is now'],
    [{ from: 0, compare: 'previous' as const }, 'would start before 1970'],
    [{ from: '1970-06-01', compare: 'year' as const }, 'would start before 1970'],
  ])('is refused: %j', (request, message) => {
    expect(() => rangesOf(request, 'UTC', now)).toThrow(message);
  });
});

describe('the earlier range', () => {
  type Case = [
    what: string,
    compare: 'previous' | 'week' | 'month' | 'year',
    range: string,
    zone: string,
    earlier: string,
  ];
  it.each<Case>([
    ['a week before', 'previous', '2026-11-08/2026-11-15', 'UTC', '2026-11-01T00:00Z/2026-11-08T00:00Z'],
    [
      'a week with a DST change',
      'previous',
      '2026-11-02/2026-11-09',
      'America/New_York',
      '2026-10-26T04:00Z/2026-11-02T05:00Z',
    ],
    ['a month before', 'previous', '2026-03-01/2026-04-01', 'UTC', '2026-02-01T00:00Z/2026-03-01T00:00Z'],
    ['a quarter before', 'previous', '2026-01-01/2026-04-01', 'Europe/London', '2025-09-30T23:00Z/2026-01-01T00:00Z'],
    [
      'an hour before',
      'previous',
      '2026-03-29T01:30Z/2026-03-29T02:30Z',
      'Europe/London',
      '2026-03-29T00:30Z/2026-03-29T01:30Z',
    ],
    ['a year before', 'year', '2026-03-29/2026-04-05', 'Europe/London', '2025-03-29T00:00Z/2025-04-04T23:00Z'],
    ['a February', 'year', '2024-02-01/2024-03-01', 'UTC', '2023-02-01T00:00Z/2023-03-01T00:00Z'],
    [
      'the month before, up to the same time',
      'month',
      '2026-11-01/2026-11-30T18:00Z',
      'UTC',
      '2026-10-01T00:00Z/2026-10-30T18:00Z',
    ],
    ['all of a shorter month', 'month', '2026-03-01/2026-03-30T18:00Z', 'UTC', '2026-02-01T00:00Z/2026-03-01T00:00Z'],
    ['all of a longer month', 'month', '2026-02-01/2026-03-01', 'UTC', '2026-01-01T00:00Z/2026-02-01T00:00Z'],
    ['the same day of a longer month', 'month', '2026-04-30/2026-05-01', 'UTC', '2026-03-30T00:00Z/2026-03-31T00:00Z'],
    ['the last week of February', 'month', '2026-02-22/2026-03-01', 'UTC', '2026-01-22T00:00Z/2026-01-29T00:00Z'],
    ['the day before a leap day', 'year', '2025-02-28/2025-03-01', 'UTC', '2024-02-28T00:00Z/2024-02-29T00:00Z'],
    ['the last day of a shorter month', 'month', '2026-03-31/2026-04-01', 'UTC', '2026-02-28T00:00Z/2026-03-01T00:00Z'],
    [
      'the week before, up to the same time',
      'week',
      '2026-11-02/2026-11-04T17:00Z',
      'America/New_York',
      '2026-10-26T04:00Z/2026-10-28T16:00Z',
    ],
    ['a leap day', 'year', '2024-02-29/2024-03-01', 'UTC', '2023-02-28T00:00Z/2023-03-01T00:00Z'],
    [
      'an end on a leap day',
      'year',
      '2024-02-28T12:00Z/2024-02-29T18:00Z',
      'UTC',
      '2023-02-28T12:00Z/2023-03-01T18:00Z',
    ],
    [
      'an hour that was skipped',
      'year',
      '2026-03-30T01:00Z/2026-03-30T01:30Z',
      'UTC',
      '2025-03-30T01:00Z/2025-03-30T01:30Z',
    ],
  ])('is %s', (_, compare, range, zone, earlier) => {
    const [from, to] = range.split('/').map(timeOf) as [string, string];
    expect(inISO(rangesOf({ from, to, compare }, zone, now).earlier)).toEqual(earlier.split('/'));
  });

  it.each([
    ['today', '2026-11-26', '2026-11-26T01:09Z', 'UTC', '2026-11-25T00:00Z/2026-11-25T01:09Z'],
    ['seven days', '2026-11-20', '2026-11-26T01:09Z', 'UTC', '2026-11-13T00:00Z/2026-11-19T01:09Z'],
    ['seven days from the first', '2026-11-01', '2026-11-07T09:00Z', 'UTC', '2026-10-25T00:00Z/2026-10-31T09:00Z'],
    [
      'three days with a DST change',
      '2026-10-31',
      '2026-11-02T05:30Z',
      'America/New_York',
      '2026-10-28T04:00Z/2026-10-30T04:30Z',
    ],
    [
      'the day of a DST change',
      '2026-03-29',
      '2026-03-29T01:30Z',
      'Europe/London',
      '2026-03-28T00:00Z/2026-03-28T01:30Z',
    ],
  ])('for %s until now ends at the same time of day', (_, from, until, zone, earlier) => {
    const range = rangesOf({ from, compare: 'previous' }, zone, Date.parse(until) - 1).earlier;
    expect(inISO(range)).toEqual(earlier.split('/'));
  });

  it('is never empty, for any range and zone', () => {
    const hour = 3_600_000;
    for (const zone of ['Europe/London', 'America/Havana', 'Pacific/Apia']) {
      for (const compare of ['previous', 'week', 'month', 'year'] as const) {
        for (let from = Date.parse('2012-01-01'); from < Date.parse('2013-03-01'); from += 131 * hour) {
          for (const length of [hour, 23 * hour, 24 * hour, 31 * 24 * hour]) {
            for (const to of [from + length, undefined]) {
              const { earlier } = rangesOf({ from, to, compare }, zone, from + length);
              expect(earlier?.from).toBeLessThan(earlier?.to as number);
              expect(earlier?.from).toBeLessThan(from);
            }
          }
        }
      }
    }
  });
});

it('clips calendar intervals to the range', () => {
  const range = { from: Date.parse('2026-11-01T05:01Z'), to: Date.parse('2026-11-03T00:00Z') };
  const edges = edgesWithin(range, 'day', 'UTC', 1_000).map((edge) => new Date(edge).toISOString().slice(5, 16));
  expect(edges).toEqual(['11-01T05:01', '11-02T00:00', '11-03T00:00']);
  expect(() => edgesWithin(range, 'hour', 'UTC', 10)).toThrow(
    'The range from `from` to `to` has more than 10 intervals; choose a longer interval or a shorter range.',
  );
});

describe('the offsets in a range', () => {
  const offsets = (from: string, to: string, zone: string) =>
    offsetsIn({ from: Date.parse(from), to: Date.parse(to) }, zone).map(([time, milliseconds]) => [
      new Date(time).toISOString().slice(0, 16),
      milliseconds / 3_600_000,
    ]);

  it('are listed at its start and at each DST change', () => {
    expect(offsets('2026-01-15', '2026-11-30', 'Europe/London')).toEqual([
      ['2026-01-15T00:00', 0],
      ['2026-03-29T01:00', 1],
      ['2026-10-25T01:00', 0],
    ]);
    expect(offsets('2026-03-29T00:59:59Z', '2026-03-29T01:00:00Z', 'Europe/London')).toEqual([['2026-03-29T00:59', 0]]);
    expect(offsets('2026-01-01', '2027-01-01', 'Asia/Kolkata')).toEqual([['2026-01-01T00:00', 5.5]]);
  });

  it.each(['Africa/Casablanca', 'Africa/Cairo', 'Pacific/Apia', 'Australia/Lord_Howe'])(
    'match every fifth hour in %s',
    (zone) => {
      const range = { from: Date.parse('2009-12-31T12:00Z'), to: Date.parse('2012-01-02') };
      const offsets = offsetsIn(range, zone);
      const offsetAt = createOffsetLookup(zone);
      let at = 0;
      for (let time = range.from; time < range.to; time += 5 * 3_600_000) {
        while ((offsets[at + 1]?.[0] ?? Number.POSITIVE_INFINITY) <= time) at += 1;
        if (offsets[at]?.[1] !== offsetAt(time)) expect([time, offsets[at]?.[1]]).toEqual([time, offsetAt(time)]);
      }
      expect(offsets.length).toBeGreaterThan(3);
    },
  );

  it('cover at most a hundred years', () => {
    expect(() => offsets('1970-01-01', '2071-01-01', 'UTC')).toThrow('at most 100 years');
    expect(offsets('1970-01-01', '2069-01-01', 'Europe/London').length).toBeGreaterThan(150);
  });
});
