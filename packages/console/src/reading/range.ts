/** The date range in the URL. Days are in the account's time zone; the service converts them to times. */
import type { Client } from '@firsthand/client';
import { computed, signal } from '@preact/signals';
import { query } from '../address.ts';
import { timezone } from './account.ts';

export const presets = {
  today: 'Today',
  yesterday: 'Yesterday',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
  week: 'This week',
  'last-week': 'Last week',
  month: 'This month',
  'last-month': 'Last month',
  year: 'This year',
  '12m': 'Last 12 months',
} as const;
export type Preset = keyof typeof presets;

export type Interval = 'hour' | 'day' | 'week' | 'month';

export interface Range {
  readonly name: Preset | 'custom';
  /** Days such as `2026-11-01`. `to` is exclusive; undefined means until now. */
  readonly from: string;
  readonly to: string | undefined;
  readonly interval: Interval;
}

const dayMs = 86_400_000;
const isDay = (text: string | null): text is string =>
  text !== null &&
  /^\d{4}-\d\d-\d\d$/.test(text) &&
  !Number.isNaN(Date.parse(text)) &&
  text < '9999' &&
  new Date(text).toISOString().startsWith(text);

const addDays = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10);
/** The first day of the month that is `months` after the month of `day`. */
const monthOf = (day: string, months: number): string => {
  const date = new Date(`${day}T00:00:00Z`);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1)).toISOString().slice(0, 10);
};
const mondayOf = (day: string): string => addDays(day, -((new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7));
const daysBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / dayMs;

/** The day in a time zone, as `2026-11-01`. Assembled from parts, because no locale guarantees this format. */
export const dayIn = (zone: string, time: number): string => {
  const options = { timeZone: zone, calendar: 'iso8601', year: 'numeric', month: '2-digit', day: '2-digit' } as const;
  const parts = new Intl.DateTimeFormat('en-GB', options).formatToParts(time);
  return ['year', 'month', 'day'].map((name) => parts.find(({ type }) => type === name)?.value).join('-');
};

const intervalFor = (days: number): Interval =>
  days <= 2 ? 'hour' : days <= 92 ? 'day' : days <= 400 ? 'week' : 'month';

/** Resolves a preset on a given day. */
export const rangeOf = (name: Preset, today: string): Range => {
  const past = (days: number): Range => ({
    name,
    from: addDays(today, 1 - days),
    to: undefined,
    interval: intervalFor(days),
  });
  switch (name) {
    case 'today':
      return past(1);
    case 'yesterday':
      return { name, from: addDays(today, -1), to: today, interval: 'hour' };
    case '7d':
      return past(7);
    case '30d':
      return past(30);
    case '90d':
      return past(90);
    case 'week':
      return { name, from: mondayOf(today), to: undefined, interval: 'day' };
    case 'last-week':
      return { name, from: addDays(mondayOf(today), -7), to: mondayOf(today), interval: 'day' };
    case 'year':
      return { name, from: `${today.slice(0, 4)}-01-01`, to: undefined, interval: 'month' };
    case 'month':
      return { name, from: monthOf(today, 0), to: undefined, interval: 'day' };
    case 'last-month':
      return { name, from: monthOf(today, -1), to: monthOf(today, 0), interval: 'day' };
    case '12m':
      return { name, from: monthOf(today, -11), to: undefined, interval: 'month' };
  }
};

/** Whether a day is the first one of an interval. */
export const beginsInterval = (day: string, interval: Interval): boolean => {
  if (interval === 'week') return day === mondayOf(day);
  return interval !== 'month' || day.endsWith('-01');
};

const now = signal(Date.now());
const everyMs = 20_000;

/** Keeps relative ranges current if a page stays open past midnight. */
export const followDays = (): void => {
  setInterval(() => {
    now.value = Date.now();
  }, everyMs);
};

/** The current day in the account's time zone. */
export const today = computed(() => dayIn(timezone.value, now.value));

export const defaultPreset: Preset = '30d';

/** The current range. Defaults to the last 30 days if the URL has no valid range. */
export const range = computed((): Range => {
  const from = query.value.get('from');
  const last = query.value.get('to');
  if (isDay(from) && isDay(last) && from <= last) {
    const to = addDays(last, 1);
    return { name: 'custom', from, to, interval: intervalFor(daysBetween(from, to)) };
  }
  const name = query.value.get('range');
  return rangeOf(name !== null && Object.hasOwn(presets, name) ? (name as Preset) : defaultPreset, today.value);
});

/** The last day of a range with an exclusive end. */
export const lastDay = (to: string): string => addDays(to, -1);

export const comparison = computed((): 'previous' | 'year' | undefined => {
  const compare = query.value.get('compare');
  return compare === 'year' || compare === 'previous' ? compare : undefined;
});

/**
 * The `compare` field of a report. For This week, This month and This year, the previous period has the same dates one
 * week, month or year earlier.
 */
export const comparePeriod = computed((): Parameters<Client['reportTotals']>[0]['compare'] => {
  const { name } = range.value;
  if (comparison.value !== 'previous') return comparison.value;
  return name === 'week' || name === 'month' || name === 'year' ? name : 'previous';
});
