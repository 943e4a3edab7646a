import { expect, it } from 'vitest';
import { describeNotification } from './notification.ts';

it.each([
  [{ kind: 'digest', every: 'day' }, 'Every day at 8:00'],
  [{ kind: 'digest', every: 'week', weekday: 7, hour: 0 }, 'Every Sunday at 0:00'],
  [{ kind: 'silence', hours: 2 }, 'When there are no events for 2 hours'],
  [{ kind: 'silence', hours: 1 }, 'When there are no events for an hour'],
  [{ kind: 'threshold', period: 'hour', below: 0 }, 'When there are fewer than 0 people in the last hour'],
  [
    { kind: 'threshold', period: 'day', above: 10_000, measure: 'events' },
    'When there are more than 10,000 events in the last 24 hours',
  ],
  [
    { kind: 'drop', period: 'day', percent: 50 },
    'When there are 50 % fewer people than a week before, in the last 24 hours',
  ],
] as const)('describes when %o is sent', (settings, text) => {
  expect(describeNotification(settings)).toBe(text);
});
