import { dayMilliseconds } from '../../shared/time.ts';

const digits = (count: number, length: number): readonly string[] =>
  Array.from({ length: count }, (_, number) => String(number).padStart(length, '0'));
const two = digits(60, 2);
const three = digits(1_000, 3);

/**
 * Caches the last two days: a page has hundreds of times, mostly on one day, but an event's two times can be on
 * different days.
 */
let latest = { day: 0, text: '1970-01-01T' };
let before = latest;
const textOf = (day: number): string => {
  if (day === latest.day) return latest.text;
  const next = day === before.day ? before : { day, text: new Date(day * dayMilliseconds).toISOString().slice(0, -13) };
  before = latest;
  latest = next;
  return next.text;
};

/**
 * Formats a time (milliseconds since 1970) like Date.toISOString, but in 0.1 µs instead of 0.5 µs (Node 20). Throws a
 * RangeError for NaN and for a day outside the range of Date.
 */
export const isoTime = (time: number): string => {
  const whole = Math.trunc(time);
  const day = Math.floor(whole / dayMilliseconds);
  const seconds = Math.floor((whole - day * dayMilliseconds) / 1_000);
  const milliseconds = whole - day * dayMilliseconds - seconds * 1_000;
  const minutes = Math.floor(seconds / 60);
  const hour = two[Math.floor(minutes / 60)];
  return `${textOf(day)}${hour}:${two[minutes % 60]}:${two[seconds % 60]}.${three[milliseconds]}Z`;
};
