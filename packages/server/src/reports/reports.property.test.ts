import { robotMark } from '@firsthand/contract/identifiers';
import fc from 'fast-check';
import { afterAll, test } from 'vitest';
import { createFeed, type NewModelEvent, type TestFeed } from '../../test/fixtures/reports/model-feed.ts';
import { createTestReports } from '../../test/fixtures/reports/test-reports.ts';
import { runs } from '../../test/fixtures/runs.ts';
import type { Condition, Dimension, PeopleOf, Question } from './questions.ts';

const minute = 60_000;
const hour = 60 * minute;
const hours = 60;

const attrIDs = ['path', 'Path', 'price', 'robot', 'referrer', '$country', 'x" OR 1'];
const texts = [
  '/',
  '/a',
  '1',
  '2.5',
  '-3',
  '1e2',
  '1e308',
  '-1e100',
  '1e99',
  ' 1',
  '01',
  'NaN',
  '',
  "o'clock",
  'Ä',
  '\u{1f600}',
  '\0',
  'true',
  'https://shop.example/a',
  'https://news.example:8080?b',
  'app://ann:secret@eu.shop.example#c',
  'https://:80/',
  'http://[::1]:80/',
];
const attrID = fc.constantFrom(...attrIDs);
const text = fc.constantFrom(...texts);
const times = fc.oneof(
  fc.nat({ max: hours * 4 }).map((quarter) => quarter * 15 * minute),
  fc.nat({ max: hours * hour }),
  fc.constantFrom(-1, 0, 30 * minute - 1, 30 * minute, hours * hour),
);
/** `pause`: how long after the event before it happens where events come in the order of their times, unless it `isLate`. */
type Happened = NewModelEvent & { readonly pause: number; readonly isLate: boolean };
const eventArbitrary: fc.Arbitrary<Happened> = fc
  .record({
    user: fc.nat({ max: 5 }),
    contact: fc.oneof(
      { weight: 4, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 4 }) },
    ),
    eventID: fc.integer({ min: 1, max: 3 }),
    eventTime: times,
    attributes: fc.array(fc.tuple(attrID, text), { maxLength: 3 }).map((pairs) => new Map(pairs)),
    isOfRobot: fc.integer({ min: 1, max: 5 }).map((nth) => nth === 1),
    pause: fc.constantFrom(0, 1, 5 * minute, 10 * minute, 20 * minute, 30 * minute - 1, 30 * minute, hour),
    isLate: fc.integer({ min: 1, max: 30 }).map((nth) => nth === 1),
  })
  .map(({ isOfRobot, ...event }) => {
    const attributes = isOfRobot
      ? new Map([...event.attributes, [robotMark.attrID, robotMark.attrValue]])
      : event.attributes;
    return { ...event, attributes, user: event.user === 0 && event.contact === 0 ? 1 : event.user };
  });
const events = fc.array(eventArbitrary, { minLength: 1, maxLength: 25 });

const { condition } = fc.letrec<{ condition: Condition; did: Condition }>((tie) => ({
  did: fc
    .record({
      did: fc.option(tie('condition')),
      atLeast: fc.integer({ min: 1, max: 3 }),
      more: fc.option(fc.nat({ max: 2 })),
      range: fc.tuple(times, times),
    })
    .map(({ more, range: [from, to], ...did }) => ({
      ...did,
      atMost: more === null ? null : did.atLeast + more,
      from: Math.min(from, to),
      to: Math.max(from, to),
    })),
  condition: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ eventIDs: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 2 }) }),
    fc.record({ attrID, is: fc.array(text, { maxLength: 3 }) }),
    fc.record({ attrID, contains: fc.constantFrom('', '/', 'a', '\0', '1') }),
    fc.record({ attrID, exists: fc.boolean() }),
    fc.record({ attrID, below: fc.constantFrom(-1, 2, 2.5, 100) }),
    fc.record({ attrID, above: fc.constantFrom(-3, 1, 2) }),
    fc.record({
      contacts: fc.option(fc.uniqueArray(fc.integer({ min: 1, max: 4 })).map((list) => Float64Array.from(list))),
    }),
    tie('did'),
    fc.record({ and: fc.array(tie('condition'), { maxLength: 2 }) }),
    fc.record({ or: fc.array(tie('condition'), { maxLength: 2 }) }),
    fc.record({ not: tie('condition') }),
  ),
}));
/** A condition that many events meet: a funnel of others is empty. */
const step: fc.Arbitrary<Condition> = fc.oneof(
  fc.integer({ min: 1, max: 3 }).map((eventID) => ({ eventIDs: [eventID] })),
  fc.constant({ and: [] }),
  condition,
);

/** Ascending, the first `from` and the last `to`. */
const edges = fc
  .oneof(
    fc.array(times, { minLength: 2, maxLength: 6 }),
    fc
      .tuple(fc.nat({ max: hours }), fc.integer({ min: 1, max: 12 }))
      .map(([first, step]) => Array.from({ length: 6 }, (_, index) => (first + index * step) * hour)),
  )
  .map((list) => [...new Set(list)].sort((a, b) => a - b))
  .filter((list) => list.length > 1);
const value = fc.option(attrID);
const base = { robots: fc.boolean(), condition: fc.option(condition, { freq: 2 }) };
const offsets = fc.constantFrom<readonly (readonly [number, number])[]>(
  [[-100 * hour, 0]],
  [
    [-100 * hour, 2 * hour],
    [20 * hour + 15 * minute, hour],
  ],
  [
    [-100 * hour, 0],
    [-50 * hour, -5 * hour - 45 * minute],
    [30 * hour, -4 * hour - 45 * minute],
  ],
  [[-1, 12 * hour + 17_000]],
);
const own = fc.record({
  hosts: fc.subarray(['news.example', 'shop.example']),
  suffixes: fc.subarray(['.shop.example']),
});
const dimension: fc.Arbitrary<Dimension> = fc.oneof(
  fc.record({ attrID }),
  fc.record({ attrID, of: fc.constantFrom('first', 'last') }),
  fc.record({ by: fc.constantFrom('event', 'weekday', 'hour') }),
  fc.record({ by: fc.constantFrom('referrerHost', 'entryReferrerHost'), own }),
  fc
    .array(fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { minLength: 1 }), { maxLength: 3 })
    .map((all) => ({ lists: all.map((list, nth) => ({ value: `list ${nth}`, contacts: Float64Array.from(list) })) })),
);
const withRange = <Asked extends { readonly edges: readonly number[] }>({ edges: list, ...asked }: Asked) => ({
  ...asked,
  account: 0,
  from: list[0] as number,
  to: list.at(-1) as number,
});
const dimensions = fc.array(dimension, { minLength: 1, maxLength: 2 });
const groupValue = fc.option(fc.oneof(text, fc.constantFrom('list 0', 'list 1', '1', '2')));
const group = fc
  .record({ dimensions, offsets, values: fc.tuple(groupValue, groupValue) })
  .map((of) => ({ ...of, values: of.values.slice(0, of.dimensions.length) }));
const steps = fc.array(step, { minLength: 2, maxLength: 4 });
const within = fc.constantFrom(0, 15 * minute, 3 * hour, 100 * hour);
const per = fc.constantFrom('person' as const, 'session' as const);
const peopleOf = (list: readonly number[]): fc.Arbitrary<PeopleOf> =>
  fc.oneof(
    fc.constant({ kind: 'all' as const }),
    group.map((of) => ({ kind: 'group' as const, ...of })),
    fc
      .record({
        kind: fc.constant('step' as const),
        steps,
        withinMilliseconds: within,
        per,
        nth: fc.nat(),
        dropped: fc.boolean(),
        group: fc.option(group, { nil: undefined }),
      })
      .map(({ nth, group: inGroup, ...of }) => ({
        ...of,
        ...(inGroup && { group: inGroup }),
        step: nth % (of.steps.length - (of.dropped ? 1 : 0)),
      })),
    fc
      .record({
        kind: fc.constant('cohort' as const),
        first: fc.option(step),
        back: fc.option(step),
        cohort: fc.nat({ max: 1 }),
        later: fc.option(fc.nat({ max: 2 })),
      })
      .map((of) => ({ ...of, edges: list })),
  );
const question: fc.Arbitrary<Question> = fc.oneof(
  fc
    .record({ ...base, report: fc.constant('totals' as const), value, edges })
    .map((asked) => ({ ...withRange(asked), edges: asked.edges })),
  fc
    .record({
      ...base,
      report: fc.constant('breakdown' as const),
      value,
      dimensions,
      offsets,
      sort: fc.constantFrom('events' as const, 'users' as const, 'people' as const, 'sessions' as const),
      limit: fc.integer({ min: 1, max: 4 }),
      edges,
    })
    .map(withRange),
  fc
    .record({
      ...base,
      report: fc.constant('funnel' as const),
      steps,
      withinMilliseconds: within,
      per,
      groups: fc.option(fc.record({ dimensions, offsets, limit: fc.integer({ min: 1, max: 3 }) }), { nil: undefined }),
      edges,
    })
    .map(({ groups, ...asked }) => ({ ...withRange(asked), ...(groups && { groups }) })),
  fc
    .record({
      ...base,
      report: fc.constant('retention' as const),
      first: fc.option(step),
      back: fc.option(step),
      edges,
    })
    .map((asked) => ({ ...withRange(asked), edges: asked.edges })),
  fc
    .record({
      ...base,
      report: fc.constant('people' as const),
      usersAtLeast: fc.nat({ max: 3 }),
      limit: fc.integer({ min: 1, max: 6 }),
      beyond: fc.option(
        fc.record({ lastTime: fc.nat({ max: hours * hour }), person: fc.integer({ min: -5, max: 5 }) }),
      ),
      until: fc.option(fc.nat({ max: 60 })),
      edges,
    })
    .chain((asked) => peopleOf(asked.edges).map((of) => ({ ...withRange(asked), of }))),
  fc
    .record({
      ...base,
      report: fc.constant('live' as const),
      own,
      limit: fc.integer({ min: 1, max: 4 }),
      edges,
    })
    .map(withRange),
);

/** The time of the last event of worlds whose events come in the order of their times. */
const clocks = new WeakMap<TestFeed, number>();
/** Worlds as most accounts are: pages log all events, and a browser is one person's. */
const ofWebsite = new WeakSet<TestFeed>();
const log = (world: TestFeed, list: readonly Happened[]): void => {
  let clock = clocks.get(world);
  const timed = list.map(({ pause, isLate, ...logged }) => {
    const event = ofWebsite.has(world) ? { ...logged, contact: 0, user: logged.user || 1 } : logged;
    if (clock === undefined || isLate) return event;
    clock += pause;
    return { ...event, eventTime: clock };
  });
  if (clock !== undefined) clocks.set(world, clock);
  world.log(timed);
};

const contact = fc.integer({ min: 1, max: 4 });
const sequence = fc.nat({ max: 200 });
const actionWith = (logged: fc.Arbitrary<Happened[]>): fc.Arbitrary<(world: TestFeed) => void> =>
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
              world.own(user, ofWebsite.has(world) ? [] : cuts, contacts),
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
const historyWith = (inOrder: fc.Arbitrary<boolean>, logged: fc.Arbitrary<Happened[]>, asked: fc.Arbitrary<Question>) =>
  fc
    .tuple(
      fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
      inOrder,
      logged,
      fc.array(fc.tuple(fc.array(actionWith(logged), { minLength: 1, maxLength: 4 }), asked, fc.boolean()), {
        minLength: 1,
        maxLength: 5,
      }),
    )
    .map(([isWebsite, isInOrder, first, steps]) => ({ isWebsite, isInOrder, first, steps }));
const history = historyWith(fc.boolean(), events, question);

/** Long sessions, of two users, and totals of spans that are longer. */
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
    .map((asked) => ({ ...withRange(asked), edges: asked.edges })),
);

/** Events of many groups, a few of which have most, and breakdowns of which the first ones are wanted. */
const crowdedHistory = historyWith(
  fc.boolean(),
  fc.array(
    fc.tuple(eventArbitrary, fc.nat({ max: 6 }), fc.nat({ max: 40 })).map(([event, most, page]) => ({
      ...event,
      attributes: new Map([...event.attributes, ['page', `/${page % (most * most + 1)}`]]),
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
/** Each world has an account of its own, and an open account takes memory. */
const worldsAtOnce = 50;
afterAll(close);

/** Asks about a new world while its history goes on. Returns its account. */
const live = async ({
  isWebsite,
  isInOrder,
  first,
  steps,
}: typeof history extends fc.Arbitrary<infer History> ? History : never): Promise<number> => {
  const world = createFeed();
  if (isWebsite) ofWebsite.add(world);
  if (isInOrder) clocks.set(world, 0);
  const account = add(world);
  if (account % worldsAtOnce === 0) await restart();
  log(world, first);
  for (const [actions, asked, purge] of steps) {
    for (const act of actions) act(world);
    if (purge) await purged(account);
    await check(account, asked);
  }
  return account;
};

test('every report is that of the model, whatever happened between two askings, and after a restart', async () => {
  await fc.assert(
    fc.asyncProperty(history, question, async (lived, last) => {
      await check(await live(lived), last);
    }),
    { numRuns: runs(3, 30) },
  );
  const questions = fc.sample(question, worlds.length);
  await restart();
  for (const [index, asked] of questions.entries()) await check(index + 1, asked);
  for (const [index, [list, asked]] of fc.sample(fc.tuple(events, question), worlds.length).entries()) {
    log(worlds[index] as TestFeed, list);
    await check(index + 1, asked);
  }
});

test('totals are those of the model where most events follow another one of their session', async () => {
  await fc.assert(
    fc.asyncProperty(busyHistory, async (lived) => void (await live(lived))),
    { numRuns: runs(3, 30) },
  );
});

test('the first of many groups are those of the model', async () => {
  await fc.assert(
    fc.asyncProperty(crowdedHistory, async (lived) => void (await live(lived))),
    { numRuns: runs(3, 30) },
  );
});

test('a group with few sessions, but with the most people, is the first', async () => {
  const world = createFeed();
  const account = add(world);
  let eventTime = 0;
  const look = (page: string, user: number, contact = 0, pause = minute) => {
    eventTime += pause;
    world.log([{ user, contact, eventID: 1, eventTime, attributes: new Map([['page', page]]) }]);
  };
  // One session of four contacts, who share a browser.
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

test('a session whose first events were deleted for their age counts with the others', async () => {
  const world = createFeed();
  const account = add(world);
  const event = { user: 1, contact: 0, eventID: 1, attributes: new Map() };
  world.log(Array.from({ length: 60 }, (_, nth) => ({ ...event, eventTime: nth * 5 * minute })));
  const asked = {
    ...withRange({ edges: [0, 3 * hour, 6 * hour] }),
    report: 'totals' as const,
    robots: false,
    condition: null,
    value: null,
    edges: [0, 3 * hour, 6 * hour],
  };
  await check(account, asked);
  world.retain(50);
  await check(account, asked);
  await purged(account);
  await restart();
  await check(account, asked);
});
