import type { Row } from '../files/record.ts';
import type { Outcome } from './format.ts';

export const toRecord = (value: unknown): Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : {};

/** Returns text that is not empty, or a number as text; otherwise undefined. */
export const toText = (value: unknown): string | undefined => {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** Removes fields without a value. Returns undefined if no field has a value. */
export const compact = (fields: Row): Row | undefined => {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
};

const timePattern = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d{1,9})?) ?(Z|UTC|[+-]\d\d(?::?\d\d)?)?$/;

/** Converts a date with a time to ISO 8601. Without a time zone, it is UTC. */
export const toTime = (value: unknown): string | undefined => {
  const [, date, time, zone = 'Z'] = (typeof value === 'string' && timePattern.exec(value)) || [];
  if (date === undefined || time === undefined) return undefined;
  const offset =
    zone === 'UTC' ? 'Z' : zone.replace(/^([+-]\d\d):?(\d\d)?$/, (_, hours, minutes) => `${hours}:${minutes ?? '00'}`);
  const parsed = new Date(`${date}T${time}${offset}`);
  return Number.isNaN(parsed.getTime()) ? undefined : parsed.toISOString();
};

/** Converts a number of seconds since 1970 to ISO 8601. */
export const toTimeOfSeconds = (value: unknown): string | undefined => {
  const seconds = toText(value);
  const date = new Date(seconds === undefined ? Number.NaN : Number(seconds) * 1_000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
};

const maxShownLength = 40;

export const invalidField = (field: string, value: unknown, form: string): Outcome => {
  const present = value ?? '';
  const text = typeof present === 'string' ? present : JSON.stringify(present);
  const shown = text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text;
  return {
    problem: text === '' ? `\`${field}\` is empty; expected ${form}` : `\`${field}\` is "${shown}"; expected ${form}`,
  };
};

export const aTime = 'a date and time such as 2026-11-01 09:30:00';

const toURL = (value: string | undefined): URL | undefined =>
  value !== undefined && URL.canParse(value) ? new URL(value) : undefined;

/** A URL's path. Its query may contain secrets, so events that are not page views have only the path. */
export const pathOf = (address: string | undefined): string | undefined => toURL(address)?.pathname;

/** A URL without its query, as in the links that the tracker logs. */
export const withoutQuery = (address: string | undefined): string | undefined => {
  const url = toURL(address);
  return url && url.origin + url.pathname;
};
