/** Formats numbers, times and durations in the browser's locale. */
import { computed } from '@preact/signals';
import { currency, timezone } from './account.ts';

/** Valid language tags only: WebKitGTK also lists the system locale `C`. */
const locale = navigator.languages.filter((tag) => {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
});

const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 });
const precisePercent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });

export const formatWhole = (value: number): string => whole.format(value);

const maxNameLength = 60;
/** Shortens a name for a menu, which is as wide as its longest entry. */
export const shorten = (name: string): string =>
  name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name;

/** The label for table rows that are not shown. */
export const moreRows = (count: number): string => `${formatWhole(count)} more ${count === 1 ? 'row' : 'rows'}`;

export interface NumberForms {
  /** At most four digits, then compact notation: `4.75`, `6,661`, `12.3K`. */
  readonly short: (value: number) => string;
  readonly decimal: (value: number) => string;
}
const formsOf = (style: Intl.NumberFormatOptions, decimals: Intl.NumberFormatOptions): NumberForms => {
  const formatter = (options: Intl.NumberFormatOptions) =>
    new Intl.NumberFormat(locale, { ...style, minimumFractionDigits: 0, ...options });
  const decimal = formatter(decimals);
  const thousands = formatter({ maximumFractionDigits: 0 });
  const compact = formatter({ notation: 'compact', maximumFractionDigits: 1 });
  return {
    short: (value) => {
      const size = Math.abs(value);
      return (size < 1_000 ? decimal : size < 10_000 ? thousands : compact).format(value);
    },
    decimal: (value) => decimal.format(value),
  };
};
export const plainNumbers = formsOf({}, { maximumFractionDigits: 2 });
/** Amounts in the account's currency; plain numbers if the account has none. */
export const currencyFormats = computed(() =>
  currency.value
    ? formsOf(
        { style: 'currency', currency: currency.value, currencyDisplay: 'narrowSymbol' },
        { minimumFractionDigits: undefined },
      )
    : plainNumbers,
);
/** Rounds an amount to the number of decimal places of the account's currency, for CSV. */
export const roundMoney = (value: number): number => {
  if (!currency.value) return value;
  const { maximumFractionDigits } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency: currency.value,
  }).resolvedOptions();
  return Number(value.toFixed(maximumFractionDigits));
};
export const formatShare = (share: number): string =>
  (share > 0 && share < 0.1 ? precisePercent : percent).format(share);
/** `+12%` */
export const formatChange = (now: number, before: number): string | undefined => {
  if (before === 0) return undefined;
  const change = (now - before) / before;
  return `${change > 0 ? '+' : change < 0 ? '−' : '±'}${percent.format(Math.abs(change))}`;
};

type Form = 'time' | 'day' | 'date' | 'long' | 'month' | 'hour' | 'weekday' | 'full';
const forms: Readonly<Record<Form, Intl.DateTimeFormatOptions>> = {
  time: { hour: '2-digit', minute: '2-digit' },
  hour: { weekday: 'short', hour: '2-digit', minute: '2-digit' },
  day: { day: 'numeric', month: 'short' },
  date: { day: 'numeric', month: 'short', year: 'numeric' },
  weekday: { weekday: 'long', day: 'numeric', month: 'long' },
  month: { month: 'short', year: 'numeric' },
  long: {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  },
  full: { dateStyle: 'full', timeStyle: 'long' },
};
const formatters = new Map<string, Intl.DateTimeFormat>();

const formatterOf = (form: Form, zone: string): Intl.DateTimeFormat => {
  const key = `${zone} ${form}`;
  const formatter = formatters.get(key) ?? new Intl.DateTimeFormat(locale, { ...forms[form], timeZone: zone });
  formatters.set(key, formatter);
  return formatter;
};

/** A time in the account's time zone, or in the given one. */
export const formatTime = (time: string | number, form: Form, zone = timezone.value): string =>
  formatterOf(form, zone).format(new Date(time));

/** Formats a range that ends before `to`: `Oct 1 – 30, 2026`. */
export const formatDays = (from: string, to: string): string =>
  formatterOf('date', timezone.value).formatRange(Date.parse(from), Date.parse(to) - 1);

const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
/** Only minutes use the short style: `min` is common, `wk` and `mo` are not. */
const relativeMinutes = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' });
const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000_000],
  ['month', 2_592_000_000],
  ['week', 604_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** A relative time: `3 hours ago`, `in 12 hours`. */
export const formatAgo = (time: string, now: number): string => {
  const ms = Date.parse(time) - now;
  const [unit, length] = steps.find(([, unitMs]) => Math.abs(ms) >= unitMs) ?? ['second', 1_000];
  if (unit === 'second') return 'just now';
  const count = ms > 0 ? Math.round(ms / length) : Math.trunc(ms / length);
  return (unit === 'minute' ? relativeMinutes : relative).format(count, unit);
};

/** A duration: `4 min`, `2 h 5 min`, `3 days`. */
export const formatLength = (ms: number): string => {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return `${Math.max(1, Math.round(ms / 1_000))} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.round(hours / 24)} days`;
};

/** A short duration, precise to the second for comparison: `1m 52s`. */
export const formatDuration = (length: number): string => {
  const seconds = Math.round(length);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
};

const regions = new Intl.DisplayNames(locale, { type: 'region' });
/** A country's name by its ISO 3166 code. */
export const formatCountry = (code: string): string => {
  try {
    return regions.of(code) ?? code;
  } catch {
    return code;
  }
};
