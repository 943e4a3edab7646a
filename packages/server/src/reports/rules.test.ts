import { afterAll, describe, expect, test } from 'vitest';
import { createFeed, type NewModelEvent } from '../../test/fixtures/reports/model-feed.ts';
import { createTestReports } from '../../test/fixtures/reports/test-reports.ts';
import type { FunnelQuery, PeopleQuery, ResultOf, TotalsQuery } from './queries.ts';

const minute = 60_000;
const halfHour = 30 * minute;
const to = 100 * halfHour;
const base = { account: 0, from: 0, to, robots: false, condition: null };
const totals: TotalsQuery = { ...base, report: 'totals', value: 'amount', edges: [0, to] };

const { add, run, close } = createTestReports();
afterAll(close);

/** Creates an account with one visitor and these events. */
const log = (...events: Partial<NewModelEvent & { amount: string }>[]): number => {
  const world = createFeed();
  world.log(
    events.map(({ amount, ...event }) => ({
      ...{ user: 1, contact: 0, eventID: 1, eventTime: 0 },
      attributes: new Map(amount === undefined ? [] : [['amount', amount]]),
      ...event,
    })),
  );
  return add(world);
};

describe('a report', () => {
  test('starts a new session after exactly 30 minutes, and clips sessions at `from`', async () => {
    const account = log({}, { eventTime: halfHour - 1 }, { eventTime: 2 * halfHour - 1 });
    const sessions = async (from: number) =>
      ((await run({ ...totals, account, from, edges: [from, to] })) as ResultOf<TotalsQuery>).total;
    expect(await sessions(0)).toMatchObject({ events: 3, sessions: 2 });
    expect(await sessions(minute)).toMatchObject({ events: 2, sessions: 2 });
  });

  test('treats `1e2` and `-0.5` as numbers, but not `007`, `1,5` or `.5`, and interpolates percentiles', async () => {
    const amounts = ['1e2', '-0.5', '007', '1,5', '.5', '+1', ' 1', '0x10', '1e100'];
    const account = log(...amounts.map((amount) => ({ amount })));
    const { total } = (await run({ ...totals, account })) as ResultOf<TotalsQuery>;
    expect(total.value).toMatchObject({ count: 2, sum: 99.5, median: 49.75 });
    expect(total.value?.p95).toBeCloseTo(94.975);
  });

  test('orders events in the same millisecond by when they were stored', async () => {
    const steps = [{ eventIDs: [1] }, { eventIDs: [2] }];
    const funnel: FunnelQuery = { ...base, report: 'funnel', steps, withinMilliseconds: 0, per: 'person' };
    const stepsOf = async (...eventIDs: number[]) =>
      (
        (await run({
          ...funnel,
          account: log(...eventIDs.map((eventID) => ({ eventID }))),
        })) as ResultOf<FunnelQuery>
      ).steps;
    expect([await stepsOf(1, 2), await stepsOf(2, 1)]).toEqual([
      [1, 1],
      [1, 0],
    ]);
  });

  test('counts all events that match the filter, not only the steps, for people who reached a step', async () => {
    const account = log({}, { eventID: 2, eventTime: 1 }, { eventID: 3, eventTime: 2, amount: '5' });
    const of = { kind: 'step', step: 1, dropped: false, withinMilliseconds: to, per: 'person' } as const;
    const people = (condition: PeopleQuery['condition']): PeopleQuery => ({
      ...base,
      condition,
      account,
      report: 'people',
      of: { ...of, steps: [{ eventIDs: [1] }, { eventIDs: [2] }] },
      ...{ usersAtLeast: 0, limit: 9, beyond: null, until: null },
    });
    expect(await run(people(null))).toMatchObject({ people: [{ events: 3 }] });
    expect(await run(people({ eventIDs: [1, 2] }))).toMatchObject({ people: [{ events: 2 }] });
  });
});
