// Compares what a webhook receives about its segments with a simple model, for random histories.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '@firsthand/contract/limits';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createComparison } from '../../src/http/webhooks/audiences.ts';
import { createReports, type FiledReports } from '../../src/reports/reports.ts';
import { Refusal } from '../../src/shared/refusal.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { newDatabaseURL, tuning } from '../fixtures/database.ts';
import { runs } from '../fixtures/runs.ts';
import { createSite, type Site } from '../fixtures/site.ts';
import { newID } from '../fixtures/store.ts';
import { reportTimeouts } from '../fixtures/timeouts.ts';

const folder = mkdtempSync(join(tmpdir(), 'firsthand-audiences-'));
let store: Store;
let reports: FiledReports;
beforeAll(async () => {
  const onFatal = (error: Error) => {
    throw error;
  };
  store = await openStore({ databaseURL: await newDatabaseURL(), role: 'server', onFatal, tuning });
  const resources = { memory: 256 * 2 ** 20, threads: 1, niceness: 0 };
  reports = createReports({ feed: store, folder, ...resources, ...reportTimeouts });
});
afterAll(async () => {
  await reports.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

/** Retries, because a busy machine might be too slow for the time limits of the store. */
const retry = async <Value>(work: () => Promise<Value>): Promise<Value> => {
  for (;;)
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Refusal) || error.retryAfterSeconds === undefined) throw error;
      await wait(1_000);
    }
};

const signal = new AbortController().signal;
const newWebhook = async ({ account, time }: Site, segments: Readonly<Record<string, object>>) => {
  for (const [segmentName, filter] of Object.entries(segments))
    await store.saveSegment({ account, segmentName, filter: JSON.stringify(filter), time });
  const webhookID = newID('webhook');
  const types = ['segment.entered', 'segment.left', 'contact.erased'] as const;
  const settings = { url: 'https://crm.example/', description: '', payload: 'thin', types } as const;
  const filter = { segmentNames: Object.keys(segments) };
  const sentThrough = await retry(() => store.getLastSequence({ account }));
  await store.createWebhook({ ...settings, account, webhookID, filter, sentThrough, time });
  return { account, webhookID, sentThrough };
};
type Audiences = Awaited<ReturnType<typeof newWebhook>>;

const readFacts = async ({ account, webhookID, sentThrough }: Audiences) => {
  // Ascending, because such a read waits for the writes in progress.
  const { through } = await retry(() => store.getEvents({ account, order: 'asc', limit: 1_000 }));
  const query = { account, after: sentThrough, through, limit: 100_000, recognized: false, webhookID };
  return { facts: (await retry(() => store.listFacts(query))).facts, through };
};

/** Compares all segments. Marks the messages as sent before each, because unsent messages delay the comparison. */
const compareAll = async (webhook: Audiences): Promise<void> => {
  const { account, webhookID } = webhook;
  const compare = createComparison({ store, reports });
  for (const audience of await store.listDueAudiences({ time: Number.MAX_SAFE_INTEGER })) {
    if (audience.account !== account) continue;
    const { through: sentThrough } = await readFacts(webhook);
    await store.updateWebhook({ account, webhookID, changes: { sentThrough }, time: 1 });
    await compare(audience, signal);
  }
  expect((await store.listAudiences({ account })).map(({ problem }) => problem).join('')).toBe('');
};

/** The contacts that have entered and not left, according to the messages; an erased contact has left. */
const receivedMembers = async (webhook: Audiences): Promise<Record<string, string[]>> => {
  const members = new Map<string, Set<string>>();
  for (const { type, contactUUID, detail } of (await readFacts(webhook)).facts) {
    if (type === 'contact.erased') {
      for (const contacts of members.values()) contacts.delete(detail.contactUUID as string);
      continue;
    }
    const contacts = members.get(detail.segmentName as string) ?? new Set();
    members.set(detail.segmentName as string, contacts);
    const isMember = contacts.has(contactUUID);
    expect([type, isMember]).toEqual([type, type === 'segment.left']);
    if (isMember) contacts.delete(contactUUID);
    else contacts.add(contactUUID);
  }
  return Object.fromEntries([...members].map(([name, contacts]) => [name, [...contacts].sort()]));
};

const eventIDs = { bought: 1, seen: 2 };
const segments = {
  Buyers: { event: eventIDs.bought },
  Visitors: { not: { did: { event: eventIDs.bought } } },
};

/** The contacts that belong in each segment, computed without an index or a report. */
const modelMembers = async (site: Site): Promise<Record<keyof typeof segments, string[]>> => {
  const events = await retry(() => site.events());
  const ownersOf = (isCounted: (eventID: number) => boolean) =>
    new Set(
      events.filter(({ eventID, contactUUID }) => contactUUID !== '' && isCounted(eventID)).map((e) => e.contactUUID),
    );
  const buyers = ownersOf((eventID) => eventID === eventIDs.bought);
  const visitors = [...ownersOf(() => true)].filter((contactUUID) => !buyers.has(contactUUID));
  return { Buyers: [...buyers].sort(), Visitors: visitors.sort() };
};

interface History {
  readonly site: Site;
  readonly contactUUIDs: readonly string[];
  /** The links so far. */
  readonly linkIDs: string[];
}
type Action = (history: History) => Promise<unknown>;
const userUUIDOf = (user: number) => `visitor-number-${user}`;
const user = fc.integer({ min: 1, max: 3 });
const contact = fc.integer({ min: 0, max: 3 });
const nthOf = <Value>(values: readonly Value[], nth: number) => values[nth % values.length] as Value;
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(user, fc.constantFrom(...Object.values(eventIDs))).map(
      ([one, eventID]): Action =>
        ({ site }) =>
          site.server.log({ userUUID: userUUIDOf(one), eventID }),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(user, contact).map(
      ([one, nth]): Action =>
        async ({ site, contactUUIDs, linkIDs }) => {
          linkIDs.push((await site.link(userUUIDOf(one), nthOf(contactUUIDs, nth))).linkID);
        },
    ),
  },
  {
    weight: 1,
    arbitrary: user.map(
      (one): Action =>
        ({ site }) =>
          site.unlink(userUUIDOf(one)),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat(20), fc.boolean()).map(
      ([nth, restore]): Action =>
        async ({ site, linkIDs }) => {
          if (linkIDs.length > 0) await (restore ? site.restoreLink : site.voidLink)(nthOf(linkIDs, nth));
        },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(contact, contact).map(
      ([one, other]): Action =>
        ({ site, contactUUIDs }) =>
          site.merge(nthOf(contactUUIDs, one), nthOf(contactUUIDs, other)),
    ),
  },
  {
    weight: 1,
    arbitrary: contact.map(
      (nth): Action =>
        ({ site, contactUUIDs }) =>
          site.unmerge(nthOf(contactUUIDs, nth)),
    ),
  },
  {
    weight: 1,
    arbitrary: contact.map(
      (nth): Action =>
        ({ site, contactUUIDs }) =>
          site.erase(nthOf(contactUUIDs, nth)),
    ),
  },
);

const createContacts = async (site: Site) => {
  const contactUUIDs: string[] = [];
  for (const nth of [0, 1, 2, 3]) {
    const address = `contact-${nth}@example.com`;
    contactUUIDs.push((await retry(() => site.server.createContact({ userUUID: null, address }))).contactUUID);
  }
  return contactUUIDs;
};

describe('the messages about segments', () => {
  test('add up to the current members after links, voids, merges and erasures', async () => {
    const steps = fc.array(fc.array(action, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(steps, async (histories) => {
        const site = await retry(() => createSite(store));
        const history = { site, contactUUIDs: await createContacts(site), linkIDs: [] };
        const webhook = await newWebhook(site, segments);
        for (const actions of histories) {
          // A rejected action changes nothing, such as a link to an erased contact.
          for (const act of actions) await retry(() => act(history)).catch(() => undefined);
          await compareAll(webhook);
          const expected = Object.entries(await modelMembers(site));
          const received = await receivedMembers(webhook);
          for (const [name, members] of expected) expect([name, received[name] ?? []]).toEqual([name, members]);
        }
      }),
      { numRuns: runs(5, 10) },
    );
  });

  test('follow a changed filter, and stop with a segment that the webhook no longer has', async () => {
    const site = await retry(() => createSite(store));
    const { account, time } = site;
    const [contactUUID = ''] = await createContacts(site);
    await site.server.log({ userUUID: userUUIDOf(1), eventID: eventIDs.bought });
    await site.link(userUUIDOf(1), contactUUID);
    const webhook = await newWebhook(site, segments);
    await compareAll(webhook);
    expect(await receivedMembers(webhook)).toEqual({ Buyers: [contactUUID] });
    const seen = JSON.stringify({ event: eventIDs.seen });
    await store.saveSegment({ account, segmentName: 'Buyers', filter: seen, time });
    await compareAll(webhook);
    expect(await receivedMembers(webhook)).toEqual({ Buyers: [] });
    const changes = { filter: { segmentNames: ['Visitors'] } };
    await store.updateWebhook({ account, webhookID: webhook.webhookID, changes, time });
    await site.server.log({ userUUID: userUUIDOf(1), eventID: eventIDs.seen });
    await compareAll(webhook);
    expect(await receivedMembers(webhook)).toEqual({ Buyers: [] });
  });

  test('are not sent while a segment can’t be compared, and the webhook reports why', async () => {
    const site = await retry(() => createSite(store));
    const { account } = site;
    await newWebhook(site, { Buyers: { event: eventIDs.bought } });
    const problemWith = async (given: FiledReports | undefined) => {
      const due = await store.listDueAudiences({ time: Number.MAX_SAFE_INTEGER });
      const compare = createComparison({ store, reports: given });
      for (const audience of due) if (audience.account === account) await compare(audience, signal);
      return (await store.listAudiences({ account })).map(({ problem }) => problem);
    };
    const answering = (run: () => Promise<unknown>) => ({ ...reports, run }) as FiledReports;
    expect(await problemWith(undefined)).toEqual(['no_reports']);
    const slow = answering(() => Promise.reject(new Refusal('report_too_slow')));
    expect(await problemWith(slow)).toEqual(['report_too_slow']);
    const people = Array.from({ length: limits.contactsPerAudience + 1 }, (_, nth) => ({ person: nth + 1 }));
    const large = answering(async () => ({ result: { people }, through: 0 }));
    expect(await problemWith(large)).toEqual(['too_many_contacts']);
    await store.saveSegment({ account, segmentName: 'Buyers', filter: '{"wrong":1}', time: site.time });
    expect(await problemWith(reports)).toEqual(['invalid_segment']);
    const broken = answering(() => Promise.reject(new Error('broken')));
    await store.saveSegment({ account, segmentName: 'Buyers', filter: '{"event":1}', time: site.time });
    await expect(problemWith(broken)).rejects.toThrow('broken');
    expect(await problemWith(reports)).toEqual(['']);
  });
});
