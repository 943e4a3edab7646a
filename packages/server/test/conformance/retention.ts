import type { WebhookType } from '@firsthand/contract/webhook';
import { beforeAll, describe, expect, test } from 'vitest';
import { rowBytes } from '../../src/store/rules/row-bytes.ts';
import type { Store } from '../../src/store/store.ts';
import { createFedAccount, expectAgreement, type FedAccount } from '../fixtures/reports/fed-account.ts';
import { createSite, type Site } from '../fixtures/site.ts';
import { day, laptop, newID } from '../fixtures/store.ts';
import { type Open, useSites } from './sites.ts';

export const describeRetention = (_: unknown, open: Open): void => {
  describe('deleteEventsBefore', () => {
    // Shares a separate store, in which the tests run in order, because each call deletes old events in all accounts.
    const newSite = useSites(open);
    let store: Store;
    let site: Site;
    let time: number;
    let fed: FedAccount;
    const listRemaining = async () => {
      // Expects reports to have the same events as the store.
      await expectAgreement(fed, site);
      return (await site.events()).map(({ eventUUID }) => eventUUID);
    };
    beforeAll(async () => {
      site = await newSite();
      ({ store, time } = site);
      fed = createFedAccount(store, site.account);
      for (let days = 0; days < 3; days += 1) {
        await site.server.logAt(time + days * day, { eventUUID: `event-${days}a` }, { eventUUID: `event-${days}b` });
      }
    });

    test('keeps events received at that time or later', async () => {
      expect(await store.deleteEventsBefore({ time, limit: 100 })).toBe(0);
      expect(await listRemaining()).toHaveLength(6);
    });

    test('deletes the oldest events first, up to the given number', async () => {
      expect(await store.deleteEventsBefore({ time: time + 2 * day, limit: 1 })).toBe(1);
      expect(await listRemaining()).toEqual(['event-0b', 'event-1a', 'event-1b', 'event-2a', 'event-2b']);
      expect(await store.deleteEventsBefore({ time: time + 2 * day, limit: 100 })).toBe(3);
      expect(await listRemaining()).toEqual(['event-2a', 'event-2b']);
      expect(await store.deleteEventsBefore({ time: time + 2 * day, limit: 100 })).toBe(0);
    });

    test('subtracts deleted events from the counts', async () => {
      expect(await site.count()).toBe(2);
      expect((await store.getAccount(site.account)).usage).toEqual({ contacts: 0, users: 1, events: 2 });
      expect(await store.getEventDefinitions(site.account)).toMatchObject([{ count: 2, firstTime: time + 2 * day }]);
    });

    test('still recognizes duplicates of deleted events', async () => {
      const again = { eventUUID: 'event-0a', userUUID: laptop };
      expect(await site.server.logAt(time + 3 * day, again)).toEqual([{ kept: false, duplicate: true }]);
    });

    test('keeps users, contacts and links', async () => {
      const { contactUUID } = await site.server.createContact();
      await store.deleteEventsBefore({ time: time + 3 * day, limit: 100 });
      expect(await listRemaining()).toEqual([]);
      expect(await store.getEventDefinitions(site.account)).toEqual([]);
      await site.server.logAt(time + 4 * day, { eventUUID: 'event-4a' });
      expect(await site.owners()).toEqual({ 'event-4a': contactUUID });
    });

    test('deletes events in all accounts', async () => {
      const other = await createSite(store);
      await other.server.log({});
      await site.server.logAt(other.time, {});
      expect(await store.deleteEventsBefore({ time: other.time + 1, limit: 100 })).toBe(3);
      expect([await other.count(), await other.events()]).toEqual([0, []]);
      expect((await store.getAccount(other.account)).storedBytes).toBe(rowBytes.user);
    });

    test('counts the events that webhooks for events have not sent', async () => {
      const [other, fresh] = [await createSite(store), await createSite(store)];
      const createWebhook = async ({ account, time: created }: Site, type: WebhookType, sentThrough: number) => {
        const settings = { url: 'https://crm.example/', description: '', filter: {}, payload: 'thin' } as const;
        const webhookID = newID('webhook');
        await store.createWebhook({ ...settings, account, webhookID, types: [type], sentThrough, time: created });
        return webhookID;
      };
      const events = Array.from({ length: 4 }, () => ({}));
      await fresh.server.logAt(fresh.time, ...events);
      const sequences = (await fresh.events()).map(({ sequence }) => sequence);
      const [first = 0] = sequences;
      const last = sequences.at(-1) as number;
      const behind = await createWebhook(fresh, 'event.logged', first);
      await createWebhook(fresh, 'event.logged', last);
      await createWebhook(fresh, 'contact.created', first);
      await createWebhook(other, 'event.logged', 0);
      for (const limit of [3, 100]) await store.deleteEventsBefore({ time: fresh.time + 1, limit });
      const listSkipped = async ({ account }: Site) =>
        (await store.listWebhooks({ account })).flatMap(({ webhookID, skippedEvents, skippedFrom, skippedThrough }) =>
          skippedEvents > 0 ? [{ webhookID, skippedEvents, skippedFrom, skippedThrough }] : [],
        );
      const skipped = { skippedEvents: 3, skippedFrom: sequences[1], skippedThrough: last };
      expect(await listSkipped(fresh)).toEqual([{ webhookID: behind, ...skipped }]);
      expect(await listSkipped(other)).toEqual([]);
    });
  });

  describe('deleteEventsBefore after the clock was ahead', () => {
    const newSite = useSites(open);
    const listRemaining = async ({ events }: Site) => (await events()).map(({ eventUUID }) => eventUUID);

    test('treats events with a time in the future as being as old as the next event with a plausible time', async () => {
      const site = await newSite();
      const { store, server, time } = site;
      await server.logAt(time + 1_000 * day, { eventUUID: 'event-ahead-1' }, { eventUUID: 'event-ahead-2' });
      await server.logAt(time, { eventUUID: 'event-old' });
      await server.logAt(time + 1_000 * day, { eventUUID: 'event-ahead-3' });
      await server.logAt(time + 10 * day, { eventUUID: 'event-young' });
      const now = time + 11 * day;
      expect(await store.deleteEventsBefore({ time: time + day, limit: 1, now })).toBe(1);
      expect(await listRemaining(site)).toEqual(['event-ahead-2', 'event-old', 'event-ahead-3', 'event-young']);
      expect(await store.deleteEventsBefore({ time: time + day, limit: 100, now })).toBe(2);
      expect(await listRemaining(site)).toEqual(['event-ahead-3', 'event-young']);
      expect(await store.deleteEventsBefore({ time: time + day, limit: 1, now })).toBe(0);
      expect(await store.deleteEventsBefore({ time: time + 11 * day, limit: 1, now: time + 12 * day })).toBe(1);
      expect(await store.deleteEventsBefore({ time: time + 11 * day, limit: 9, now: time + 12 * day })).toBe(1);
    });

    test('finds the next plausible time, no matter how many events with a time in the future precede it', async () => {
      const site = await newSite();
      const { store, server, time } = site;
      const many = Array.from({ length: 1_000 }, () => ({}));
      for (let sent = 0; sent < 2; sent += 1) await server.logAt(time + 1_000 * day, ...many);
      await server.logAt(time, { eventUUID: 'event-old' });
      await server.logAt(time + 10 * day, { eventUUID: 'event-young' });
      const now = time + 11 * day;
      expect(await store.deleteEventsBefore({ time: time + day, limit: 1, now })).toBe(1);
      expect(await store.deleteEventsBefore({ time: time + day, limit: 5_000, now })).toBe(2_000);
      expect(await listRemaining(site)).toEqual(['event-young']);
      expect(await store.deleteEventsBefore({ time: time + 11 * day, limit: 9, now: time + 12 * day })).toBe(1);
    });

    test('keeps events with a time in the future until an event with a plausible time follows', async () => {
      const site = await newSite();
      await site.server.logAt(site.time + 5_000 * day, { eventUUID: 'event-ahead' });
      const { time } = site;
      expect(await site.store.deleteEventsBefore({ time: time + day, limit: 1, now: time + 2 * day })).toBe(0);
      expect(await listRemaining(site)).toEqual(['event-ahead']);
    });
  });
};
