import type { InputOf } from '@firsthand/contract/operations';
import type { SharedOperation } from '@firsthand/contract/reports/share-link';
import { expect, it } from 'vitest';
import { createReports } from './reports.ts';
import { requestAt, toSharedReports } from './shared-view.ts';

const day = 86_400_000;
const store = {
  listCatalogue: async () => [],
  listSegments: async () => [],
  feedContacts: async () => ({ contacts: [], next: null }),
  listGoals: async () => [],
  namePeople: async () => ({ users: [], contacts: [] }),
};
const { check } = createReports(store, undefined);

type LinkFields = Pick<InputOf<'createShareLink'>, 'moving' | 'report'>;

const contextAt = (time: number) => ({
  ...{
    store,
    checkReport: check,
    account: 1,
    accountOrigin: [],
    accountTimezone: 'America/New_York',
    time,
  },
});

/** Times in the last minute of a day in New York, on every weekday and in every month. */
const created = Date.parse('2026-11-24T04:59Z');
const times = {
  day: Array.from({ length: 73 }, (_, nth) => created + nth * 5 * day),
  month: Array.from({ length: 12 }, (_, nth) => Date.UTC(2026, 11 + nth, 1, 3, 59)),
};

/** Checks a link's reports at each time, and returns the number of times. */
const checkAtAllTimes = async ({ moving = 'day', report }: LinkFields): Promise<number> => {
  const shared = await toSharedReports({ moving, report }, contextAt(created));
  for (const time of times[moving])
    for (const one of shared) {
      const sent = requestAt(one, { moving, createdTime: created, time }) as InputOf<SharedOperation>;
      await check(one.operation, {
        sent,
        account: 1,
        accountOrigin: [],
        zone: 'America/New_York',
        time,
      });
    }
  return times[moving].length;
};

const totals = (request: object) => ({ part: 'a', operation: 'reportTotals' as const, request: { ...request } });
const retention = (request: object) => ({ part: 'b', operation: 'reportRetention' as const, request: { ...request } });

it.each<[string, LinkFields]>([
  [
    'hourly intervals from the start of a day',
    { moving: 'day', report: [totals({ from: '2026-10-15', interval: 'hour' })] },
  ],
  [
    'hourly intervals over a month',
    { moving: 'month', report: [totals({ from: '2026-10-01', to: '2026-11-01', interval: 'hour' })] },
  ],
  [
    'hourly intervals from the start of a month',
    { moving: 'month', report: [totals({ from: '2026-11-01', interval: 'hour' })] },
  ],
  [
    'daily intervals over whole months',
    { moving: 'month', report: [totals({ from: '2024-04-01', to: '2026-12-01', interval: 'day' })] },
  ],
  [
    'daily intervals from the start of a month',
    { moving: 'month', report: [totals({ from: '2024-06-01', interval: 'day' })] },
  ],
  ['97 weeks', { moving: 'day', report: [retention({ from: '2024-11-18', to: '2026-09-28' })] }],
  ['97 months', { moving: 'day', report: [retention({ from: '2018-09-01', to: '2026-10-01', interval: 'month' })] }],
])('shows %s that move until the link ends', async (_, fields) => {
  expect(await checkAtAllTimes(fields)).toBeGreaterThan(0);
});
