// Compares reports over a whole store with a simple computation over getEvents, no matter what happens between two
// reports.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { toEventKinds, toMergedIDs } from '../../src/http/operations/reports/conditions.ts';
import type { Dimension, MergedIDs, PeopleEnd, PeopleResult, ReportQuery, Reports } from '../../src/reports/queries.ts';
import { createReports } from '../../src/reports/reports.ts';
import { Refusal } from '../../src/shared/refusal.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store, StoredEvent } from '../../src/store/store.ts';
import { newDatabaseURL, tuning } from '../fixtures/database.ts';
import { computeModelResult, type ModelEvent } from '../fixtures/reports/report-model.ts';
import { runs } from '../fixtures/runs.ts';
import { createSite, type Site } from '../fixtures/site.ts';
import { day, hour } from '../fixtures/store.ts';
import { reportTimeouts } from '../fixtures/timeouts.ts';

const nth = fc.nat({ max: 2 });
const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('log' as const),
      user: nth,
      contact: fc.option(nth, { freq: 2 }),
      eventID: fc.integer({ min: 1, max: 3 }),
      plan: fc.constantFrom('pro', 'free', '12.50', undefined),
      Plan: fc.constantFrom('pro', '7', undefined, undefined),
      age: fc.integer({ min: 0, max: 3 * 24 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('create' as const, 'claim' as const), user: nth, contact: nth }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unlink' as const), user: nth }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('link' as const), user: nth, contact: nth }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('void' as const, 'restore' as const), link: nth }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('merge' as const, 'unmerge' as const, 'erase' as const),
      contact: nth,
      other: nth,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('merge entries' as const, 'unmerge entries' as const),
      entries: fc.constantFrom(
        ...([
          ['event', '2', '1'],
          ['event', '2', '3'],
          ['event', '1', '2'],
          ['attr', 'Plan', 'plan'],
          ['attr', 'plan', 'Plan'],
        ] as const),
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('compare' as const) }) },
);
type Action = typeof action extends fc.Arbitrary<infer One> ? One : never;

/** Assigns a number to each distinct name, starting with 1; '' is 0. */
const createNumbers = () => {
  const numbers = new Map<string, number>([['', 0]]);
  return (name: string): number => {
    if (!numbers.has(name)) numbers.set(name, numbers.size);
    return numbers.get(name) as number;
  };
};

/**
 * With `merged`, returns the queries that requests for merged entries become. Without it, the queries use the IDs that
 * getEvents returns.
 */
const queriesOf = ({ account, time }: Site, merged?: Merged): ReportQuery[] => {
  const [from, to] = [time - 3 * day, time + day];
  const idsOf = merged?.idsOf ?? ((eventID: number) => [eventID]);
  const [plan, Plan] = merged?.names ?? ['plan', 'Plan'];
  const common = { account, from, to, robots: true, condition: null, value: plan, ...merged?.mergedIDs };
  const edges = [from, from + day, from + 2 * day, to];
  return [
    { ...common, report: 'totals', edges, goal: { condition: { eventIDs: idsOf(2) }, value: Plan } },
    { ...common, report: 'totals', edges, condition: { attrID: Plan, is: ['pro', '7'] } },
    {
      ...common,
      report: 'totals',
      edges,
      value: Plan,
      condition: {
        or: [
          { attrID: Plan, below: 10 },
          { attrID: plan, exists: false },
        ],
      },
    },
    {
      ...common,
      report: 'breakdown',
      dimensions: [{ attrID: plan }, { by: 'event' }],
      offsets: [[from, hour]],
      sort: 'people',
      limit: 3,
      goal: { condition: { attrID: Plan, matches: '*r*' }, value: null },
    },
    {
      ...common,
      report: 'breakdown',
      dimensions: [{ attrID: Plan, of: 'first' }],
      offsets: [[from, 0]],
      sort: 'events',
      limit: 2,
      goal: { condition: { eventIDs: idsOf(3) }, value: plan },
    },
    {
      ...common,
      report: 'funnel',
      steps: [{ eventIDs: idsOf(1) }, { eventIDs: [...idsOf(2), ...idsOf(3)] }],
      withinMilliseconds: day,
      per: 'person',
    },
    { ...common, report: 'retention', first: null, back: { eventIDs: idsOf(1) }, edges },
    { ...common, report: 'live', own: { hosts: [], suffixes: [] }, limit: 2 },
  ];
};

/** The merges of catalogue entries, as reports must apply them. */
interface Merged {
  readonly mergedIDs: { readonly mergedIDs?: MergedIDs };
  idsOf(eventID: number): number[];
  /** The IDs of `plan` and `Plan`; for the model, the IDs of the entries into which they are merged. */
  readonly names: readonly [string, string];
}

/** Returns the events in the model's form, and the person to whom each belongs. */
const toModel = (events: readonly StoredEvent[]) => {
  const [users, contacts] = [createNumbers(), createNumbers()];
  const people = new Map<ModelEvent, string>();
  const modelEvents = events.map((event): ModelEvent => {
    const isNamed = event.why.rule === 'logged with the contact';
    const one = {
      sequence: event.sequence,
      user: users(event.userUUID),
      contact: isNamed ? contacts(event.why.mergedFrom ?? event.contactUUID) : 0,
      eventID: event.eventID,
      eventTime: event.eventTime,
      attributes: new Map(event.attributes),
    };
    people.set(one, event.contactUUID || event.userUUID);
    return one;
  });
  return { modelEvents, personOf: (event: ModelEvent) => people.get(event) as string };
};

/** Rounds numbers, because sums in a different order differ in their last digits. */
const roundNumbers = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, each) => (typeof each === 'number' ? Number(each.toPrecision(12)) : each)));

describe('reports on a store', () => {
  let store: Store;
  let folder: string;
  let reports: Reports;
  beforeAll(async () => {
    const onFatal = (error: Error) => {
      throw error;
    };
    store = await openStore({ databaseURL: await newDatabaseURL(), role: 'server', onFatal, tuning });
    folder = await mkdtemp(join(tmpdir(), 'firsthand-reports-'));
    const engine = { folder, memory: 256 * 1024 * 1024, threads: 2, ...reportTimeouts };
    reports = createReports({ feed: store, ...engine, onFault: onFatal });
  });
  afterAll(async () => {
    await reports?.close();
    await store?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Checks that the people on all pages match the totals, and that they have names. */
  const comparePeople = async ({ account, time }: Site) => {
    const common = { account, from: time - 3 * day, to: time + day, robots: true, condition: null };
    const { result } = await reports.run({ ...common, report: 'totals', value: null, edges: [common.from, common.to] });
    const { events, people } = result.total;
    const listedPeople: PeopleResult['people'][number][] = [];
    for (let beyond: PeopleEnd | null | undefined; beyond !== null; ) {
      const of = { kind: 'all' as const };
      const page = await reports.run({
        ...common,
        report: 'people',
        of,
        usersAtLeast: 0,
        limit: 2,
        beyond: beyond ?? null,
        until: null,
      });
      listedPeople.push(...page.result.people);
      beyond = page.result.next;
    }
    const persons = listedPeople.map(({ person }) => person);
    expect(new Set(persons).size).toBe(people);
    expect([persons.length, listedPeople.reduce((sum, one) => sum + one.events, 0)]).toEqual([people, events]);
    const names = await store.namePeople({
      account,
      users: persons.filter((person) => person < 0).map((person) => -person),
      contacts: persons.filter((person) => person > 0),
    });
    expect(names.users.length + names.contacts.length).toBe(people);
  };

  const compareReports = async (site: Site) => {
    const { modelEvents, personOf } = toModel(await site.events());
    const list = (kind: 'event' | 'attr') => store.listCatalogue({ account: site.account, kind });
    const [events, attributes] = [await list('event'), await list('attr')];
    const { idsOf } = toEventKinds(events);
    const mergedIDs = toMergedIDs(events, attributes);
    const targetOf = (attrID: string) => attributes.find(({ id }) => id === attrID)?.mergedInto ?? attrID;
    const sent = { mergedIDs: mergedIDs ? { mergedIDs } : {}, idsOf, names: ['plan', 'Plan'] as const };
    const read = { mergedIDs: {}, idsOf, names: [targetOf('plan'), targetOf('Plan')] as const };
    const modelQueries = queriesOf(site, read);
    for (const [nth, query] of queriesOf(site, sent).entries()) {
      const { result } = await reports.run(query);
      expect(roundNumbers(result)).toEqual(
        roundNumbers(computeModelResult(modelQueries[nth] as ReportQuery, modelEvents, personOf)),
      );
    }
    await comparePeople(site);
  };

  const applyAction = async (site: Site, one: Action, contacts: string[], links: string[]): Promise<void> => {
    const { server, browser, time } = site;
    const userUUIDOf = (user: number) => `visitor-number-${user}`;
    switch (one.do) {
      case 'log': {
        const contactUUID = one.contact === null ? null : (contacts[one.contact] ?? null);
        const attributes = (['plan', 'Plan'] as const).flatMap((name) => {
          const value = one[name];
          return value === undefined ? [] : [[name, value] as const];
        });
        const userUUID = userUUIDOf(one.user);
        await server.log({ userUUID, contactUUID, eventID: one.eventID, eventTime: time - one.age * hour, attributes });
        return;
      }
      case 'create':
      case 'claim': {
        const caller = one.do === 'create' ? server : browser;
        const address = `contact-${one.contact}@example.com`;
        const { contactUUID } = await caller.createContact({ userUUID: userUUIDOf(one.user), address });
        if (one.do === 'create') contacts[one.contact] = contactUUID;
        return;
      }
      case 'unlink':
        await site.unlink(userUUIDOf(one.user));
        return;
      case 'link':
        links.push((await site.link(userUUIDOf(one.user), contacts[one.contact] ?? '')).linkID);
        return;
      case 'void':
        await site.voidLink(links[one.link] ?? '');
        return;
      case 'restore':
        await site.restoreLink(links[one.link] ?? '');
        return;
      case 'merge':
        await site.merge(contacts[one.contact] ?? '', contacts[one.other] ?? '');
        return;
      case 'unmerge':
        await site.unmerge(contacts[one.contact] ?? '');
        return;
      case 'erase':
        await site.erase(contacts[one.contact] ?? '');
        return;
      case 'merge entries':
      case 'unmerge entries': {
        const [kind, id, otherID] = one.entries;
        const change = { account: site.account, kind, otherID, time };
        await (one.do === 'merge entries' ? store.mergeEntry({ ...change, id }) : store.unmergeEntry(change));
        return;
      }
      case 'compare':
        await compareReports(site);
    }
  };

  test('count the same people as getEvents, no matter what is linked, voided, merged and erased in between', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 25, size: 'max' }), async (actions) => {
        const site = await createSite(store);
        const [contacts, links]: string[][] = [[], []];
        for (const one of actions) {
          await applyAction(site, one, contacts as string[], links as string[]).catch((error: unknown) => {
            if (!(error instanceof Refusal)) throw error;
          });
        }
        await compareReports(site);
      }),
      { numRuns: runs(1, 3) },
    );
  });

  test('count merged entries as one from the next report on, and separately again once they are unmerged', async () => {
    const site = await createSite(store);
    const { account, time, server } = site;
    await server.log(
      {
        eventID: 7,
        userUUID: 'visitor-number-1',
        attributes: [
          ['plan', 'pro'],
          ['price', '10'],
        ],
      },
      {
        eventID: 17,
        userUUID: 'visitor-number-1',
        attributes: [
          ['Plan', 'pro'],
          ['Price', '5'],
        ],
      },
      {
        eventID: 17,
        userUUID: 'visitor-number-2',
        attributes: [
          ['Plan', 'free'],
          ['plan', 'pro'],
          ['price', 'none'],
          ['Price', '5'],
        ],
      },
    );
    const common = { account, from: time - day, to: time + day, robots: true, condition: null };
    const read = async () => {
      const list = (kind: 'event' | 'attr') => store.listCatalogue({ account, kind });
      const mergedIDs = toMergedIDs(await list('event'), await list('attr'));
      const query = { ...common, ...(mergedIDs && { mergedIDs }) };
      const groups = async (dimension: Dimension) => {
        const by = {
          report: 'breakdown',
          value: 'price',
          dimensions: [dimension],
          offsets: [[0, 0]],
          sort: 'events',
          limit: 9,
        } as const;
        const { rows, total } = (await reports.run({ ...query, ...by })).result;
        return [...rows.map(({ values: [value], events, users }) => [value, events, users]), total.value?.sum];
      };
      return { kinds: await groups({ by: 'event' }), plans: await groups({ attrID: 'plan' }) };
    };
    const before = await read();
    expect(before).toEqual({
      kinds: [['17', 2, 2], ['7', 1, 1], 10],
      plans: [['pro', 2, 2], [null, 1, 1], 10],
    });
    const change = { account, time };
    await store.mergeEntry({ ...change, kind: 'event', id: '7', otherID: '17' });
    await store.mergeEntry({ ...change, kind: 'attr', id: 'plan', otherID: 'Plan' });
    await store.mergeEntry({ ...change, kind: 'attr', id: 'price', otherID: 'Price' });
    // Expects that the third event's own price, which is not a number, still takes precedence over the merged price.
    expect(await read()).toEqual({ kinds: [['7', 3, 2], 15], plans: [['pro', 3, 2], 15] });
    await store.unmergeEntry({ ...change, kind: 'event', otherID: '17' });
    await store.unmergeEntry({ ...change, kind: 'attr', otherID: 'Plan' });
    await store.unmergeEntry({ ...change, kind: 'attr', otherID: 'Price' });
    expect(await read()).toEqual(before);
  });

  test('include everything stored before they started, during 24 concurrent writes', async () => {
    const site = await createSite(store);
    let [logged, linked, reportCount, isWriting] = [0, 0, 0, true];
    onTestFinished(() => {
      isWriting = false;
    });
    // Retries, because all writers wait for the same contact, so that a slow store rejects some calls.
    const retry = async <Value>(work: () => Promise<Value>): Promise<Value> => {
      for (;;) {
        try {
          return await work();
        } catch (error) {
          if (!(error instanceof Refusal && error.code === 'unavailable')) throw error;
        }
      }
    };
    const write = async (writer: number) => {
      for (let round = 0; round < 6 || (reportCount < 3 && isWriting); round += 1) {
        const userUUID = `visitor-number-${writer}-${round}`;
        await retry(() => site.server.log({ userUUID }));
        logged += 1;
        // Links each browser to the same person.
        await retry(() => site.server.createContact({ userUUID, address: 'one@example.com' }));
        linked += 1;
        await wait(5);
      }
    };
    const writing = Promise.all(Array.from({ length: 24 }, (_, writer) => write(writer))).finally(() => {
      isWriting = false;
    });
    // Ignored here, because the `await` below rethrows the failure.
    writing.catch(() => {});
    const [query] = queriesOf(site) as [Extract<ReportQuery, { report: 'totals' }>];
    for (; isWriting; reportCount += 1) {
      const before = { logged, linked };
      const { total } = (await reports.run(query)).result;
      expect(total.events).toBeGreaterThanOrEqual(before.logged);
      // At least `before.linked` of the counted browsers belong to the linked person.
      expect(total.people).toBeLessThanOrEqual(total.events - before.linked + 1);
    }
    await writing;
    expect(reportCount).toBeGreaterThan(1);
    const { total } = (await reports.run(query)).result;
    expect(total).toMatchObject({ events: logged, users: logged, people: 1 });
  });
});
