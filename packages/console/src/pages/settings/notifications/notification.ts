/** Notifications as the API lists them, and what the page calls them. */
import type { ResponseFor } from '@firsthand/client';

export type Notification = ResponseFor<'listNotifications'>['notification'][number];

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
export const nameOfWeekday = (weekday: number): string => weekdays[weekday - 1] ?? '';

const toText = (count: number): string => count.toLocaleString('en');

type Settings = Pick<
  Notification,
  'kind' | 'every' | 'hour' | 'weekday' | 'hours' | 'period' | 'measure' | 'below' | 'above' | 'percent'
>;

/** Describes when a notification is sent: `Every Monday at 8:00`. */
export const describeNotification = (settings: Settings): string => {
  const {
    kind,
    every,
    hour = 8,
    weekday = 1,
    hours = 1,
    period,
    measure = 'people',
    below,
    above = 0,
    percent,
  } = settings;
  if (kind === 'digest') return `Every ${every === 'week' ? nameOfWeekday(weekday) : 'day'} at ${hour}:00`;
  if (kind === 'silence') return `When there are no events for ${hours === 1 ? 'an hour' : `${toText(hours)} hours`}`;
  const inPeriod = `in the last ${period === 'hour' ? 'hour' : '24 hours'}`;
  if (kind === 'drop') return `When there are ${percent} % fewer ${measure} than a week before, ${inPeriod}`;
  return below === undefined
    ? `When there are more than ${toText(above)} ${measure} ${inPeriod}`
    : `When there are fewer than ${toText(below)} ${measure} ${inPeriod}`;
};
