import { describe, expect, test, vi } from 'vitest';
import type { Site } from '../fixtures/site.ts';
import { accountContact, ann, ben, day, expectRefusal, hour, laptop, newID, phone, tablet } from '../fixtures/store.ts';
import { soon } from '../fixtures/timeouts.ts';
import type { NewSite } from './sites.ts';

/** Waits until an erasure is complete, and returns its receipt. */
const completeErasure = ({ erase }: Site, contactUUID: string) =>
  vi.waitFor(
    async () => {
      const receipt = await erase(contactUUID);
      expect(receipt.complete).toBe(true);
      return receipt;
    },
    { ...soon, interval: 20 },
  );

const duplicate = { kept: false, duplicate: true };
const refused = { kept: false, refused: 'erased_contact', field: 'contactUUID' };

export const describeErasures = (newSite: NewSite): void => {
  describe('an erased contact', () => {
    test('disappears from every read immediately', async () => {
      const site = await newSite();
      const { store, account, server, browser } = site;
      const { contactUUID: handle } = await browser.createContact({ fields: { contactFirstname: 'Ann' } });
      const { contactUUID } = await server.createContact();
      await server.log({ eventUUID: 'event-of-ann' }, { eventUUID: 'direct-event', userUUID: null, contactUUID });
      await server.log({ eventUUID: 'event-of-phone', userUUID: phone });
      await site.erase(contactUUID);
      expect(await site.owners()).toEqual({ 'event-of-phone': '' });
      expect(await site.events({ userUUID: laptop })).toEqual([]);
      await expectRefusal(site.events({ contactUUID }), 'erased_contact', 'contactUUID');
      await expectRefusal(server.getContact(contactUUID), 'erased_contact', 'contactUUID');
      await expectRefusal(browser.getContact(handle), 'erased_contact', 'contactUUID');
      const caller = { account, token: server.token, browser: false, include: [] };
      await expectRefusal(store.getContact({ ...caller, address: ann }), 'unknown_contact');
      expect((await store.searchContact({ account, limit: 10 })).contacts).toEqual([]);
      expect((await store.getAccount(account)).usage.contacts).toBe(0);
    });

    test('leaves other histories unchanged, even if one of its claims was voided', async () => {
      const { server, browser, voidClaim, erase, owners } = await newSite();
      await server.log({ eventUUID: 'event-1' });
      const { contactUUID: claimID } = await browser.createContact({ address: ann });
      const { contactUUID: annUUID } = await voidClaim(claimID);
      await server.log({ eventUUID: 'event-2' });
      const { contactUUID: benUUID } = await server.createContact({ address: ben });
      const before = { 'event-1': benUUID, 'event-2': benUUID };
      expect(await owners()).toEqual(before);
      await erase(annUUID);
      expect(await owners()).toEqual(before);
    });

    test('stays unknown to other browser tokens', async () => {
      const { server, browser, newCaller, erase } = await newSite();
      const { contactUUID: handle } = await browser.createContact();
      const { contactUUID } = await server.createContact();
      const other = await newCaller('browser');
      await erase(contactUUID);
      await expectRefusal(browser.getContact(handle), 'erased_contact', 'contactUUID');
      await expectRefusal(browser.getContact(contactUUID), 'unknown_contact', 'contactUUID');
      await expectRefusal(other.getContact(handle), 'unknown_contact', 'contactUUID');
    });

    test('leaves a receipt that counts the deleted events until it is complete', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const { contactUUID } = await site.server.createContact();
      await site.server.log({}, {}, { userUUID: null, contactUUID });
      const first = await site.erase(contactUUID, time + 1);
      expect(first).toMatchObject({ contactUUID, erasedTime: time + 1 });
      expect(await completeErasure(site, contactUUID)).toEqual({ ...first, deletedEvents: 3, complete: true });
      expect(await store.eraseContact({ account, contactUUID, time: time + 2 })).toMatchObject({
        erasedTime: time + 1,
      });
    });

    test('is rejected in every field that can refer to it', async () => {
      const site = await newSite();
      const { contactUUID: claimID } = await site.browser.createContact();
      const { contactUUID } = await site.server.createContact();
      const { linkID } = await site.link(phone, contactUUID);
      const { contactUUID: other } = await site.server.createContact({ address: ben, userUUID: tablet });
      await site.erase(contactUUID);
      await expectRefusal(site.update({ contactUUID, fields: { contactFirstname: 'Ann' } }), 'erased_contact');
      await expectRefusal(site.link(tablet, contactUUID), 'erased_contact', 'contactUUID');
      await expectRefusal(site.merge(contactUUID, other), 'erased_contact', 'contactUUID');
      await expectRefusal(site.merge(other, contactUUID), 'erased_contact', 'otherContactUUID');
      await expectRefusal(site.unmerge(contactUUID), 'erased_contact', 'otherContactUUID');
      await expectRefusal(site.voidLink(linkID), 'erased_contact', 'linkID');
      await expectRefusal(site.restoreLink(linkID), 'erased_contact', 'linkID');
      await expectRefusal(site.acceptClaim(claimID), 'erased_contact', 'claimID');
      await expectRefusal(site.voidClaim(claimID), 'erased_contact', 'claimID');
      expect((await site.change({ contacts: [accountContact({ contactUUID })] })).contacts).toMatchObject([
        { refused: 'erased_contact' },
      ]);
    });

    test('leaves its users anonymous until they identify themselves again', async () => {
      const site = await newSite();
      const { contactUUID } = await site.server.createContact();
      await site.link(phone, contactUUID);
      await site.server.log({ eventUUID: 'event-erased' });
      await site.erase(contactUUID);
      await site.server.log({ eventUUID: 'event-1' }, { eventUUID: 'event-2', userUUID: phone });
      expect(await site.owners()).toEqual({ 'event-1': '', 'event-2': '' });
      expect(await site.events()).toMatchObject([{ why: { rule: 'nobody' } }, { why: { rule: 'nobody' } }]);
      const again = await site.server.createContact();
      expect(again.exists).toBe(false);
      expect(again.contactUUID).not.toBe(contactUUID);
      expect(await site.owners()).toEqual({ 'event-1': again.contactUUID, 'event-2': '' });
      await completeErasure(site, contactUUID);
      expect(await site.owners()).toEqual({ 'event-1': again.contactUUID, 'event-2': '' });
    });

    test('loses only its own events, not other contacts’ events', async () => {
      const site = await newSite();
      const { server } = site;
      await server.log({ eventUUID: 'ann-before' });
      const { contactUUID } = await server.createContact({ address: ann });
      await server.log({ eventUUID: 'ann-first' });
      const { contactUUID: other } = await server.createContact({ address: ben });
      await server.log({ eventUUID: 'ben-first' }, { eventUUID: 'ann-direct', contactUUID });
      await server.createContact({ address: ann });
      await server.log({ eventUUID: 'ann-again' }, { eventUUID: 'ben-direct', contactUUID: other });
      await site.unlink(laptop);
      await server.log({ eventUUID: 'nobody-s-event' }, { eventUUID: 'phone-event', userUUID: phone });
      const remaining = { 'ben-first': other, 'ben-direct': other, 'nobody-s-event': '', 'phone-event': '' };
      await site.erase(contactUUID);
      expect(await site.owners()).toEqual(remaining);
      expect(await completeErasure(site, contactUUID)).toMatchObject({ deletedEvents: 4 });
      expect(await site.owners()).toEqual(remaining);
      expect(Object.keys(await site.owners({ contactUUID: other }))).toEqual(['ben-first', 'ben-direct']);
    });

    test('includes all records of a merged person, no matter which record the request identifies', async () => {
      const site = await newSite();
      const { server } = site;
      for (const nth of [0, 1, 2]) {
        const uuids: string[] = [];
        for (const [index, userUUID] of [laptop, phone, tablet].entries()) {
          uuids.push(
            (await server.createContact({ userUUID, address: `person-${nth}-${index}@example.com` })).contactUUID,
          );
          await server.log({ userUUID });
        }
        const [first, second, third] = uuids as [string, string, string];
        await site.merge(first, second);
        await site.merge(second, third);
        const target = uuids[nth] as string;
        expect(await site.erase(target)).toMatchObject({ contactUUID: target });
        expect(await site.events()).toEqual([]);
        for (const contactUUID of uuids) {
          await expectRefusal(server.getContact(contactUUID), 'erased_contact');
          expect(await completeErasure(site, contactUUID)).toMatchObject({ contactUUID, deletedEvents: 3 });
        }
      }
    });

    test('is not recreated when an event is retried late, before or after its events are deleted', async () => {
      const site = await newSite();
      const { server, browser, time } = site;
      const { contactUUID: handle } = await browser.createContact();
      const { contactUUID } = await server.createContact();
      const byUser = { eventUUID: 'event-of-user' };
      const byContact = { eventUUID: 'event-of-contact', userUUID: null, contactUUID };
      const byBoth = { eventUUID: 'event-of-both', contactUUID };
      const byHandle = { eventUUID: 'event-of-handle', userUUID: null, contactUUID: handle };
      await server.log(byUser, byContact, byBoth);
      await browser.log(byHandle);
      const retry = async (receivedTime: number) => {
        expect(await server.logAt(receivedTime, byUser, byContact, byBoth)).toMatchObject([
          duplicate,
          refused,
          refused,
        ]);
        expect(await browser.logAt(receivedTime, byHandle)).toMatchObject([refused]);
        expect(await site.events()).toEqual([]);
      };
      await site.erase(contactUUID);
      await retry(time);
      await completeErasure(site, contactUUID);
      await retry(time + 1);
      await retry(time + 7 * day);
    });

    test('is not recreated by a late createContact', async () => {
      const site = await newSite();
      const { store, account, server, browser, time } = site;
      const ofServer = { requestUUID: newID('request'), fields: { contactFirstname: 'Ann' } };
      const ofBrowser = { requestUUID: newID('request'), fields: { contactFirstname: 'Ann' } };
      const ofNobody = { ...ofServer, requestUUID: newID('request'), userUUID: null };
      await browser.createContact(ofBrowser);
      await server.createContact(ofNobody);
      const { contactUUID } = await server.createContact(ofServer);
      await site.erase(contactUUID);
      for (const at of [time, time + 7 * day]) {
        await expectRefusal(server.createContact({ ...ofServer, time: at }), 'erased_contact');
        await expectRefusal(server.createContact({ ...ofNobody, time: at }), 'erased_contact');
        await expectRefusal(browser.createContact({ ...ofBrowser, time: at }), 'erased_contact');
      }
      expect((await store.searchContact({ account, limit: 10 })).contacts).toEqual([]);
    });

    test('frees its address for a new contact', async () => {
      const site = await newSite();
      const { contactUUID } = await site.server.createContact({ fields: { contactFirstname: 'Ann' }, tags: ['vip'] });
      await site.server.log({});
      await site.erase(contactUUID);
      const again = await site.server.createContact({ userUUID: phone });
      expect(again.contactUUID).not.toBe(contactUUID);
      expect(await site.server.getContact(again.contactUUID, 'claim', 'link')).toMatchObject({
        fields: { contactFirstname: '' },
        tags: [{ tagID: 'vip', opt: false }],
        claims: [],
        links: [{ userUUID: phone }],
      });
      expect(await site.events({ contactUUID: again.contactUUID })).toEqual([]);
    });

    test('can be erased by its address while it has one', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const { contactUUID } = await site.server.createContact();
      expect(await store.eraseContact({ account, address: ann, time })).toMatchObject({ contactUUID });
      await expectRefusal(store.eraseContact({ account, address: ann, time }), 'unknown_contact');
      await expectRefusal(store.eraseContact({ account, contactUUID: 'nobody', time }), 'unknown_contact');
    });

    test('must be named in the request to erase it', async () => {
      const { store, account, server, time } = await newSite();
      const { contactUUID } = await server.createContact();
      await expectRefusal(store.eraseContact({ account, time }), 'unknown_contact', 'contactEmailaddress');
      expect(await server.getContact(contactUUID)).toMatchObject({ contactUUID });
    });

    test('is no longer counted once its events are deleted, and other counts stay the same', async () => {
      const site = await newSite();
      const other = await newSite();
      const { store, account, time } = site;
      // Logs events in both accounts on the same days.
      const { contactUUID } = await site.server.createContact({ time: other.time });
      for (const days of [0, 1, 2]) {
        const at = other.time + days * day;
        await other.server.logAt(at, {}, {});
        await site.server.logAt(
          at,
          {},
          { eventID: 2, userUUID: null, contactUUID },
          { userUUID: phone },
          { userUUID: phone },
        );
      }
      const countEvents = async (eventID?: number) =>
        store.countEvents({ account, eventID, edges: [time, other.time + 5 * day], users: true });
      expect(await countEvents()).toEqual([{ events: 12, users: 3 }]);
      await site.erase(contactUUID);
      expect(await completeErasure(site, contactUUID)).toMatchObject({ deletedEvents: 6 });
      expect(await countEvents()).toEqual([{ events: 6, users: 1 }]);
      expect(await countEvents(2)).toEqual([{ events: 0, users: 0 }]);
      expect((await store.getAccount(account)).usage.events).toBe(6);
      expect(await store.getEventDefinitions(account)).toMatchObject([{ eventID: 1, count: 6 }]);
      expect(await other.count()).toBe(6);
    });

    test('loses all of its thousands of events over many days', async () => {
      const site = await newSite();
      const { contactUUID } = await site.server.createContact();
      for (let days = 0; days < 4; days += 1) {
        const at = site.time + days * 25 * hour;
        await site.server.logAt(at, ...Array.from({ length: 400 }, () => ({})));
        await site.server.logAt(at, ...Array.from({ length: 200 }, () => ({ userUUID: null, contactUUID })));
        await site.server.logAt(at, { userUUID: phone });
      }
      await site.erase(contactUUID);
      expect(await site.events()).toHaveLength(4);
      expect(await completeErasure(site, contactUUID)).toMatchObject({ deletedEvents: 2_400 });
      expect(await site.events()).toHaveLength(4);
      expect(await site.count()).toBe(4);
    });

    test('leaves no link that could be restored', async () => {
      const site = await newSite();
      await site.server.log({ eventUUID: 'event-1' });
      const { contactUUID } = await site.server.createContact({ userUUID: phone });
      const { linkID } = await site.link(laptop, contactUUID);
      await site.voidLink(linkID);
      await site.erase(contactUUID);
      expect(await site.owners()).toEqual({ 'event-1': '' });
      await expectRefusal(site.restoreLink(linkID), 'erased_contact');
      const { tokenID } = site.server;
      expect(
        await site.store.voidLinks({ account: site.account, restore: true, links: { tokenID }, time: site.time }),
      ).toBe(0);
    });
  });
};
