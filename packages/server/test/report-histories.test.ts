// Random histories of accounts in a store: reports read its feed, and answer as the plain model does about the events that it lists.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Question } from '../src/reports/questions.ts';
import { createReports, type FiledReports } from '../src/reports/reports.ts';
import { openStore } from '../src/store/open.ts';
import type { Store, StoredEvent } from '../src/store/store.ts';
import { arrangement, newDatabaseURL } from './fixtures/database.ts';
import { reportPatience } from './fixtures/patience.ts';
import { createFedAccount } from './fixtures/reports/fed-account.ts';
import { question as anyQuestion, events, type Happened } from './fixtures/reports/random-questions.ts';
import { answerOfModel } from './fixtures/reports/report-model.ts';
import { rounded } from './fixtures/reports/test-reports.ts';
import { runs } from './fixtures/runs.ts';
import { createSite, type Site } from './fixtures/site.ts';

const userUUIDOf = (user: number) => `visitor-number-${user}`;
const addressOf = (contact: number) => `contact-${contact}@example.com`;

type Action =
  | { readonly do: 'log'; readonly events: readonly Happened[] }
  | { readonly do: 'identify'; readonly user: number; readonly contact: number }
  | { readonly do: 'link'; readonly user: number; readonly contact: number }
  | { readonly do: 'unlink'; readonly user: number }
  | { readonly do: 'merge'; readonly contact: number; readonly other: number }
  | { readonly do: 'unmerge'; readonly other: number }
  | { readonly do: 'erase'; readonly contact: number };

const is = <Name extends string>(name: Name) => fc.constant(name);
const user = fc.integer({ min: 1, max: 5 });
const contact = fc.integer({ min: 1, max: 4 });
const log = fc.record({ do: is('log'), events });
const erase = { weight: 1, arbitrary: fc.record({ do: is('erase'), contact }) };
/** Pages log all events, and each browser signs in as one contact. */
const ofWebsite: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: log.map((action) => ({
      ...action,
      events: action.events.map((event) => ({ ...event, contact: 0, user: event.user || 1 })),
    })),
  },
  { weight: 4, arbitrary: user.map((one) => ({ do: 'identify' as const, user: one, contact: Math.ceil(one / 2) })) },
  erase,
);
const ofServers: fc.Arbitrary<Action> = fc.oneof(
  { weight: 8, arbitrary: log },
  { weight: 2, arbitrary: fc.record({ do: is('identify'), user, contact }) },
  { weight: 3, arbitrary: fc.record({ do: is('link'), user, contact }) },
  { weight: 1, arbitrary: fc.record({ do: is('unlink'), user }) },
  { weight: 1, arbitrary: fc.record({ do: is('merge'), contact, other: contact }) },
  { weight: 1, arbitrary: fc.record({ do: is('unmerge'), other: contact }) },
  erase,
);
const pastOf = (action: fc.Arbitrary<Action>) =>
  fc.array(fc.tuple(fc.array(action, { minLength: 1, maxLength: 6 }), anyQuestion), { minLength: 1, maxLength: 3 });
const past = fc.oneof({ weight: 3, arbitrary: pastOf(ofWebsite) }, { weight: 1, arbitrary: pastOf(ofServers) });

const createHistory = async (store: Store) => {
  const site = await createSite(store);
  const contactUUIDs = new Map<number, string>();
  /** What the store calls them. */
  const numbers = new Map<number, number>();
  for (const nth of [1, 2, 3, 4]) {
    const { contactUUID } = await site.server.createContact({ userUUID: null, address: addressOf(nth) });
    const [number] = await store.numberContacts({ account: site.account, contactUUIDs: [contactUUID] });
    contactUUIDs.set(nth, contactUUID);
    numbers.set(nth, number as number);
  }
  const uuidOf = (nth: number) => contactUUIDs.get(nth) as string;
  /** What is refused changes nothing, such as logging with an erased contact. */
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
  return { site, numbers, act: (action: Action) => act(action).catch(() => undefined) };
};

/** The same question about contacts that have other numbers. */
const renumbered = <Value>(value: Value, numberOf: (contact: number) => number): Value => {
  if (value instanceof Float64Array) return value.map(numberOf) as Value;
  if (Array.isArray(value)) return value.map((each) => renumbered(each, numberOf)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, renumbered(each, numberOf)])) as Value;
};

/** What the store lists, with owners as getEvent answers them. The feed gives users and contacts their numbers only. */
const listedIn = async ({ store, account, events: list }: Site) => {
  const [listed, fed] = [await list(), await createFedAccount(store, account).read()];
  expect(fed.map(({ sequence }) => sequence)).toEqual(listed.map(({ sequence }) => sequence));
  const owners = [...new Set(listed.map(({ contactUUID }) => contactUUID))].filter(Boolean);
  const numbers = new Map<string, number>();
  for (const contactUUID of owners) {
    const [number] = await store.numberContacts({ account, contactUUIDs: [contactUUID] });
    numbers.set(contactUUID, number as number);
  }
  const toModel = ({ sequence, eventID, eventTime, attributes }: StoredEvent, nth: number) => {
    const { user: one, contact: with_ } = fed[nth] as (typeof fed)[number];
    return { sequence, user: one, contact: with_, eventID, eventTime, attributes: new Map(attributes) };
  };
  const persons = new Map(listed.map(({ sequence, contactUUID }) => [sequence, numbers.get(contactUUID)]));
  return {
    events: listed.map(toModel),
    personOf: ({ sequence, user: one }: { readonly sequence: number; readonly user: number }) => {
      const owner = persons.get(sequence);
      return owner === undefined ? `user ${one}` : `contact ${owner}`;
    },
  };
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
    eventsOfFile: 40,
    niceness: 0,
    ...reportPatience,
  });
beforeAll(async () => {
  const onFatal = (error: Error) => {
    throw error;
  };
  store = await openStore({ databaseURL: await newDatabaseURL(), role: 'server', onFatal, arrangement });
  reports = open();
});
afterAll(async () => {
  await reports.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

/** Each open account takes memory. */
const historiesOfProcess = 50;

test('answers about any history as the model does', async () => {
  let histories = 0;
  const ask = async (site: Site, question: Question, numbers: ReadonlyMap<number, number>): Promise<void> => {
    const numbered = { ...renumbered(question, (nth) => numbers.get(nth) as number), account: site.account };
    const { answer } = await reports.ask(numbered);
    const listed = await listedIn(site);
    expect(rounded(answer)).toEqual(rounded(answerOfModel(numbered, listed.events, listed.personOf)));
  };
  await fc.assert(
    fc.asyncProperty(past, async (steps) => {
      histories += 1;
      if (histories % historiesOfProcess === 0) {
        await reports.close();
        reports = open();
      }
      const { site, numbers, act } = await createHistory(store);
      for (const [actions, asked] of steps) {
        for (const action of actions) await act(action);
        await ask(site, asked, numbers);
      }
    }),
    { numRuns: runs(10, 100) },
  );
});
