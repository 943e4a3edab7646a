import { afterAll, describe, test } from 'vitest';
import { createFeed, type NewModelEvent, type TestFeed } from '../../test/fixtures/reports/model-feed.ts';
import { createTestReports } from '../../test/fixtures/reports/test-reports.ts';
import { runs } from '../../test/fixtures/runs.ts';
import type { Condition, ReportQuery } from './queries.ts';

const hour = 3_600_000;
const [from, to] = [0, 40 * hour];
const edges = [from, 20 * hour, to];

const conditions: Record<string, Condition> = {
  'an event': { eventIDs: [2] },
  'no event': { eventIDs: [] },
  'one of two events': { eventIDs: [2, 3] },
  'a value': { attrID: 'plan', is: ['pro'] },
  'part of a value': { attrID: 'plan', contains: 'r' },
  'an attribute': { attrID: 'plan', exists: true },
  'no attribute': { attrID: 'plan', exists: false },
  'a small number': { attrID: 'amount', below: 3 },
  'a large number': { attrID: 'amount', above: 2.5 },
  'an attribute without its own column': { attrID: 'rare', is: ['1'] },
  'some contacts': { contacts: Float64Array.of(1, 3) },
  'no contacts': { contacts: new Float64Array() },
  'any contact': { contacts: null },
  'people who did anything': { did: null, atLeast: 1, atMost: null, from, to: 10 * hour },
  'people who did something twice': { did: { eventIDs: [2] }, atLeast: 2, atMost: 4, from, to },
  'people who did something while they were contacts': {
    did: { contacts: Float64Array.of(2) },
    atLeast: 1,
    atMost: null,
    from,
    to,
  },
  'all of two': { and: [{ eventIDs: [1, 2] }, { contacts: null }] },
  'all of none': { and: [] },
  'any of two': { or: [{ eventIDs: [3] }, { contacts: Float64Array.of(1) }] },
  'any of none': { or: [] },
  'people whose first value matches': { personFirst: { attrID: 'plan', is: ['pro'] } },
  'people whose first number is large': { personFirst: { attrID: 'amount', above: 2.5 } },
  'people who never had an attribute': { personFirst: { attrID: 'rare', exists: false } },
  'not a contact': { not: { contacts: null } },
  'people who did not do something': { not: { did: { eventIDs: [3] }, atLeast: 1, atMost: null, from, to } },
};

const base = { account: 0, from, to, robots: false, condition: null };
const [any, second] = [{ and: [] }, { eventIDs: [2] }];
const funnel = { withinMilliseconds: 30 * hour, per: 'person' } as const;
const grouping = { dimensions: [{ attrID: 'plan' }], offsets: [[0, 0]] as const };
const breakdown = { ...grouping, report: 'breakdown', value: 'amount', sort: 'people', limit: 2 } as const;
const people = { report: 'people', usersAtLeast: 0, limit: 3, beyond: null, until: null } as const;
const places: Record<string, (condition: Condition) => ReportQuery> = {
  totals: (condition) => ({ ...base, condition, report: 'totals', value: 'amount', edges }),
  'totals with bots': (condition) => ({ ...base, robots: true, condition, report: 'totals', value: null, edges }),
  breakdown: (condition) => ({ ...base, ...breakdown, condition }),
  'a breakdown of sessions': (condition) => ({
    ...base,
    ...breakdown,
    condition,
    dimensions: [{ attrID: 'plan', of: 'first' }],
  }),
  'a funnel': (condition) => ({ ...base, ...funnel, condition, report: 'funnel', steps: [any, second] }),
  'the first step': (condition) => ({ ...base, ...funnel, report: 'funnel', steps: [condition, second] }),
  'the second step': (condition) => ({ ...base, ...funnel, report: 'funnel', steps: [any, condition] }),
  'each step': (condition) => ({ ...base, ...funnel, report: 'funnel', steps: [condition, condition, condition] }),
  'a step within a session': (condition) => ({
    ...base,
    ...funnel,
    report: 'funnel',
    per: 'session',
    steps: [any, condition],
  }),
  'a step with groups': (condition) => ({
    ...base,
    ...funnel,
    report: 'funnel',
    steps: [any, condition],
    groups: { ...grouping, limit: 2 },
  }),
  retention: (condition) => ({ ...base, condition, report: 'retention', first: null, back: null, edges }),
  'the first event in a retention report': (first) => ({ ...base, report: 'retention', first, back: null, edges }),
  'coming back': (back) => ({ ...base, report: 'retention', first: null, back, edges }),
  'both conditions of a retention report': (both) => ({ ...base, report: 'retention', first: both, back: both, edges }),
  people: (condition) => ({ ...base, ...people, condition, of: { kind: 'all' } }),
  'people in a group': (condition) => ({
    ...base,
    ...people,
    condition,
    of: { ...grouping, kind: 'group', values: ['pro'] },
  }),
  'people who dropped off': (condition) => ({
    ...base,
    ...people,
    of: { ...funnel, kind: 'step', steps: [any, condition], step: 0, dropped: true },
  }),
  'people who came back': (back) => ({
    ...base,
    ...people,
    of: { kind: 'cohort', first: null, back, edges, cohort: 0, later: 1 },
  }),
  live: (condition) => ({ ...base, condition, report: 'live', own: { hosts: [], suffixes: [] }, limit: 2 }),
  'a did': (condition) => ({
    ...base,
    report: 'totals',
    condition: 'did' in condition ? condition : { did: condition, atLeast: 1, atMost: null, from, to },
    value: null,
    edges,
  }),
};

/** An attribute without a column in files, because 60 other attributes are more common. */
const rare = new Map<string, string>([
  ...Array.from({ length: 60 }, (_, nth): [string, string] => [`a${nth}`, '']),
  ['rare', '1'],
]);
/** Creates 48 events from five users. Some of the third user's events are from a bot. */
const eventsWith = (contactOf: (nth: number) => number): NewModelEvent[] =>
  Array.from({ length: 48 }, (_, nth) => {
    const user = 1 + ((nth * nth + nth) % 5);
    const plan = ['pro', 'free', undefined][nth % 3];
    return {
      user,
      contact: contactOf(nth),
      eventID: 1 + ((nth * 7) % 3),
      eventTime: Math.floor((nth * 5 * hour) / 6),
      attributes: new Map([
        ...(plan === undefined ? [] : [['plan', plan] as const]),
        ...(nth % 4 === 0 ? [] : [['amount', `${nth % 5}`] as const]),
        ...(nth === 20 ? rare : []),
        ...(user === 3 && nth % 2 === 0 ? [['robot', 'true'] as const] : []),
      ]),
    };
  });

const isComplete = runs(0, 1) > 0;
const { add, check, close } = createTestReports();
afterAll(close);

/** The first kind is typical of most accounts. */
const worlds: Record<string, () => TestFeed> = {
  'a website whose contacts sign in': () => {
    const world = createFeed();
    world.log(eventsWith(() => 0));
    world.own(1, [], [1]);
    world.own(2, [], [2]);
    return world;
  },
  'a website whose browsers are shared': () => {
    const world = createFeed();
    world.log(eventsWith(() => 0));
    world.own(1, [], [1]);
    world.own(2, [12, 30], [2, 0, 3]);
    world.merge([[3, 1]]);
    return world;
  },
  'an account whose server logs events with their contacts': () => {
    const world = createFeed();
    world.log(eventsWith((nth) => (nth % 7 === 0 ? 1 + (nth % 3) : 0)));
    world.own(2, [], [2]);
    return world;
  },
};

const isOfPeople = (condition: Condition): boolean => /"(contacts|did|personFirst)"/.test(JSON.stringify(condition));
const all = Object.entries(conditions);
/**
 * Whether to check a condition in a world. Conditions that do not depend on people run only in the first world, and the
 * other two worlds share the rest. `npm test` runs only a quarter of the conditions, in the first world.
 */
const isIncluded = (world: number, place: number, nth: number): boolean => {
  const ofPeople = isOfPeople(all[nth]?.[1] as Condition);
  if (world > 0) return ofPeople && (nth + place) % 2 === world - 1;
  return isComplete || (nth + place) % 4 === 0;
};

const includedWorlds = Object.entries(worlds).slice(0, isComplete ? undefined : 1);

describe.each(includedWorlds.map(([name, create], world) => [name, create, world] as const))(
  'in %s',
  (_, create, world) => {
    const account = add(create());
    test.each(Object.entries(places).map(([name, toQuery], place) => [name, toQuery, place] as const))(
      'returns the same result as the model for every condition: %s',
      async (_, toQuery, place) => {
        for (const [nth, [name, condition]] of all.entries())
          if (isIncluded(world, place, nth)) await check(account, toQuery(condition), name);
      },
    );
  },
);
