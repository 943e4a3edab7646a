import { describe, expect, test } from 'vitest';
import { ann, ben, laptop } from '../fixtures/store.ts';
import type { NewSite } from './sites.ts';

const times = (count: number) => Array.from({ length: count }, (_, nth) => nth);

export const describeConcurrency = (newSite: NewSite): void => {
  describe('concurrent requests', () => {
    test('let each of many clients read its event as soon as it is stored', async () => {
      const { server, events } = await newSite();
      const client = async (client: number) => {
        const userUUID = `client-number-${client}-`;
        for (const nth of times(10)) {
          const eventUUID = `event-${client}-${nth}`;
          expect(await server.log({ userUUID, eventUUID })).toEqual([{ kept: true }]);
          expect((await events({ userUUID })).map((event) => event.eventUUID).at(-1)).toBe(eventUUID);
          const newest = await events({ order: 'desc', limit: 1_000 });
          expect(newest.map((event) => event.eventUUID)).toContain(eventUUID);
        }
      };
      await Promise.all(times(12).map(client));
      expect(await events()).toHaveLength(120);
    });

    test('store an event only once, even if it is sent many times', async () => {
      const { server, events } = await newSite();
      for (const round of times(5)) {
        const event = { eventUUID: `event-of-round-${round}` };
        const outcomes = await Promise.all(times(8).map(() => server.log(event)));
        expect(outcomes.flat().filter(({ kept }) => kept)).toHaveLength(1);
        expect(outcomes.flat().filter((outcome) => 'duplicate' in outcome)).toHaveLength(7);
      }
      expect(await events()).toHaveLength(5);
    });

    test('create only one first link for a user, no matter which request creates it', async () => {
      const { server, browser, events } = await newSite();
      for (const round of times(5)) {
        const userUUID = `visitor-of-round-${round}`;
        const address = `round-${round}@example.com`;
        await server.log({ userUUID });
        const responses = await Promise.all(
          times(8).map((nth) => (nth % 2 ? server : browser).createContact({ userUUID, address })),
        );
        const contactUUID = responses[1]?.contactUUID as string;
        expect(new Set(responses.map((response) => response.contactUUID)).size).toBe(2);
        expect((await server.getContact(contactUUID, 'link')).links).toMatchObject([{ userUUID, verified: true }]);
        expect(await events({ userUUID })).toMatchObject([{ contactUUID }]);
      }
    });

    test('assign past events to the first of a user’s two contacts, and later events to the second', async () => {
      const { server, owners } = await newSite();
      await server.log({ eventUUID: 'event-before' });
      const [first, second] = await Promise.all([ann, ben].map((address) => server.createContact({ address })));
      await server.log({ eventUUID: 'event-after' });
      const { 'event-before': before, 'event-after': after } = await owners();
      expect(new Set([before, after])).toEqual(new Set([first?.contactUUID, second?.contactUUID]));
    });

    test('create one contact for an unknown address', async () => {
      const { store, account, server } = await newSite();
      const responses = await Promise.all(
        times(8).map((nth) => server.createContact({ userUUID: `visitor-number-${nth}` })),
      );
      expect(new Set(responses.map(({ contactUUID }) => contactUUID)).size).toBe(1);
      expect(responses.filter(({ exists }) => !exists)).toHaveLength(1);
      expect((await store.getAccount(account)).usage).toMatchObject({ contacts: 1, users: 8 });
    });

    test('store and reject events independently of each other', async () => {
      const { server, browser, events } = await newSite();
      const outcomes = await Promise.all(
        times(20).map((nth) =>
          nth % 3 === 0 ? browser.log({ contactUUID: 'nobody', eventID: 99 }) : server.log({ eventID: 1 + (nth % 2) }),
        ),
      );
      expect(outcomes.flat().filter(({ kept }) => kept)).toHaveLength(13);
      expect(await events()).toHaveLength(13);
    });

    test('can’t give two contacts the same address', async () => {
      const { server, update } = await newSite();
      const uuids = await Promise.all(
        times(4).map(
          async (nth) =>
            (await server.createContact({ userUUID: laptop + nth, address: `v${nth}@example.com` })).contactUUID,
        ),
      );
      const settled = await Promise.allSettled(uuids.map((contactUUID) => update({ contactUUID, address: ann })));
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(settled.filter(({ status }) => status === 'rejected')).toMatchObject(
        times(3).map(() => ({ reason: { code: 'email_taken' } })),
      );
    });
  });
};
