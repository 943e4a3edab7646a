import { beforeAll, describe, expect, it, vi } from 'vitest';

let range: typeof import('./range.ts');
beforeAll(async () => {
  // The module reads the URL when it loads.
  vi.stubGlobal('location', { href: 'http://127.0.0.1/console/' });
  vi.stubGlobal('navigator', { languages: ['en-GB'] });
  range = await import('./range.ts');
  vi.unstubAllGlobals();
});

describe('rangeOf', () => {
  it.each([
    ['today', '2026-11-25', '2026-11-25', undefined, 'hour'],
    ['yesterday', '2026-03-01', '2026-02-28', '2026-03-01', 'hour'],
    ['7d', '2026-11-03', '2026-10-28', undefined, 'day'],
    ['30d', '2026-11-25', '2026-10-27', undefined, 'day'],
    ['90d', '2026-11-25', '2026-08-28', undefined, 'day'],
    ['week', '2026-11-29', '2026-11-23', undefined, 'day'],
    ['week', '2026-11-30', '2026-11-30', undefined, 'day'],
    ['last-week', '2026-03-02', '2026-02-23', '2026-03-02', 'day'],
    ['year', '2026-11-25', '2026-01-01', undefined, 'month'],
    ['month', '2026-11-25', '2026-11-01', undefined, 'day'],
    ['last-month', '2026-01-31', '2025-12-01', '2026-01-01', 'day'],
    ['12m', '2026-01-31', '2025-02-01', undefined, 'month'],
  ] as const)('resolves “%s” on %s', (name, today, from, to, interval) => {
    expect(range.rangeOf(name, today)).toEqual({ name, from, to, interval });
  });
});

it.each([
  ['2026-11-30', 'week', true],
  ['2026-11-29', 'week', false],
  ['2026-11-01', 'month', true],
  ['2026-11-02', 'month', false],
  ['2026-11-02', 'day', true],
] as const)('determines whether %s begins a %s', (day, interval, begins) => {
  expect(range.beginsInterval(day, interval)).toBe(begins);
});

it.each([
  ['Pacific/Kiritimati', '2026-11-26'],
  ['UTC', '2026-11-25'],
  ['Pacific/Pago_Pago', '2026-11-24'],
])('returns for %s the day %s', (zone, day) => {
  expect(range.dayIn(zone, Date.parse('2026-11-25T10:30:00Z'))).toBe(day);
});

it.each([
  ['month', 'previous', 'month'],
  ['week', 'previous', 'week'],
  ['last-month', 'previous', 'previous'],
  ['7d', 'previous', 'previous'],
  ['month', 'year', 'year'],
  ['month', '', undefined],
])('compares %s, “%s”, with %s', async (name, compare, expected) => {
  vi.resetModules();
  vi.stubGlobal('location', { href: `http://127.0.0.1/console/?range=${name}&compare=${compare}` });
  vi.stubGlobal('navigator', { languages: ['en-GB'] });
  const { comparePeriod } = await import('./range.ts');
  vi.unstubAllGlobals();
  expect(comparePeriod.value).toBe(expected);
});
