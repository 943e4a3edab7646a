import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { CountQuery, StoredEvent } from '../../src/store/store.ts';
import { day, hour, laptop, phone, quarter } from '../fixtures/store.ts';
import { soon } from '../fixtures/timeouts.ts';
import { eventIDs, historyArbitrary, playHistory } from '../fixtures/world.ts';
import type { NewSite } from './sites.ts';

const queryArbitrary = fc.record({
  eventID: fc.option(fc.constantFrom(...eventIDs, 99), { nil: undefined }),
  quarters: fc.uniqueArray(fc.integer({ min: -100, max: 2_000 }), { minLength: 2, maxLength: 12 }),
});

/** Returns the visitor to whom counts assign an event: its user, or the contact with which it was logged. */
const visitorOf = ({ userUUID, contactUUID, why }: StoredEvent) =>
  userUUID === '' ? `contact ${why.mergedFrom ?? contactUUID}` : userUUID;

const countOf = (events: readonly StoredEvent[], { eventID, edges }: Pick<CountQuery, 'eventID' | 'edges'>) =>
  edges.slice(1).map((to, index) => {
    const from = edges[index] as number;
    const within = events.filter(
      (event) =>
        (eventID === undefined || event.eventID === eventID) && event.eventTime >= from && event.eventTime < to,
    );
    return { events: within.length, users: new Set(within.map(visitorOf)).size };
  });

const definitionsOf = (events: readonly StoredEvent[]) =>
  eventIDs.flatMap((eventID) => {
    const times = events.filter((event) => event.eventID === eventID).map(({ eventTime }) => eventTime);
    if (times.length === 0) return [];
    return [
      {
        eventID,
        eventName: String(eventID),
        count: times.length,
        firstTime: Math.min(...times),
        lastTime: Math.max(...times),
      },
    ];
  });

const isMark = ([attrID, attrValue]: readonly [string, string]) => attrID === 'robot' && attrValue === 'true';

export const describeCounts = (newSite: NewSite): void => {
  describe('countEvents', () => {
    test('counts the same events and visitors that a read finds, over any history', async () => {
      await fc.assert(
        fc.asyncProperty(
          historyArbitrary,
          fc.array(queryArbitrary, { minLength: 20, maxLength: 20 }),
          async (past, queries) => {
            const { site, events } = await playHistory(await newSite(), past);
            const { store, account, time } = site;
            expect((await store.getAccount(account)).usage.events).toBe(events.length);
            expect(await store.getEventDefinitions(account)).toEqual(definitionsOf(events));
            for (const { eventID, quarters } of queries) {
              const edges = quarters.sort((a, b) => a - b).map((nth) => time + nth * quarter);
              const query = { account, eventID, edges };
              const expected = countOf(events, query);
              expect(await store.countEvents({ ...query, users: true })).toEqual(expected);
              const people = events.filter(({ attributes }) => !attributes.some(isMark));
              expect(await store.countEvents({ ...query, users: true, withoutRobots: true })).toEqual(
                countOf(people, query),
              );
              expect(await store.countEvents({ ...query, users: false })).toEqual(
                expected.map((bucket) => ({ events: bucket.events })),
              );
            }
          },
        ),
        { numRuns: 8 },
      );
    });

    test('counts by event time, not by the time of receipt', async () => {
      const { store, account, server, time } = await newSite();
      await server.logAt(
        time + day,
        { eventTime: time },
        { eventTime: time + quarter - 1 },
        { eventTime: time + quarter },
      );
      const edges = [time - quarter, time, time + quarter, time + 2 * quarter, time + 2 * day];
      const buckets = await store.countEvents({ account, edges, users: false });
      expect(buckets.map(({ events }) => events)).toEqual([0, 2, 1, 0]);
    });

    test('counts each visitor once per interval, including contacts without a user', async () => {
      const { store, account, server, time } = await newSite();
      const { contactUUID } = await server.createContact();
      const direct = { userUUID: null, contactUUID };
      await server.logAt(time, {}, {}, { userUUID: phone }, direct, direct);
      await server.logAt(time + hour, {}, { userUUID: laptop, contactUUID });
      const edges = [time, time + hour, time + 2 * hour];
      expect(await store.countEvents({ account, edges, users: true })).toEqual([
        { events: 5, users: 3 },
        { events: 2, users: 1 },
      ]);
    });

    test('counts neither duplicates nor rejected events', async () => {
      const { server, count } = await newSite();
      await server.log({ eventUUID: 'event-once' }, { eventUUID: 'event-once' }, { contactUUID: 'nobody' });
      await server.log({ eventUUID: 'event-once' });
      expect(await count()).toBe(1);
    });

    test('counts no events outside its edges', async () => {
      const { store, account, server, time } = await newSite();
      await server.log({ eventTime: time - 1 }, { eventTime: time + quarter }, { eventTime: 0 });
      expect(await store.countEvents({ account, edges: [time, time + quarter], users: true })).toEqual([
        { events: 0, users: 0 },
      ]);
    });
  });

  describe('getEventDefinitions', () => {
    test('returns the count and the first and last time of each listed event, by ID', async () => {
      const { store, account, server, change, time } = await newSite({
        catalogues: { event: [{ id: '5', name: 'Never' }] },
      });
      await server.logAt(time, { eventID: 10, eventTime: time - day }, { eventID: 9 }, { eventID: 10 });
      await server.logAt(time + 3 * day, { eventID: 10, eventTime: time + 2 * day });
      await change({ catalogues: { event: [{ id: '10', name: 'Bought' }] } });
      expect(await store.getEventDefinitions(account)).toEqual([
        { eventID: 9, eventName: '9', count: 1, firstTime: time, lastTime: time },
        { eventID: 10, eventName: 'Bought', count: 3, firstTime: time - day, lastTime: time + 2 * day },
      ]);
    });

    test('returns the first and last time of the events that remain after an erasure', async () => {
      const { store, account, server, erase, time } = await newSite();
      const { contactUUID } = await server.createContact();
      const erased = { userUUID: null, contactUUID };
      await server.log(
        { ...erased, eventTime: time },
        { userUUID: phone, eventTime: time + 2 },
        { userUUID: phone, eventTime: time + 1 },
        { ...erased, eventTime: time + 3 },
      );
      await vi.waitUntil(async () => (await erase(contactUUID)).complete, { ...soon, interval: 5 });
      expect(await store.getEventDefinitions(account)).toMatchObject([
        { count: 2, firstTime: time + 1, lastTime: time + 2 },
      ]);
      await server.log({ userUUID: phone, eventTime: time + 3 });
      expect(await store.getEventDefinitions(account)).toMatchObject([{ firstTime: time + 1, lastTime: time + 3 }]);
    });

    test('also returns these times for a day with a very large number of events', async () => {
      const { store, account, server, erase, time } = await newSite();
      const { contactUUID } = await server.createContact();
      await server.log({ userUUID: null, contactUUID, eventTime: time });
      const later = Array.from({ length: 1_000 }, () => ({ userUUID: phone, eventTime: time + hour }));
      for (let sent = 0; sent < 20; sent += 1) await server.log(...later);
      await server.log({ userUUID: phone, eventTime: time + 1 });
      await vi.waitUntil(async () => (await erase(contactUUID)).complete, { ...soon, interval: 5 });
      expect(await store.getEventDefinitions(account)).toMatchObject([
        { count: 20_001, firstTime: time + 1, lastTime: time + hour },
      ]);
    });
  });
};
