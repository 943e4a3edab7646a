// Tests the limits of a page, with values small enough to reach in a test.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordStatements } from '../../../../test/fixtures/plans.ts';
import { newMigratedDatabase } from '../../../../test/fixtures/postgres/databases.ts';
import { createSite, type Site } from '../../../../test/fixtures/site.ts';
import { day } from '../../../../test/fixtures/store.ts';
import { openStore } from '../../open.ts';
import type { PageBounds } from '../../rules/event-pages.ts';
import type { EventPage, EventQuery, Store } from '../../store.ts';
import { createContactFinder } from '../contacts/contact-finder.ts';
import { type ConnectionPool, openPool } from '../database/connection.ts';
import { readSnapshot, type Snapshot } from '../transactions/transaction.ts';
import { createEventPager, readStep } from './event-pages.ts';

const perMonth = 6_000;
/**
 * Matches the first and last events of a month, and the events on both sides of the 5,000th (the size of a step) from
 * either end.
 */
const isRare = (nth: number) => [0, 999, 1_000, 4_999, 5_000, 5_999].includes(nth % perMonth);
const rare = Array.from({ length: 3 * perMonth }, (_, nth) => nth).filter(isRare);

let store: Store;
let pool: ConnectionPool;
let site: Site;
beforeAll(async () => {
  const databaseURL = await newMigratedDatabase();
  store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
  pool = openPool(databaseURL, 2);
  site = await createSite(store);
  for (let batch = 0; batch < 18; batch += 1) {
    const events = Array.from({ length: 1_000 }, (_, index) => {
      const nth = batch * 1_000 + index;
      const text = 'x'.repeat(isRare(nth) ? 1_000 : 10);
      return { eventUUID: `event-${nth}`, attributes: [[isRare(nth) ? 'rare' : 'usual', text] as const] };
    });
    await site.server.logAt(site.time + Math.floor(batch / 6) * 31 * day, ...events);
  }
});
afterAll(async () => {
  await pool.close();
  await store.close();
});

const pagesOf = async (query: Partial<EventQuery>, bounds: PageBounds): Promise<EventPage[]> => {
  const getEvents = createEventPager(createContactFinder(Buffer.alloc(32)), bounds);
  const pages: EventPage[] = [];
  let beyond: number | undefined;
  for (;;) {
    const pageQuery: EventQuery = { account: site.account, order: 'asc', limit: 100, beyond, ...query };
    const page = await readSnapshot(pool, 'all settled', site.account, (db) => getEvents(db, pageQuery));
    pages.push(page);
    if (page.next === null) return pages;
    expect(page.next).not.toBe(beyond);
    beyond = page.next;
  }
};
const numbersOf = (pages: readonly EventPage[]) =>
  pages.flatMap(({ events }) => events.map(({ eventUUID }) => Number(eventUUID.slice('event-'.length))));

describe.each(['asc', 'desc'] as const)('a page of events, %s', (order) => {
  const inOrder = (numbers: readonly number[]) => (order === 'asc' ? numbers : numbers.toReversed());

  test.each([1, 5_001, perMonth, 9_000])(
    'ends after examining %i events, where the next one continues',
    async (maxExamined) => {
      const pages = await pagesOf({ order, attrID: 'rare' }, { maxExamined, maxCharacters: Infinity });
      expect(pages.length).toBeGreaterThan(1);
      expect(numbersOf(pages)).toEqual(inOrder(rare));
      if (order === 'desc') return;
      for (const { events, through } of pages) {
        for (const { sequence } of events) expect(through).toBeGreaterThanOrEqual(sequence);
      }
    },
  );

  test('can be empty, and returns how far it has examined', async () => {
    const pages = await pagesOf({ order, attrID: 'none' }, { maxExamined: 2_000, maxCharacters: Infinity });
    expect(pages.length).toBeGreaterThan(3);
    for (const { events, next, through } of pages) {
      expect(events).toEqual([]);
      if (order === 'asc' && next !== null) expect(through).toBe(next);
    }
  });

  test('ends at a month’s end if it reaches the limit there', async () => {
    const pages = await pagesOf({ order, attrID: 'none' }, { maxExamined: perMonth, maxCharacters: Infinity });
    const sequences = (await site.events()).map(({ sequence }) => sequence);
    const ends = order === 'asc' ? [perMonth - 1, 2 * perMonth - 1] : [2 * perMonth, perMonth];
    expect(pages.map(({ next }) => next)).toEqual([...ends.map((nth) => sequences[nth]), null]);
  });

  test('needs few statements, even if all events are false matches and few events are requested', async () => {
    const other = await createSite(store, { time: site.time + 62 * day });
    const event = { attributes: [['plan', 'page'] as const] };
    for (let batch = 0; batch < 3; batch += 1) await other.browser.log(...Array.from({ length: 1_000 }, () => event));
    let page: EventPage | undefined;
    const statements = await recordStatements(async () => {
      page = await store.getEvents({ account: other.account, order, limit: 1, attrID: 'page' });
    });
    expect(page).toMatchObject({ events: [], next: null });
    expect(statements.length).toBeLessThan(40);
    await other.browser.log({ attributes: [['page', 'plan']] }, event);
    expect(await other.events({ order, limit: 1, attrID: 'page' })).toHaveLength(1);
    const bounds = { maxExamined: 2_000, maxCharacters: Infinity };
    const ends = (await pagesOf({ account: other.account, order, limit: 1, attrID: 'page' }, bounds)).map(
      ({ events }) => events.length,
    );
    expect(ends.reduce((sum, length) => sum + length)).toBe(1);
    expect(ends.length).toBeGreaterThan(1);
  });

  test('is the last page if nothing is left to examine, even at the limit', async () => {
    const all = { maxExamined: 3 * perMonth, maxCharacters: Infinity };
    expect(await pagesOf({ order, attrID: 'none' }, all)).toMatchObject([{ next: null }]);
  });

  test('ends when its attributes reach the size limit, but has at least one event', async () => {
    const few = await pagesOf({ order, attrID: 'rare' }, { maxExamined: Infinity, maxCharacters: 1 });
    expect(few.map(({ events }) => events.length)).toEqual(rare.map(() => 1));
    expect(numbersOf(few)).toEqual(inOrder(rare));
    const pairs = await pagesOf({ order, attrID: 'rare' }, { maxExamined: Infinity, maxCharacters: 1_500 });
    expect(pairs[0]?.events).toHaveLength(2);
    expect(numbersOf(pairs)).toEqual(inOrder(rare));
  });
});

test.each([
  ['asc', 2],
  ['asc', 6],
  ['desc', 2],
  ['desc', 6],
] as const)('returns a contact’s pages in order, %s, with the events of all %i users', async (order, users) => {
  const other = await createSite(store, { time: site.time });
  const { contactUUID } = await other.server.createContact({ address: 'one@example.com' });
  const expected: string[] = [];
  for (let nth = 0; nth < users; nth += 1) await other.link(`user-of-them-number-${nth}`, contactUUID);
  for (let nth = 0; nth < 5 * users; nth += 1) {
    const eventUUID = `event-number-${nth}`;
    expected.push(eventUUID);
    const named = nth % (users + 1) === users ? { userUUID: null, contactUUID } : {};
    await other.server.log({
      userUUID: `user-of-them-number-${nth % (users + 1)}`,
      eventUUID,
      ...named,
    });
  }
  const { account } = other;
  const read: string[] = [];
  for (let beyond: number | undefined | null; beyond !== null; ) {
    const page = await store.getEvents({ account, order, limit: 3, contactUUID, beyond });
    read.push(...page.events.map(({ eventUUID }) => eventUUID));
    beyond = page.next;
  }
  expect(read).toEqual(order === 'asc' ? expected : expected.toReversed());
});

test('prepares no more statements for attributes with a hundred merged entries than for attributes with two', async () => {
  const texts = new Set<string>();
  const read = async (sql: string) => {
    texts.add(sql);
    return [];
  };
  const db = { all: read, one: async (sql: string) => ({ examined: await read(sql), reached: null }) };
  const range = { after: 0, through: 1, first: 0, last: 1 };
  for (let count = 2; count <= 100; count += 1) {
    const attrIDs = Array.from({ length: count }, (_, nth) => `attribute-${nth}`);
    const query = { account: site.account, order: 'asc', limit: 1, eventIDs: undefined, attrIDs } as const;
    await readStep(db as unknown as Snapshot, query, { stretches: undefined }, range, 1);
  }
  expect(texts.size).toBe(2);
});
