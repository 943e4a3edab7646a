// Tests the plans of the most frequent queries: they use an index, and read only the months that they need. On a
// cluster, statements on row batches run inside a function, so their plans are not visible.
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  explainStatement,
  listPlanNodes,
  listSorts,
  type Plan,
  recordStatements,
} from '../../../test/fixtures/plans.ts';
import { newMigratedDatabase } from '../../../test/fixtures/postgres/databases.ts';
import { createSite, type Site } from '../../../test/fixtures/site.ts';
import { day, hashText, laptop, newEvent, phone } from '../../../test/fixtures/store.ts';
import { openStore } from '../open.ts';
import type { Store } from '../store.ts';

const months = [Date.UTC(2027, 0, 10), Date.UTC(2027, 1, 10), Date.UTC(2027, 2, 10)] as const;
/** Tables that stay small as events accumulate, and names in plans that are not tables. */
const small =
  /^(position|kept_day|account|event_order|refused_count|erased_stretch|erased_contact|erasure|asked|span|new|stretch|part|owner_change_number)$/;

let store: Store;
let client: pg.Client;
let site: Site;
let contactUUID: string;

beforeAll(async () => {
  const databaseURL = await newMigratedDatabase();
  store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
  site = await createSite(store, { time: months[0] });
  ({ contactUUID } = await site.server.createContact({ userUUID: laptop }));
  for (const [month, time] of months.entries()) {
    await site.server.logAt(time, ...Array.from({ length: 500 }, (_, nth) => ({ userUUID: `visitor-number-${nth}` })));
    if (month > 0) await site.server.logAt(time, { userUUID: laptop }, { userUUID: null, contactUUID });
  }
  await site.server.logAt(months[2] + day, { userUUID: laptop }, { userUUID: null, contactUUID });
  client = new pg.Client(databaseURL);
  await client.connect();
  await client.query('ANALYZE');
});
afterAll(async () => {
  await client.end();
  await store.close();
});

/**
 * Turns sequential scans off: PostgreSQL rightly scans small tables sequentially, and without such scans the plan shows
 * whether a usable index exists.
 */
const byIndex = 'SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;';

/** Returns the plans of all of an operation's statements. */
const plansOf = async (work: () => Promise<unknown>): Promise<Plan[]> => {
  const plans: Plan[] = [];
  for (const { settings, ...statement } of await recordStatements(work))
    plans.push(await explainStatement(client, { ...statement, settings: `${byIndex} ${settings}` }));
  return plans;
};

const sequentialScans = (nodes: readonly Plan[]): string[] =>
  nodes.flatMap((node) => {
    const name = node['Relation Name'] ?? '';
    return node['Node Type'] === 'Seq Scan' && !small.test(name) ? [name] : [];
  });

/** Returns the indexes used for each month's events, or the month's table if no index is used. */
const eventScans = (nodes: readonly Plan[]): string[] => {
  const names = nodes.flatMap((node) => {
    if (/^(ModifyTable|Bitmap Heap Scan)$/.test(node['Node Type'])) return [];
    return node['Index Name'] ?? node['Relation Name'] ?? [];
  });
  return [...new Set(names.filter((name) => /^event_\d{4}_/.test(name)))].sort();
};
const byHolder = (...months: string[]) => months.map((month) => `event_2027_${month}_holder_expr_idx`);
const byAccount = (...months: string[]) => months.map((month) => `event_2027_${month}_account_expr_idx`);

const newest = (query: object) => store.getEvents({ account: site.account, order: 'desc', limit: 50, ...query });
const log = (time: number, ...events: Parameters<typeof newEvent>) =>
  store.logEvents({
    account: site.account,
    token: site.server.token,
    browser: false,
    receivedTime: time,
    events: events.map((event) => newEvent({ eventTime: time, ...event })),
  });
const last = months[2] + day;

test.each<[string, readonly string[], () => Promise<unknown>]>([
  ['storing events', [], () => log(last, { userUUID: laptop })],
  ['storing an event again', [], () => log(last, { userUUID: 'visitor-number-7', eventUUID: 'event-sent-twice' })],
  ['storing an event of a contact', [], () => log(last, { userUUID: phone, contactUUID })],
  ['the account’s newest events', byAccount('03'), () => newest({})],
  [
    'the account’s events after a cursor',
    byAccount('03'),
    async () => newest({ order: 'asc', beyond: (await newest({ limit: 1 })).through - 5 }),
  ],
  ['a contact’s newest events', byHolder('02', '03'), () => newest({ contactUUID })],
  ['a user’s newest events', byHolder('02', '03'), () => newest({ userUUID: laptop })],
  ['the newest events of an eventID', byAccount('01', '02', '03'), () => newest({ eventID: 99 })],
  ['events of a time range', byAccount('02'), () => newest({ from: months[1], to: months[1] + day })],
  ['a count', [], () => store.countEvents({ account: site.account, edges: [months[0], last], users: false })],
  [
    'a count of users',
    byAccount('02'),
    () => store.countEvents({ account: site.account, edges: [months[1], months[1] + day], users: true }),
  ],
  ['reading a contact', [], () => site.server.getContact(contactUUID, 'claim', 'link')],
  ...(
    [
      ['contacts', {}],
      ['contacts with a tag', { contactTagID: 'vip' }],
      ['contacts with an attribute and a profile', { attrID: 'size', attrValue: 'M', contactProfileID: 'retail' }],
      ['contacts created in a range', { createdFrom: months[0], createdTo: months[1] }],
      ['contacts seen in a range', { seenFrom: months[0], sort: 'seen' }],
      ['contacts with a status, most recently seen first', { contactStatus: 'active', sort: 'seen', descending: true }],
    ] as const
  ).map(([description, search]): [string, readonly string[], () => Promise<unknown>] => [
    `a page of ${description}`,
    [],
    () => store.searchContact({ account: site.account, limit: 50, ...search }),
  ]),
  [
    'the contacts of a report',
    [],
    () =>
      store.feedContacts({
        account: site.account,
        conditions: [{ contactTagID: 'vip', contactStatus: 'active' }, { seenFrom: months[0] }],
        beyond: null,
        limit: 50,
      }),
  ],
  ['a page of refused requests', [], () => store.listRefused({ limit: 50, beyond: 0 })],
  ['creating a contact', [], () => site.server.createContact({ userUUID: phone, requestUUID: 'request-one' })],
  ['creating a contact with a browser token', [], () => site.browser.createContact({ userUUID: phone })],
  ['linking a user', [], () => site.link(phone, contactUUID)],
  ['unlinking a user', [], () => site.unlink(phone)],
  ['a token lookup', [], () => store.findAccess(hashText('no such token'))],
])('uses an index for %s, and scans %j', async (_, expected, work) => {
  const nodes = (await plansOf(work)).flatMap(listPlanNodes);
  expect(sequentialScans(nodes)).toEqual([]);
  expect(eventScans(nodes)).toEqual(expected);
});

const kind = { eventID: 99, attrID: 'page' };
test.each<[string, readonly string[], () => Promise<unknown>]>([
  ['the account’s newest events', byAccount('03'), () => newest({})],
  ['the account’s first events', byAccount('01'), () => newest({ order: 'asc' })],
  ['the account’s newest events of an eventID', byAccount('01', '02', '03'), () => newest(kind)],
  ['a contact’s newest events', byHolder('02', '03'), () => newest({ contactUUID })],
  ['a contact’s first events', byHolder('02', '03'), () => newest({ contactUUID, order: 'asc' })],
  ['a contact’s newest events of an eventID', byHolder('02', '03'), () => newest({ contactUUID, ...kind })],
  ['a user’s newest events', byHolder('02', '03'), () => newest({ userUUID: laptop })],
  ['the oldest events of all', byAccount('01'), () => store.deleteEventsBefore({ time: months[0] - day, limit: 10 })],
])('sorts %s one group of sequences at a time', async (_, expected, work) => {
  const sorts = (await plansOf(work)).flatMap(listSorts).filter((sort) => / event_\d{4}_/.test(sort));
  expect([...new Set(sorts)].sort()).toEqual(expected.map((index) => `Incremental Sort over ${index}`));
});

test('does not sort rows of other tables found by several keys while it reads a page of events', async () => {
  const statements = await recordStatements(async () => {
    await newest({ contactUUID, ...kind });
    await newest({ userUUID: laptop, order: 'asc' });
  });
  const isOrdered = ({ text }: { text: string }) => /= ANY .*ORDER BY/s.test(text) && !/ FROM event\b/.test(text);
  expect(statements.filter(({ settings }) => /enable_sort = off/.test(settings)).length).toBeGreaterThan(10);
  expect(statements.filter(isOrdered)).toEqual([]);
});

test.each<[string, object]>([
  ['newest events', {}],
  ['newest events of an eventID', kind],
])('reads the account’s %s without starting parallel workers', async (_, query) => {
  const statements = (await recordStatements(() => newest(query))).filter(({ text }) => /\bFROM event\b/.test(text));
  const costs = ['setup_cost', 'tuple_cost'].map((name) => `parallel_${name}`);
  const sizes = ['table', 'index'].map((name) => `min_parallel_${name}_scan_size`);
  const costless = [...costs, ...sizes].map((name) => `SET LOCAL ${name} = 0;`).join(' ');
  const usesWorkers = async (settingsOf: (set: string) => string) => {
    const nodes: Plan[] = [];
    for (const each of statements) {
      const settings = `${byIndex} ${settingsOf(each.settings)} ${costless}`;
      nodes.push(...listPlanNodes(await explainStatement(client, { ...each, settings })));
    }
    return nodes.some((node) => node['Node Type'].startsWith('Gather'));
  };
  expect(await usesWorkers((set) => set)).toBe(false);
  expect(await usesWorkers((set) => set.replace(/SET LOCAL max_parallel\w+ = 0;?/, ''))).toBe(true);
});
