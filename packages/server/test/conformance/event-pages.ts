import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { EventQuery, StoredEvent } from '../../src/store/store.ts';
import type { Site } from '../fixtures/site.ts';
import { day, expectRefusal, hour, laptop, phone, quarter } from '../fixtures/store.ts';
import { attributes, eventIDs, historyArbitrary, playHistory, userUUIDs, type World } from '../fixtures/world.ts';
import type { NewSite } from './sites.ts';

/** Uses each filter in a third of the queries. */
const sometimes = <Value>(arbitrary: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });

/** Generates filters as indexes into a world's objects. The last index of each stands for an unknown object. */
const filtersArbitrary = fc.record({
  user: sometimes(fc.nat({ max: userUUIDs.length })),
  contact: sometimes(fc.nat({ max: 3 })),
  eventID: sometimes(fc.constantFrom(...eventIDs, ...eventIDs, 99)),
  attribute: sometimes(fc.nat({ max: attributes.length })),
  withValue: fc.boolean(),
  fromQuarter: sometimes(fc.integer({ min: -10, max: 300 })),
  toQuarter: sometimes(fc.integer({ min: 100, max: 600 })),
  order: fc.constantFrom('asc' as const, 'desc' as const),
  limit: fc.integer({ min: 1, max: 9 }),
});
type Filters = typeof filtersArbitrary extends fc.Arbitrary<infer Value> ? Value : never;

const queryOf = ({ site, contactUUIDs }: World, filters: Filters): Partial<EventQuery> & { order: 'asc' | 'desc' } => {
  const { user, contact, eventID, attribute, withValue, fromQuarter, toQuarter, order, limit } = filters;
  const [attrID, attrValue] = (attribute !== null && attributes[attribute]) || ['unknown', 'unknown'];
  return {
    order,
    limit,
    ...(user !== null && { userUUID: userUUIDs[user] ?? 'an-unknown-visitor' }),
    ...(contact !== null && contactUUIDs.length > 0 && { contactUUID: contactUUIDs[contact % contactUUIDs.length] }),
    ...(eventID !== null && { eventID }),
    ...(attribute !== null && { attrID, ...(withValue && { attrValue }) }),
    ...(fromQuarter !== null && { from: site.time + fromQuarter * quarter }),
    ...(toQuarter !== null && { to: site.time + toQuarter * quarter }),
  };
};

/** Whether a single event matches the query. */
const matches = (query: Partial<EventQuery>, owner: string | undefined) => (event: StoredEvent) =>
  (query.userUUID === undefined || event.userUUID === query.userUUID) &&
  (owner === undefined || event.contactUUID === owner) &&
  (query.eventID === undefined || event.eventID === query.eventID) &&
  (query.attrID === undefined ||
    event.attributes.some(
      ([id, value]) => id === query.attrID && (query.attrValue === undefined || value === query.attrValue),
    )) &&
  (query.from === undefined || event.eventTime >= query.from) &&
  (query.to === undefined || event.eventTime < query.to);

export const describeEventPages = (newSite: NewSite): void => {
  describe('getEvents', () => {
    test('finds the matching events for any filters, order and page size, over any history', async () => {
      let matchCount = 0;
      await fc.assert(
        fc.asyncProperty(
          historyArbitrary,
          fc.array(filtersArbitrary, { minLength: 40, maxLength: 40 }),
          async (past, queries) => {
            const world = await playHistory(await newSite(), past);
            for (const filters of queries) {
              const query = queryOf(world, filters);
              const owner = query.contactUUID && (await world.site.server.getContact(query.contactUUID)).contactUUID;
              const expected = world.events.filter(matches(query, owner));
              if (query.order === 'desc') expected.reverse();
              expect(await world.site.events(query)).toEqual(expected);
              matchCount += expected.length;
            }
          },
        ),
        { numRuns: 12 },
      );
      expect(matchCount).toBeGreaterThan(1_000);
    });

    test('returns nothing for an unknown user', async () => {
      const { server, events } = await newSite();
      const { contactUUID } = await server.createContact();
      await server.log({ contactUUID });
      expect(await events({ userUUID: phone })).toEqual([]);
      expect(await events({ userUUID: phone, contactUUID })).toEqual([]);
    });

    test('rejects an unknown contact, with or without a user', async () => {
      const { browser, server, events } = await newSite();
      await server.log({});
      const { contactUUID: handle } = await browser.createContact();
      for (const contactUUID of ['nobody', '', handle]) {
        await expectRefusal(events({ contactUUID }), 'unknown_contact', 'contactUUID');
        await expectRefusal(events({ contactUUID, userUUID: laptop }), 'unknown_contact', 'contactUUID');
      }
    });

    test('returns events at or after `from` and before `to`', async () => {
      const { server, owners, time } = await newSite();
      await server.logAt(
        time + 2,
        { eventUUID: 'event-at-0', eventTime: time },
        { eventUUID: 'event-at-1', eventTime: time + 1 },
        { eventUUID: 'event-at-2', eventTime: time + 2 },
      );
      const at = async (from?: number, to?: number) =>
        Object.keys(await owners({ from, to })).map((uuid) => Number(uuid.at(-1)));
      expect(await at(time + 1)).toEqual([1, 2]);
      expect(await at(undefined, time + 1)).toEqual([0]);
      expect(await at(time + 1, time + 2)).toEqual([1]);
      expect(await at(time + 1, time + 1)).toEqual([]);
    });

    test('finds events that happened long before or after they were received', async () => {
      const { server, events, time } = await newSite();
      await server.logAt(time, { eventTime: 0 }, { eventTime: time + 300 * day });
      expect(await events({ to: 1 })).toMatchObject([{ eventTime: 0 }]);
      expect(await events({ from: time + 1 })).toMatchObject([{ eventTime: time + 300 * day }]);
      expect(await events()).toHaveLength(2);
    });
  });

  describe('a page of events', () => {
    let site: Site;
    let contactUUID: string;
    const page = (query: Partial<EventQuery>) =>
      site.store.getEvents({ account: site.account, order: 'asc', limit: 3, ...query });

    beforeAll(async () => {
      site = await newSite();
      ({ contactUUID } = await site.server.createContact());
      for (let days = 0; days < 5; days += 1) {
        const at = site.time + days * day + hour;
        await site.server.logAt(at, {}, { userUUID: phone }, { userUUID: null, contactUUID });
      }
    });

    test.each(['asc', 'desc'] as const)(
      'has as many events as requested in order %s, and a cursor for the next page',
      async (order) => {
        const all = await site.events({ order });
        expect(all).toHaveLength(15);
        const first = await page({ order, limit: 4 });
        expect(first.events).toEqual(all.slice(0, 4));
        expect(first.next).toBe(all[3]?.sequence);
        const second = await page({ order, limit: 4, beyond: first.next as number });
        expect(second.events).toEqual(all.slice(4, 8));
      },
    );

    test.each(['asc', 'desc'] as const)(
      'is the last in order %s if no more events match, even if it is full',
      async (order) => {
        expect((await page({ order, limit: 15 })).next).toBeNull();
        expect((await page({ order, limit: 16 })).next).toBeNull();
        expect((await page({ order, limit: 14 })).next).not.toBeNull();
        expect((await page({ order, limit: 10, contactUUID })).next).toBeNull();
        expect((await page({ order, limit: 9, contactUUID })).next).not.toBeNull();
        expect(await page({ order, limit: 5, attrID: 'none' })).toMatchObject({ events: [], next: null });
      },
    );

    test('lets a follower with any filter continue from `through` without missing an event', async () => {
      const following = [{}, { contactUUID }, { userUUID: phone }, { eventID: 1 }, { eventID: 9 }, { attrID: 'size' }];
      const followers = following.map((query) => ({ query, at: 0, seen: [] as string[] }));
      const follow = async () => {
        for (const follower of followers) {
          for (let more = true; more; ) {
            const { events, next, through } = await page({ ...follower.query, beyond: follower.at, limit: 2 });
            expect(through).toBeGreaterThanOrEqual(Math.max(follower.at, ...events.map(({ sequence }) => sequence)));
            follower.seen.push(...events.map(({ eventUUID }) => eventUUID));
            follower.at = through;
            more = next !== null;
          }
        }
      };
      for (let round = 0; round < 4; round += 1) {
        await follow();
        const at = site.time + (6 + round) * day;
        await site.server.logAt(at, { eventID: 9, attributes: [['size', 'S']] }, { userUUID: phone }, {});
        await site.server.logAt(at, { userUUID: null, contactUUID, attributes: [['size', 'S']] });
      }
      await follow();
      for (const { query, seen } of followers) {
        expect(seen).toEqual((await site.events(query)).map(({ eventUUID }) => eventUUID));
      }
    });

    test('misses and repeats nothing while more events are stored between two pages', async () => {
      const before = (await site.events({ order: 'desc' })).map(({ eventUUID }) => eventUUID);
      const seen: string[] = [];
      for (let beyond: number | undefined | null; beyond !== null; ) {
        const { events, next } = await page({ order: 'desc', beyond });
        seen.push(...events.map(({ eventUUID }) => eventUUID));
        beyond = next;
        await site.server.logAt(site.time + 20 * day, {});
      }
      expect(seen).toEqual(before);
    });

    test('misses and repeats nothing even if thousands of events must be scanned', async () => {
      const large = await newSite();
      const sent: { eventUUID: string; userUUID: string; eventID: number; third: string }[] = [];
      for (let batch = 0; batch < 6; batch += 1) {
        const events = Array.from({ length: 1_000 }, (_, nth) => ({
          eventUUID: `event-${batch}-${nth}`,
          userUUID: `visitor-number-${nth % 5}`,
          eventID: nth % 500 === 0 ? 2 : 1,
          third: String((nth + batch) % 3),
        }));
        // Logs five batches on one day, and one on the next.
        const at = large.time + batch * 2 * hour + (batch === 5 ? day : 0);
        await large.server.logAt(
          at,
          ...events.map(({ third, ...event }) => ({ ...event, attributes: [['third', third]] as const })),
        );
        sent.push(...events);
      }
      const { contactUUID } = await large.server.createContact({ userUUID: 'visitor-number-0' });
      await large.link('visitor-number-3', contactUUID);
      const owned = sent.filter(({ userUUID }) => /[03]$/.test(userUUID));
      const queries: [Partial<EventQuery>, typeof sent][] = [
        [{}, sent],
        [{ contactUUID }, owned],
        [{ userUUID: 'visitor-number-4' }, sent.filter(({ userUUID }) => userUUID.endsWith('4'))],
        [{ eventID: 2, limit: 5 }, sent.filter(({ eventID }) => eventID === 2)],
      ];
      // A page spans more events than one step scans, because two of three events don't match.
      for (const attrValue of ['0', '1', '2']) {
        const isMatch = ({ third }: { third: string }) => third === attrValue;
        queries.push([{ attrID: 'third', attrValue }, sent.filter(isMatch)]);
        queries.push([{ attrID: 'third', attrValue, contactUUID }, owned.filter(isMatch)]);
      }
      for (const [query, expected] of queries) {
        const uuids = expected.map(({ eventUUID }) => eventUUID);
        const readUUIDs = async (order: 'asc' | 'desc') =>
          (await large.events({ ...query, order })).map((event) => event.eventUUID);
        expect(await readUUIDs('asc')).toEqual(uuids);
        expect(await readUUIDs('desc')).toEqual(uuids.toReversed());
      }
    });
  });
};
