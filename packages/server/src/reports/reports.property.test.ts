import fc from 'fast-check';
import { afterAll, test } from 'vitest';
import { createFeed, type TestFeed } from '../../test/fixtures/reports/model-feed.ts';
import {
  base,
  edges,
  eventArbitrary,
  events,
  hour,
  minute,
  offsets,
  query,
  type TimedEvent,
  value,
  withRange,
} from '../../test/fixtures/reports/random-queries.ts';
import { createTestReports } from '../../test/fixtures/reports/test-reports.ts';
import { runs } from '../../test/fixtures/runs.ts';
import type { ReportQuery } from './queries.ts';

/** The time of each world's last event, for worlds whose events arrive in chronological order. */
const clocks = new WeakMap<TestFeed, number>();
/** Generates worlds that resemble most accounts: pages log all events, and each browser belongs to one person. */
const websites = new WeakSet<TestFeed>();
const log = (world: TestFeed, list: readonly TimedEvent[]): void => {
  let clock = clocks.get(world);
  const timed = list.map(({ pause, isLate, ...logged }) => {
    const event = websites.has(world) ? { ...logged, contact: 0, user: logged.user || 1 } : logged;
    if (clock === undefined || isLate) return event;
    clock += pause;
    return { ...event, eventTime: clock };
  });
  if (clock !== undefined) clocks.set(world, clock);
  world.log(timed);
};

const contact = fc.integer({ min: 1, max: 4 });
const sequence = fc.nat({ max: 200 });
const actionWith = (logged: fc.Arbitrary<TimedEvent[]>): fc.Arbitrary<(world: TestFeed) => void> =>
  fc.oneof(
    { weight: 8, arbitrary: logged.map((list) => (world: TestFeed) => log(world, list)) },
    {
      weight: 4,
      arbitrary: fc
        .tuple(
          fc.integer({ min: 1, max: 5 }),
          fc.array(sequence, { maxLength: 3 }),
          fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 4 }),
        )
        .map(
          ([user, cuts, contacts]) =>
            (world: TestFeed) =>
              world.own(user, websites.has(world) ? [] : cuts, contacts),
        ),
    },
    {
      weight: 2,
      arbitrary: fc
        .uniqueArray(fc.tuple(contact, contact), { maxLength: 3, selector: ([first]) => first })
        .map((pairs) => (world: TestFeed) => world.merge(pairs)),
    },
    { weight: 2, arbitrary: contact.map((erased) => (world: TestFeed) => world.erase(erased)) },
    { weight: 1, arbitrary: fc.constant((world: TestFeed) => world.sweep()) },
    { weight: 1, arbitrary: sequence.map((from) => (world: TestFeed) => world.retain(from)) },
    { weight: 1, arbitrary: fc.constant((world: TestFeed) => world.forget()) },
  );
const historyWith = (
  inOrder: fc.Arbitrary<boolean>,
  logged: fc.Arbitrary<TimedEvent[]>,
  queries: fc.Arbitrary<ReportQuery>,
) =>
  fc
    .tuple(
      fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
      inOrder,
      logged,
      fc.array(fc.tuple(fc.array(actionWith(logged), { minLength: 1, maxLength: 4 }), queries, fc.boolean()), {
        minLength: 1,
        maxLength: 5,
      }),
    )
    .map(([isWebsite, isInOrder, first, steps]) => ({ isWebsite, isInOrder, first, steps }));
const history = historyWith(fc.boolean(), events, query);

/** Generates two users' long sessions, and totals over even longer intervals. */
const busyHistory = historyWith(
  fc.constant(true),
  fc.array(
    eventArbitrary.map((event) => ({
      ...event,
      user: 1 + (event.user % 2),
      pause: event.pause % (25 * minute),
      isLate: event.isLate && event.eventID === 3,
    })),
    { minLength: 10, maxLength: 40 },
  ),
  fc
    .record({
      report: fc.constant('totals' as const),
      robots: fc.integer({ min: 1, max: 10 }).map((nth) => nth === 1),
      condition: fc.constant(null),
      value: fc.constant(null),
      edges: fc
        .tuple(fc.nat({ max: 40 }), fc.integer({ min: 8, max: 16 }), fc.integer({ min: 2, max: 6 }))
        .map(([first, step, count]) => Array.from({ length: count }, (_, nth) => (first + nth * step) * 15 * minute)),
    })
    .map((totals) => ({ ...withRange(totals), edges: totals.edges })),
);

/** Generates events in many groups, most of them in only a few, and breakdowns that return only the first groups. */
const crowdedHistory = historyWith(
  fc.boolean(),
  fc.array(
    fc.tuple(eventArbitrary, fc.nat({ max: 6 }), fc.nat({ max: 40 })).map(([event, spread, page]) => ({
      ...event,
      attributes: new Map([...event.attributes, ['page', `/${page % (spread * spread + 1)}`]]),
    })),
    { minLength: 20, maxLength: 60 },
  ),
  fc
    .record({
      ...base,
      report: fc.constant('breakdown' as const),
      value,
      dimensions: fc.tuple(
        fc.oneof(
          fc.constant({ attrID: 'page' }),
          fc.record({ attrID: fc.constant('page'), of: fc.constantFrom('first', 'last') }),
        ),
      ),
      offsets,
      sort: fc.constantFrom('events' as const, 'users' as const, 'people' as const, 'sessions' as const),
      limit: fc.integer({ min: 1, max: 3 }),
      edges,
    })
    .map(withRange),
);

const { worlds, add, check, purged, restart, close } = createTestReports();
/** The maximum number of worlds. Each world has its own account, and an open account takes memory. */
const maxOpenWorlds = 50;
afterAll(close);

/** Checks queries about a new world as its history unfolds. Returns the world's account. */
const checkHistory = async ({
  isWebsite,
  isInOrder,
  first,
  steps,
}: typeof history extends fc.Arbitrary<infer History> ? History : never): Promise<number> => {
  const world = createFeed();
  if (isWebsite) websites.add(world);
  if (isInOrder) clocks.set(world, 0);
  const account = add(world);
  if (account % maxOpenWorlds === 0) await restart();
  log(world, first);
  for (const [actions, nextQuery, purge] of steps) {
    for (const act of actions) act(world);
    if (purge) await purged(account);
    await check(account, nextQuery);
  }
  return account;
};

test('returns the same results as the model whatever changes between queries, and after a restart', async () => {
  await fc.assert(
    fc.asyncProperty(history, query, async (generated, last) => {
      await check(await checkHistory(generated), last);
    }),
    { numRuns: runs(3, 6) },
  );
  const queries = fc.sample(query, worlds.length);
  await restart();
  for (const [index, nextQuery] of queries.entries()) await check(index + 1, nextQuery);
  for (const [index, [list, nextQuery]] of fc.sample(fc.tuple(events, query), worlds.length).entries()) {
    log(worlds[index] as TestFeed, list);
    await check(index + 1, nextQuery);
  }
});

test('returns the same totals as the model if most events continue a session', async () => {
  await fc.assert(
    fc.asyncProperty(busyHistory, async (generated) => void (await checkHistory(generated))),
    { numRuns: runs(3, 6) },
  );
});

test('returns the same first groups as the model if there are many groups', async () => {
  await fc.assert(
    fc.asyncProperty(crowdedHistory, async (generated) => void (await checkHistory(generated))),
    { numRuns: runs(3, 6) },
  );
});

test('puts the group with the most people first, even if it has few sessions', async () => {
  const world = createFeed();
  const account = add(world);
  let eventTime = 0;
  const look = (page: string, user: number, contact = 0, pause = minute) => {
    eventTime += pause;
    world.log([{ user, contact, eventID: 1, eventTime, attributes: new Map([['page', page]]) }]);
  };
  // Logs one session, in which four contacts share a browser.
  for (const contact of [1, 2, 3, 4]) look('/a', 1, contact);
  for (const user of [2, 3, 4]) look('/b', user);
  for (const user of [2, 3]) look('/c', user, 0, hour);
  for (const nth of Array(9).keys()) look(`/d${nth}`, 5, 0, hour);
  for (const sort of ['people', 'users', 'sessions', 'events'] as const)
    await check(account, {
      ...withRange({ edges: [0, 100 * hour] }),
      report: 'breakdown',
      ...{ robots: false, condition: null, value: null, offsets: [[0, 0]], sort, limit: 1 },
      dimensions: [{ attrID: 'page', of: 'first' }],
    });
});

test('still counts a session whose first events were deleted by retention', async () => {
  const world = createFeed();
  const account = add(world);
  const event = { user: 1, contact: 0, eventID: 1, attributes: new Map() };
  world.log(Array.from({ length: 60 }, (_, nth) => ({ ...event, eventTime: nth * 5 * minute })));
  const totals = {
    ...withRange({ edges: [0, 3 * hour, 6 * hour] }),
    report: 'totals' as const,
    robots: false,
    condition: null,
    value: null,
    edges: [0, 3 * hour, 6 * hour],
  };
  await check(account, totals);
  world.retain(50);
  await check(account, totals);
  await purged(account);
  await restart();
  await check(account, totals);
});
