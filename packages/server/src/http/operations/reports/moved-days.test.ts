import { describe, expect, it } from 'vitest';
import { canMove, createDayMover } from './moved-days.ts';

const at = (text: string) => Date.parse(text);

describe('a moved day', () => {
  it.each([
    ['stays on the same day', 'day', 'UTC', '2026-11-24T00:00Z', '2026-11-24T23:59Z', '2026-11-01', '2026-11-01'],
    ['moves at midnight', 'day', 'UTC', '2026-11-24T23:59Z', '2026-11-25T00:00Z', '2026-11-01', '2026-11-02'],
    [
      'moves at midnight in the time zone',
      'day',
      'Asia/Tokyo',
      '2026-11-24T14:59Z',
      '2026-11-24T15:00Z',
      '2026-11-01',
      '2026-11-02',
    ],
    ['moves into another year', 'day', 'UTC', '2026-12-30T12:00Z', '2027-01-02T12:00Z', '2026-12-30', '2027-01-02'],
    [
      'moves across a DST change',
      'day',
      'Europe/London',
      '2026-10-24T23:30Z',
      '2026-10-26T00:30Z',
      '2026-10-24',
      '2026-10-25',
    ],
    [
      'moves back if the clock is set back',
      'day',
      'UTC',
      '2026-11-24T12:00Z',
      '2026-11-23T12:00Z',
      '2026-11-01',
      '2026-10-31',
    ],
    ['stays within a month', 'month', 'UTC', '2026-11-01T00:00Z', '2026-11-30T23:59Z', '2026-10-01', '2026-10-01'],
    [
      'moves when a new month begins',
      'month',
      'UTC',
      '2026-11-30T23:59Z',
      '2026-12-01T00:00Z',
      '2025-12-01',
      '2026-01-01',
    ],
    [
      'moves by months across years',
      'month',
      'UTC',
      '2026-11-30T23:59Z',
      '2028-01-01T00:00Z',
      '2026-11-01',
      '2028-01-01',
    ],
  ] as const)('%s', (_, moving, zone, since, until, day, moved) => {
    expect(createDayMover(moving, zone, at(since), at(until))(day)).toBe(moved);
  });

  it('must be a date, or the first of a month if it moves by months', () => {
    expect(
      ['2026-11-01', '2026-11-02', 5, undefined, '2026-11-01T00:00Z', '0050-01-01'].map((value) =>
        canMove(value, 'day'),
      ),
    ).toEqual([true, true, false, false, false, false]);
    expect(['2026-11-01', '2026-11-02'].map((value) => canMove(value, 'month'))).toEqual([true, false]);
  });
});
