// Compares reports over a store's feed with a simple model over its events, for random histories.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ReportQuery } from '../../src/reports/queries.ts';
import { createReports, type FiledReports } from '../../src/reports/reports.ts';
import { Refusal } from '../../src/shared/refusal.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { newDatabaseURL, tuning } from '../fixtures/database.ts';
import { createFedAccount, expectAgreement } from '../fixtures/reports/fed-account.ts';
import { query as anyQuery, events, type TimedEvent } from '../fixtures/reports/random-queries.ts';
import { computeModelResult } from '../fixtures/reports/report-model.ts';
import { roundNumbers } from '../fixtures/reports/test-reports.ts';
import { runs } from '../fixtures/runs.ts';
import { createSite, type Site } from '../fixtures/site.ts';
import { reportTimeouts } from '../fixtures/timeouts.ts';

const userUUIDOf = (user: number) => `visitor-number-${user}`;
const addressOf = (contact: number) => `contact-${contact}@example.com`;

type Action =
  | { readonly do: 'log'; readonly events: readonly TimedEvent[] }
  | { readonly do: 'identify'; readonly user: number; readonly contact: number }
  | { readonly do: 'link'; readonly user: number; readonly contact: number }
  | { readonly do: 'unlink'; readonly user: number }
  | { readonly do: 'merge'; readonly contact: number; readonly other: number }
  | { readonly do: 'unmerge'; readonly other: number }
  | { readonly do: 'erase'; readonly contact: number };

const literal = <Name extends string>(name: Name) => fc.constant(name);
const anyUser = fc.integer({ min: 1, max: 5 });
const anyContact = fc.integer({ min: 1, max: 4 });
const log = fc.record({ do: literal('log'), events });
const erase = { weight: 1, arbitrary: fc.record({ do: literal('erase'), contact: anyContact }) };
/** Generates a site's actions: pages log all events, and each browser signs in as one contact. */
const websiteAction: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: log.map((action) => ({
      ...action,
      events: action.events.map((event) => ({ ...event, contact: 0, user: event.user || 1 })),
    })),
  },
  { weight: 4, arbitrary: anyUser.map((one) => ({ do: 'identify' as const, user: one, contact: Math.ceil(one / 2) })) },
  erase,
);
const serverAction: fc.Arbitrary<Action> = fc.oneof(
  { weight: 8, arbitrary: log },
  { weight: 2, arbitrary: fc.record({ do: literal('identify'), user: anyUser, contact: anyContact }) },
  { weight: 3, arbitrary: fc.record({ do: literal('link'), user: anyUser, contact: anyContact }) },
  { weight: 1, arbitrary: fc.record({ do: literal('unlink'), user: anyUser }) },
  { weight: 1, arbitrary: fc.record({ do: literal('merge'), contact: anyContact, other: anyContact }) },
  { weight: 1, arbitrary: fc.record({ do: literal('unmerge'), other: anyContact }) },
  erase,
);
const historyOf = (action: fc.Arbitrary<Action>) =>
  fc.array(fc.tuple(fc.array(action, { minLength: 1, maxLength: 6 }), anyQuery), { minLength: 1, maxLength: 3 });
const history = fc.oneof(
  { weight: 3, arbitrary: historyOf(websiteAction) },
  { weight: 1, arbitrary: historyOf(serverAction) },
);

const createHistory = async (store: Store) => {
  const site = await createSite(store);
  const contactUUIDs = new Map<number, string>();
  /** The contact numbers in the store. */
  const numbers = new Map<number, number>();
  for (const nth of [1, 2, 3, 4]) {
    const { contactUUID } = await site.server.createContact({ userUUID: null, address: addressOf(nth) });
    contactUUIDs.set(nth, contactUUID);
    const knownNumbers = new Set(numbers.values());
    const { contacts } = await store.feedContacts({
      account: site.account,
      conditions: [{}],
      beyond: null,
      limit: 100,
    });
    numbers.set(nth, contacts[0]?.find((number) => !knownNumbers.has(number)) as number);
  }
  const uuidOf = (nth: number) => contactUUIDs.get(nth) as string;
  /** A rejected action, such as logging with an erased contact, changes nothing. */
  const act = async (action: Action): Promise<unknown> => {
    switch (action.do) {
      case 'log':
        return site.server.log(
          ...action.events.map((event) => ({
            userUUID: event.user === 0 ? null : userUUIDOf(event.user),
            contactUUID: event.contact === 0 ? null : uuidOf(event.contact),
            eventID: event.eventID,
            eventTime: Math.max(0, event.eventTime),
            attributes: [...event.attributes],
          })),
        );
      case 'identify':
        return site.browser.createContact({ userUUID: userUUIDOf(action.user), address: addressOf(action.contact) });
      case 'link':
        return site.link(userUUIDOf(action.user), uuidOf(action.contact));
      case 'unlink':
        return site.unlink(userUUIDOf(action.user));
      case 'merge':
        return site.merge(uuidOf(action.contact), uuidOf(action.other));
      case 'unmerge':
        return site.unmerge(uuidOf(action.other));
      case 'erase':
        return site.erase(uuidOf(action.contact));
    }
  };
  return { site, numbers, act: (action: Action) => retry(() => act(action)).catch(() => undefined) };
};

/** Replaces the contact numbers in a query. */
const renumber = <Value>(value: Value, numberOf: (contact: number) => number): Value => {
  if (value instanceof Float64Array) return value.map(numberOf) as Value;
  if (Array.isArray(value)) return value.map((each) => renumber(each, numberOf)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, renumber(each, numberOf)])) as Value;
};

/** The store's events with their owners, and with the feed's user and contact numbers. */
const readEvents = async (site: Site) => {
  const fed = createFedAccount(site.store, site.account);
  await expectAgreement(fed, site);
  const [stored, numbered] = [await site.events(), await fed.read()];
  const owners = new Map(numbered.map(({ sequence, owner }) => [sequence, owner]));
  return {
    events: stored.map(({ eventID, eventTime, attributes }, nth) => {
      const { sequence, user, contact } = numbered[nth] as (typeof numbered)[number];
      return { sequence, user, contact, eventID, eventTime, attributes: new Map(attributes) };
    }),
    personOf: ({ sequence, user }: { readonly sequence: number; readonly user: number }) => {
      const owner = owners.get(sequence) ?? null;
      return owner === null ? `user ${user}` : `contact ${owner}`;
    },
  };
};

/** Retries, because a busy machine might be too slow for the store's time limits. */
const retry = async <Value>(work: () => Promise<Value>): Promise<Value> => {
  for (;;)
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Refusal) || error.retryAfterSeconds === undefined) throw error;
      await wait(1_000);
    }
};

const folder = mkdtempSync(join(tmpdir(), 'firsthand-reports-'));
let store: Store;
let reports: FiledReports;
const open = () =>
  createReports({
    feed: store,
    folder,
    memory: 256 * 2 ** 20,
    threads: 1,
    eventsPerFile: 40,
    niceness: 0,
    ...reportTimeouts,
  });
beforeAll(async () => {
  const onFatal = (error: Error) => {
    throw error;
  };
  store = await openStore({ databaseURL: await newDatabaseURL(), role: 'server', onFatal, tuning });
  reports = open();
});
afterAll(async () => {
  await reports.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

/** The reports restart after this number of histories, because each open account takes memory. */
const historiesPerProcess = 50;

test('returns the same reports as the model for any history', async () => {
  let histories = 0;
  const compare = async (site: Site, query: ReportQuery, numbers: ReadonlyMap<number, number>): Promise<void> => {
    const numbered = { ...renumber(query, (nth) => numbers.get(nth) as number), account: site.account };
    const { result } = await retry(() => reports.run(numbered));
    const stored = await retry(() => readEvents(site));
    expect(roundNumbers(result)).toEqual(roundNumbers(computeModelResult(numbered, stored.events, stored.personOf)));
  };
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      histories += 1;
      if (histories % historiesPerProcess === 0) {
        await reports.close();
        reports = open();
      }
      const { site, numbers, act } = await retry(() => createHistory(store));
      for (const [actions, query] of steps) {
        for (const action of actions) await act(action);
        await compare(site, query, numbers);
      }
    }),
    { numRuns: runs(10, 20) },
  );
});
