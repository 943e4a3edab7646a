import { describe, expect, test } from 'vitest';
import type { Site } from '../../fixtures/site.ts';
import { ann, ben, expectRefusal, hour, laptop, newID, phone } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

/** Returns the eventUUIDs of a contact's history. */
const historyOf = async ({ events }: Site, contactUUID: string) =>
  (await events({ contactUUID })).map(({ eventUUID }) => eventUUID);

const linksOf = async ({ server }: Site, contactUUID: string) =>
  (await server.getContact(contactUUID, 'link')).links ?? [];

export const describeLinks = (newSite: NewSite): void => {
  describe('an event’s owner', () => {
    test('is unknown until its user is identified; then it is that contact, even for the user’s first event', async () => {
      const site = await newSite();
      await site.server.log({ eventUUID: 'event-1' }, { eventUUID: 'event-2' });
      expect(await site.owners()).toEqual({ 'event-1': '', 'event-2': '' });
      const { contactUUID } = await site.server.createContact();
      await site.server.log({ eventUUID: 'event-3' });
      expect(await historyOf(site, contactUUID)).toEqual(['event-1', 'event-2', 'event-3']);
      const [{ linkID } = { linkID: '' }] = await linksOf(site, contactUUID);
      const linked = { linkID, verified: true, claimID: null, mergedFrom: null };
      expect((await site.events()).map(({ why }) => why)).toEqual([
        { rule: 'reached back', ...linked },
        { rule: 'reached back', ...linked },
        { rule: 'linked', ...linked },
      ]);
    });

    test('is the contact that a browser claims, and the reason includes the claim', async () => {
      const site = await newSite();
      await site.browser.log({ eventUUID: 'event-1' });
      const { contactUUID: claimID } = await site.browser.createContact();
      expect(await site.events()).toMatchObject([{ why: { rule: 'reached back', verified: false, claimID } }]);
    });

    test('is its user’s contact at the time: if the user switches contacts, past events keep their owner', async () => {
      const site = await newSite();
      await site.server.log({ eventUUID: 'event-1' });
      const first = await site.server.createContact({ address: ann });
      await site.server.log({ eventUUID: 'event-2' });
      const second = await site.server.createContact({ address: ben });
      await site.server.log({ eventUUID: 'event-3' });
      await site.server.createContact({ address: ann });
      await site.server.log({ eventUUID: 'event-4' });
      expect(await historyOf(site, first.contactUUID)).toEqual(['event-1', 'event-2', 'event-4']);
      expect(await historyOf(site, second.contactUUID)).toEqual(['event-3']);
      expect(await linksOf(site, first.contactUUID)).toHaveLength(2);
      expect(await linksOf(site, second.contactUUID)).toHaveLength(1);
    });

    test('is the same contact for two linked browsers', async () => {
      const site = await newSite();
      await site.server.log({ eventUUID: 'laptop-1' }, { eventUUID: 'phone--1', userUUID: phone });
      const { contactUUID } = await site.server.createContact();
      expect(await historyOf(site, contactUUID)).toEqual(['laptop-1']);
      await site.browser.createContact({ userUUID: phone });
      await site.server.log({ eventUUID: 'laptop-2' }, { eventUUID: 'phone--2', userUUID: phone });
      expect(await historyOf(site, contactUUID)).toEqual(['laptop-1', 'phone--1', 'laptop-2', 'phone--2']);
      expect(await linksOf(site, contactUUID)).toMatchObject([
        { userUUID: laptop, verified: true },
        { userUUID: phone, verified: false },
      ]);
    });

    test('is nobody once its user is unlinked, until the next link, which covers only later events', async () => {
      const site = await newSite();
      const first = await site.server.createContact({ address: ann });
      await site.server.log({ eventUUID: 'event-1' });
      const { linkID } = await site.unlink(laptop);
      await site.server.log({ eventUUID: 'event-2' });
      expect(await site.events()).toMatchObject([
        { contactUUID: first.contactUUID },
        { contactUUID: '', why: { rule: 'nobody', linkID } },
      ]);
      const second = await site.server.createContact({ address: ben });
      expect(await site.owners()).toEqual({ 'event-1': first.contactUUID, 'event-2': second.contactUUID });
    });

    test('is found even if the events are far apart', async () => {
      const site = await newSite();
      const { time } = site;
      const at = (hours: number, eventUUID: string, userUUID = laptop) =>
        site.server.logAt(time + hours * hour, { eventUUID, userUUID });
      await at(0, 'event-1');
      await at(30, 'phone--1', phone);
      await at(60, 'event-2');
      const first = await site.server.createContact({ address: ann, time: time + 60 * hour });
      await at(200, 'event-3');
      const second = await site.server.createContact({ address: ben, time: time + 200 * hour });
      await site.link(phone, first.contactUUID);
      await at(300, 'event-4');
      await at(400, 'phone--2', phone);
      expect(await historyOf(site, first.contactUUID)).toEqual([
        'event-1',
        'phone--1',
        'event-2',
        'event-3',
        'phone--2',
      ]);
      expect(await historyOf(site, second.contactUUID)).toEqual(['event-4']);
    });
  });

  describe('a listed link', () => {
    const listCurrent = async (site: Site, contactUUID: string) =>
      (await linksOf(site, contactUUID)).map(({ userUUID, current }) => [userUUID, current]);

    test('is current until its user is unlinked or linked to another contact, or the link is voided', async () => {
      const site = await newSite();
      const { contactUUID: one } = await site.server.createContact({ address: ann });
      const { contactUUID: other } = await site.server.createContact({ address: ben, userUUID: phone });
      expect(await listCurrent(site, one)).toEqual([[laptop, true]]);
      const { linkID } = await site.link(laptop, other);
      expect(await listCurrent(site, one)).toEqual([[laptop, false]]);
      expect(await listCurrent(site, other)).toEqual([
        [phone, true],
        [laptop, true],
      ]);
      await site.voidLink(linkID);
      expect(await listCurrent(site, one)).toEqual([[laptop, true]]);
      await site.unlink(laptop);
      expect(await listCurrent(site, one)).toEqual([[laptop, false]]);
    });

    test('stays current after a merge, and after a claim for another contact, which has no effect', async () => {
      const site = await newSite();
      const { contactUUID: one } = await site.server.createContact({ address: ann });
      const { contactUUID: other } = await site.server.createContact({ address: ben, userUUID: phone });
      await site.browser.createContact({ address: ben });
      expect(await listCurrent(site, one)).toEqual([[laptop, true]]);
      await site.merge(one, other);
      expect(await listCurrent(site, one)).toEqual([
        [laptop, true],
        [phone, true],
        [laptop, false],
      ]);
    });
  });

  describe('linkUser', () => {
    test('links a known or unknown user only once', async () => {
      const site = await newSite();
      const { contactUUID } = await site.server.createContact();
      const first = await site.link(phone, contactUUID);
      expect(first).toEqual({ exists: false, linkID: expect.stringMatching(/./), contactUUID });
      expect(await site.link(phone, contactUUID)).toEqual({ exists: true, linkID: first.linkID, contactUUID });
      expect(await linksOf(site, contactUUID)).toMatchObject([
        { userUUID: laptop },
        { userUUID: phone, linkID: first.linkID, linkTime: site.time, verified: true },
      ]);
    });

    test('verifies a claimed link in place', async () => {
      const site = await newSite();
      await site.browser.createContact();
      const { contactUUID } = await site.server.createContact({ userUUID: phone });
      const before = (await linksOf(site, contactUUID)).find(({ userUUID }) => userUUID === laptop);
      expect(before).toMatchObject({ verified: false });
      expect(await site.link(laptop, contactUUID)).toEqual({ exists: true, linkID: before?.linkID, contactUUID });
      const after = (await linksOf(site, contactUUID)).find(({ userUUID }) => userUUID === laptop);
      expect(after).toEqual({ ...before, verified: true });
    });

    test('rejects an unknown contact, and creates no user', async () => {
      const { store, account, link } = await newSite();
      await expectRefusal(link(laptop, 'nobody'), 'unknown_contact', 'contactUUID');
      expect((await store.getAccount(account)).usage.users).toBe(0);
    });
  });

  describe('unlinkUser', () => {
    test('does nothing to a user who isn’t linked', async () => {
      const { server, unlink } = await newSite();
      await server.log({});
      expect(await unlink(laptop)).toEqual({ exists: true, linkID: '' });
      await server.createContact();
      expect(await unlink(laptop)).toEqual({ exists: false, linkID: expect.stringMatching(/./) });
      expect(await unlink(laptop)).toEqual({ exists: true, linkID: '' });
    });

    test('rejects an unknown user', async () => {
      const { unlink } = await newSite();
      await expectRefusal(unlink(laptop), 'unknown_user', 'userUUID');
    });

    test('is undone exactly by voiding the unlink', async () => {
      const site = await newSite();
      await site.server.createContact();
      await site.server.log({ eventUUID: 'event-1' });
      const { linkID } = await site.unlink(laptop);
      await site.server.log({ eventUUID: 'event-2' });
      const ownersBefore = await site.owners();
      expect(await site.voidLink(linkID)).toBe(1);
      const { 'event-1': owner } = await site.owners();
      expect(await site.owners()).toEqual({ 'event-1': owner, 'event-2': owner });
      expect(await site.restoreLink(linkID)).toBe(1);
      expect(await site.owners()).toEqual(ownersBefore);
    });
  });

  describe('voidLink', () => {
    test('returns events to their previous owner, until the link is restored', async () => {
      const site = await newSite();
      await site.server.log({ eventUUID: 'event-1' });
      const first = await site.server.createContact({ address: ann });
      await site.server.log({ eventUUID: 'event-2' });
      const second = await site.server.createContact({ address: ben });
      await site.server.log({ eventUUID: 'event-3' });
      const [linkOfAnn] = await linksOf(site, first.contactUUID);
      const [linkOfBen] = await linksOf(site, second.contactUUID);
      const before = await site.owners();

      expect(await site.voidLink(linkOfBen?.linkID as string)).toBe(1);
      const ofAnn = { 'event-1': first.contactUUID, 'event-2': first.contactUUID, 'event-3': first.contactUUID };
      expect(await site.owners()).toEqual(ofAnn);
      expect(await historyOf(site, second.contactUUID)).toEqual([]);
      expect(await linksOf(site, second.contactUUID)).toEqual([{ ...linkOfBen, voided: true, current: false }]);
      expect(await site.restoreLink(linkOfBen?.linkID as string)).toBe(1);
      expect(await site.owners()).toEqual(before);

      expect(await site.voidLink(linkOfAnn?.linkID as string)).toBe(1);
      const ofBen = { 'event-1': second.contactUUID, 'event-2': second.contactUUID, 'event-3': second.contactUUID };
      expect(await site.owners()).toEqual(ofBen);
      expect(await site.voidLink(linkOfBen?.linkID as string)).toBe(1);
      expect(await site.owners()).toEqual({ 'event-1': '', 'event-2': '', 'event-3': '' });
      await site.restoreLink(linkOfBen?.linkID as string);
      await site.restoreLink(linkOfAnn?.linkID as string);
      expect(await site.owners()).toEqual(before);
      expect(await linksOf(site, first.contactUUID)).toEqual([linkOfAnn]);
    });

    test('changes nothing if repeated', async () => {
      const site = await newSite();
      const { contactUUID } = await site.server.createContact();
      const { linkID } = await site.link(laptop, contactUUID);
      expect(await site.restoreLink(linkID)).toBe(0);
      expect(await site.voidLink(linkID)).toBe(1);
      expect(await site.voidLink(linkID)).toBe(0);
    });

    test('lets the user be linked to the same contact again', async () => {
      const site = await newSite();
      const { contactUUID } = await site.server.createContact();
      const { linkID } = await site.link(laptop, contactUUID);
      await site.voidLink(linkID);
      const again = await site.link(laptop, contactUUID);
      expect(again).toEqual({ exists: false, linkID: expect.not.stringMatching(`^${linkID}$`), contactUUID });
      expect(await linksOf(site, contactUUID)).toMatchObject([{ voided: true }, { voided: false }]);
    });

    test('rejects a link that is unknown or belongs to another account', async () => {
      const { voidLink } = await newSite();
      const other = await newSite();
      const { contactUUID } = await other.server.createContact();
      const { linkID } = await other.link(laptop, contactUUID);
      for (const unknown of ['', '0', '-1', '1e3', '0x1', ' 1', 'nothing', '9'.repeat(15), '9'.repeat(40), linkID]) {
        await expectRefusal(voidLink(unknown), 'unknown_link', 'linkID');
      }
    });

    test('voids all links that a token claimed in a period, except verified links', async () => {
      const site = await newSite();
      const { store, account, time, browser } = site;
      const other = await site.newCaller('browser');
      const claim = (nth: number, caller = browser) =>
        caller.createContact({ userUUID: `visitor-number-${nth}`, address: `v${nth}@example.com`, time: time + nth });
      await claim(1);
      await claim(2);
      await claim(3);
      const accepted = await claim(4);
      await site.acceptClaim(accepted.contactUUID);
      await claim(5);
      await site.server.createContact({ userUUID: 'visitor-number-5', address: 'v5@example.com' });
      await claim(6, other);
      await claim(7);
      await browser.createContact({
        userUUID: 'visitor-number-8',
        address: 'v8@example.com',
        verified: true,
        time: time + 6,
      });

      const listVoided = async () => {
        const { contacts } = await store.searchContact({ account, limit: 100 });
        const links = await Promise.all(contacts.map(({ contactUUID }) => linksOf(site, contactUUID)));
        return links.flat().flatMap((link) => (link.voided ? [link.userUUID.replace('visitor-number-', '')] : []));
      };
      const { tokenID } = browser;
      const voidLinks = (restore: boolean, links: { tokenID: string; from?: number; to?: number }) =>
        store.voidLinks({ account, restore, links, time });
      expect(await voidLinks(false, { tokenID, from: time + 2, to: time + 7 })).toBe(2);
      expect(await listVoided()).toEqual(['2', '3']);
      expect(await voidLinks(false, { tokenID })).toBe(2);
      expect(await listVoided()).toEqual(['1', '2', '3', '7']);
      expect(await voidLinks(false, { tokenID })).toBe(0);
      expect(await voidLinks(true, { tokenID, to: time + 2 })).toBe(1);
      expect(await listVoided()).toEqual(['2', '3', '7']);
      expect(await voidLinks(true, { tokenID })).toBe(3);
      expect(await listVoided()).toEqual([]);
      expect(await voidLinks(false, { tokenID: other.tokenID })).toBe(1);
      expect(await listVoided()).toEqual(['6']);
    });

    test('voids and restores the links of many users', async () => {
      const { store, account, browser, time } = await newSite();
      const [groups, perGroup] = [26, 20];
      // In groups, because some of 520 concurrent requests would wait too long for one of PostgreSQL's connections.
      for (let group = 0; group < groups; group += 1) {
        const visitors = Array.from({ length: perGroup }, (_, nth) => `${group}-${nth}`);
        await Promise.all(
          visitors.map((name) =>
            browser.createContact({
              address: `ann-${name}@example.com`,
              userUUID: `visitor-number-${name}`,
              newHandle: newID('handle'),
            }),
          ),
        );
      }
      const count = groups * perGroup;
      const links = { tokenID: browser.tokenID };
      expect(await store.voidLinks({ account, restore: false, links, time: time + 1 })).toBe(count);
      expect(await store.voidLinks({ account, restore: true, links, time: time + 2 })).toBe(count);
      expect(await store.voidLinks({ account, restore: true, links, time: time + 3 })).toBe(0);
    });

    test('rejects a token that is unknown or belongs to another account', async () => {
      const { store, account, time } = await newSite();
      const other = await newSite();
      for (const tokenID of ['nothing', other.browser.tokenID]) {
        await expectRefusal(
          store.voidLinks({ account, restore: false, links: { tokenID }, time }),
          'unknown_token',
          'tokenID',
        );
      }
    });
  });
};
