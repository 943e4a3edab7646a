import { describe, expect, onTestFinished, test } from 'vitest';
import { createFedAccount, expectAgreement } from '../fixtures/reports/fed-account.ts';
import { laptop, phone } from '../fixtures/store.ts';
import type { NewSite } from './sites.ts';

const unknownPosition = '999999999999';

export const describeReportFeed = (newSite: NewSite): void => {
  describe('the report feed', () => {
    test('returns one account’s events as stored, in order and in several parts', async () => {
      const [site, other] = [await newSite(), await newSite()];
      const { contactUUID } = await site.server.createContact({ userUUID: null });
      const attributes = [
        ['plan', 'pro'],
        ['Plan', 'é 𝄞'],
        ['path', '/'],
      ] as const;
      for (let nth = 0; nth < 5; nth += 1) {
        await site.server.log({ userUUID: laptop, eventID: nth + 1, attributes: nth % 2 ? attributes : [] });
        await other.server.log({ userUUID: laptop });
      }
      await site.server.log({ userUUID: null, contactUUID, eventID: 9, eventTime: site.time - 5_000 });
      const stored = await site.events();
      const fed = await createFedAccount(site.store, site.account, 2).read();
      expect(fed.map(({ sequence }) => sequence)).toEqual(stored.map(({ sequence }) => sequence));
      expect(fed.map(({ eventID }) => eventID)).toEqual([1, 2, 3, 4, 5, 9]);
      expect(fed.map(({ eventTime }) => eventTime - site.time)).toEqual([0, 0, 0, 0, 0, -5_000]);
      expect(fed[1]?.attributes).toEqual(Object.fromEntries(attributes));
      expect(fed[0]?.attributes).toEqual({});
      expect(new Set(fed.slice(0, 5).map(({ user }) => user)).size).toBe(1);
      expect(fed[5]).toMatchObject({ user: 0, owner: fed[5]?.contact });
    });

    test('ends a part at its size limit, and indicates whether more parts follow', async () => {
      const { store, account, server } = await newSite();
      const long = [['text', 'x'.repeat(2_048)]] as const;
      await server.log(...Array.from({ length: 900 }, () => ({ userUUID: laptop, attributes: long })));
      const first = await store.feedEvents({ account, beyond: 0, limit: 100 });
      expect(first.more).toBe(true);
      expect(first.count).toBeLessThan(300);
      expect(first.attributes).toMatchObject([{ attrID: 'text', texts: [long[0][1]] }]);
      const all = await store.feedEvents({ account, beyond: 0, limit: 100_000 });
      expect(all).toMatchObject({ count: 900, more: false });
      expect(await store.feedEvents({ account, beyond: all.through, limit: 1 })).toMatchObject({
        count: 0,
        more: false,
      });
    });

    test('ends a part after 5,000 different attribute names, because a page can make up names', async () => {
      const { store, account, server } = await newSite();
      const names = (event: number) => Array.from({ length: 100 }, (_, nth) => [`a${event}-${nth}`, ''] as const);
      await server.log(...Array.from({ length: 60 }, (_, nth) => ({ userUUID: laptop, attributes: names(nth) })));
      const first = await store.feedEvents({ account, beyond: 0, limit: 20_000 });
      expect(first).toMatchObject({ count: 50, through: first.sequence.at(-1), more: true });
      const rest = await store.feedEvents({ account, beyond: first.through, limit: 20_000 });
      expect(rest).toMatchObject({ count: 10, more: false });
    });

    test('reflects links, claims, merges and their reversal', async () => {
      const site = await newSite();
      const { server, browser } = site;
      const fed = createFedAccount(site.store, site.account);
      const agree = () => expectAgreement(fed, site);
      await server.log({ userUUID: laptop }, { userUUID: phone });
      await agree();
      const ann = await server.createContact({ userUUID: laptop, address: 'ann@example.com' });
      await server.log({ userUUID: laptop });
      await agree();
      const { contactUUID: handle } = await browser.createContact({ userUUID: phone, address: 'ben@example.com' });
      await agree();
      await site.acceptClaim(handle);
      await agree();
      const [owned] = await site.events({ userUUID: phone });
      await site.merge(ann.contactUUID, owned?.contactUUID ?? '');
      await agree();
      expect(new Set(await fed.read().then((events) => events.map(({ owner }) => owner))).size).toBe(1);
      await site.unmerge(owned?.contactUUID ?? '');
      await agree();
      await site.voidClaim(handle);
      await agree();
      await site.unlink(laptop);
      await server.log({ userUUID: laptop });
      await agree();
      await site.voidLink(owned?.why.linkID ?? '');
      await agree();
      expect(fed.resets()).toBe(1);
    });

    test('restarts for a reader whose position is unknown or does not match the database', async () => {
      const { store, account, server } = await newSite();
      await server.createContact({ userUUID: laptop });
      const { position } = await store.feedOwners({ account, since: null });
      const [change, mark] = position.split(' ').map(Number) as [number, number];
      const others = [`${change} ${mark + 1}`, `${change} ${mark + 1} 0`, `0 ${mark}`];
      for (const since of [null, '', 'x', `${unknownPosition} ${mark}`, ...others]) {
        const fed = await store.feedOwners({ account, since });
        expect(fed).toMatchObject({ reset: true, users: [{ stretches: [{ after: 0, through: Infinity }] }] });
        expect(await store.feedOwners({ account, since: fed.position })).toMatchObject({ reset: false, users: [] });
      }
    });

    test('reports an erasure immediately and permanently, including to a reader that has not read all events', async () => {
      const site = await newSite();
      const { store, account, server } = site;
      const { contactUUID } = await server.createContact({ userUUID: laptop });
      await server.log({ userUUID: laptop }, { userUUID: null, contactUUID }, { userUUID: phone });
      const reader = createFedAccount(store, account);
      expect((await reader.read()).length).toBe(3);
      await site.erase(contactUUID);
      expect((await reader.read()).map(({ owner }) => owner)).toEqual([null]);
      await expect.poll(async () => (await store.feedEvents({ account, beyond: 0, limit: 9 })).count).toBe(1);
      await server.log({ userUUID: laptop });
      await expectAgreement(reader, site);
      await expectAgreement(createFedAccount(store, account), site);
    });

    test('returns the names of the account’s users and contacts by number, except erased contacts', async () => {
      const [site, other] = [await newSite(), await newSite()];
      const { store, account, server } = site;
      const ann = await server.createContact({ userUUID: laptop, fields: { contactFirstname: 'Ann' } });
      const ben = await server.createContact({ userUUID: phone, address: 'kept@example.com' });
      await server.log({ userUUID: laptop }, { userUUID: phone });
      const [first, second] = await createFedAccount(store, account).read();
      const [user, contact, another] = [first?.user, first?.owner, second?.owner] as number[];
      const numbers = { users: [user as number, 0, 1e12], contacts: [contact as number, another as number, 0, 1e12] };
      const firstNames = async () =>
        (await store.namePeople({ account, ...numbers })).contacts
          .toSorted((one, next) => one.contact - next.contact)
          .map(({ contact: number, contactUUID, fields }) => [number, contactUUID, fields.contactFirstname]);
      expect((await store.namePeople({ account, ...numbers })).users).toEqual([{ user, userUUID: laptop }]);
      expect(await firstNames()).toEqual([
        [contact, ann.contactUUID, 'Ann'],
        [another, ben.contactUUID, ''],
      ]);
      expect(await store.namePeople({ account: other.account, ...numbers })).toEqual({ users: [], contacts: [] });
      // A report from before a merge can still refer to both contacts.
      await site.merge(ben.contactUUID, ann.contactUUID);
      expect(await firstNames()).toEqual([
        [contact, ann.contactUUID, 'Ann'],
        [another, ben.contactUUID, 'Ann'],
      ]);
      await site.erase(ann.contactUUID);
      expect(await firstNames()).toEqual([]);
    });

    test('includes everything stored before the read, even during concurrent writes', async () => {
      const site = await newSite();
      const { store, account, server } = site;
      const reader = createFedAccount(store, account);
      let storedCount = 0;
      let isWriting = true;
      onTestFinished(() => {
        isWriting = false;
      });
      const write = async (nth: number) => {
        for (let round = 0; round < 8; round += 1) {
          const userUUID = `visitor-number-${nth}-${round}`;
          await server.log({ userUUID });
          storedCount += 1;
          if (nth % 3 === 0) await server.createContact({ userUUID, address: `${nth}@example.com` });
        }
      };
      const writing = Promise.all(Array.from({ length: 24 }, (_, nth) => write(nth))).then(() => {
        isWriting = false;
      });
      while (isWriting) {
        const before = storedCount;
        expect((await reader.read()).length).toBeGreaterThanOrEqual(before);
      }
      await writing;
      expect((await reader.read()).length).toBe(24 * 8);
      await expectAgreement(reader, site);
    });
  });
};
