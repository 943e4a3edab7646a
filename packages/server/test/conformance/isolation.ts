import { describe, expect, test } from 'vitest';
import type { Site } from '../fixtures/site.ts';
import { ann, expectRefusal, laptop } from '../fixtures/store.ts';
import type { NewSite } from './sites.ts';

/** Reads everything that an account's operations can read. */
const readAccount = async ({ store, account, time, events }: Site) => {
  const { contacts } = await store.searchContact({ account, limit: 100 });
  const caller = { account, token: 0, browser: false, include: ['claim', 'link'] as const };
  return {
    account: await store.getAccount(account),
    events: await events(),
    counts: await store.countEvents({ account, edges: [time, time + 900_000], users: true }),
    definitions: await store.getEventDefinitions(account),
    contacts: await Promise.all(contacts.map(({ contactUUID }) => store.getContact({ ...caller, contactUUID }))),
    keys: await store.findProofKeys({ account, time }),
  };
};

const fill = async (site: Site) => {
  const { browser, server } = site;
  await browser.log({ eventUUID: 'event-in-each', eventID: 7, attributes: [['size', 'XL']] });
  const { contactUUID: handle } = await browser.createContact({ requestUUID: 'request-in-each', tags: ['vip'] });
  const { contactUUID } = await server.createContact({
    fields: { contactFirstname: 'Ann', contactProfileID: 'retail' },
  });
  await server.log({ eventUUID: 'direct-in-each', userUUID: null, contactUUID });
  const { linkID } = await site.link(laptop, contactUUID);
  return { handle, contactUUID, linkID };
};

export const describeIsolation = (newSite: NewSite): void => {
  describe('two accounts', () => {
    test('can have the same users, addresses, events and requests without affecting each other', async () => {
      const one = await newSite();
      const ofOne = await fill(one);
      const before = await readAccount(one);
      const other = await newSite({ time: one.time });
      const ofOther = await fill(other);
      expect(ofOther.contactUUID).not.toBe(ofOne.contactUUID);
      expect(await readAccount(one)).toEqual(before);
      expect(await other.browser.log({ eventUUID: 'event-in-each', eventID: 7 })).toEqual([
        { kept: false, duplicate: true },
      ]);
      expect((await other.events()).map(({ contactUUID }) => contactUUID)).toEqual([
        ofOther.contactUUID,
        ofOther.contactUUID,
      ]);

      await other.update({ address: ann, fields: { contactFirstname: 'Mallory' }, contactStatus: 'archived' });
      await other.change({ strict: true, catalogues: { event: [{ id: '7', name: 'Renamed', browser: false }] } });
      await other.unlink(laptop);
      await other.erase(ofOther.contactUUID);
      await other.store.revokeToken({ account: other.account, tokenID: other.server.tokenID, time: 0 });
      expect(await readAccount(one)).toEqual(before);
      expect(await one.browser.log({ eventUUID: 'event-in-each' })).toEqual([{ kept: false, duplicate: true }]);
      expect(await one.browser.createContact({ requestUUID: 'request-in-each' })).toMatchObject({
        contactUUID: ofOne.handle,
      });
    });

    test('cannot refer to each other’s objects', async () => {
      const one = await newSite();
      const { contactUUID, handle, linkID } = await fill(one);
      const before = await readAccount(one);
      const other = await newSite();
      const { store, account, time } = other;
      await other.server.createContact();
      const { contactUUID: own } = await other.server.createContact();
      await expectRefusal(other.server.getContact(contactUUID), 'unknown_contact');
      await expectRefusal(other.browser.getContact(handle), 'unknown_contact');
      await expectRefusal(other.events({ contactUUID }), 'unknown_contact');
      await expectRefusal(other.update({ contactUUID, fields: { contactFirstname: 'Mallory' } }), 'unknown_contact');
      await expectRefusal(other.erase(contactUUID), 'unknown_contact');
      await expectRefusal(other.link(laptop, contactUUID), 'unknown_contact');
      await expectRefusal(other.merge(own, contactUUID), 'unknown_contact');
      await expectRefusal(other.merge(contactUUID, own), 'unknown_contact');
      await expectRefusal(other.unmerge(contactUUID), 'unknown_contact');
      await expectRefusal(other.acceptClaim(handle), 'unknown_claim');
      await expectRefusal(other.voidClaim(handle), 'unknown_claim');
      await expectRefusal(other.voidLink(linkID), 'unknown_link');
      for (const caller of [other.server, other.browser]) {
        const outcomes = await caller.log({ contactUUID }, { userUUID: null, contactUUID: handle });
        expect(outcomes).toMatchObject([{ refused: 'unknown_contact' }, { refused: 'unknown_contact' }]);
      }
      const links = { tokenID: one.browser.tokenID };
      await expectRefusal(store.voidLinks({ account, restore: false, links, time }), 'unknown_token');
      await expectRefusal(store.revokeToken({ account, tokenID: one.browser.tokenID, time }), 'unknown_token');
      expect(await readAccount(one)).toEqual(before);
    });

    test('learn nothing about each other’s erasures', async () => {
      const one = await newSite();
      const { contactUUID, handle } = await fill(one);
      await one.erase(contactUUID);
      const other = await newSite({ time: one.time });
      await expectRefusal(other.server.getContact(contactUUID), 'unknown_contact');
      await expectRefusal(other.browser.getContact(handle), 'unknown_contact');
      await expectRefusal(other.erase(contactUUID), 'unknown_contact');
      expect(await other.browser.log({ eventUUID: 'event-in-each', eventID: 7 })).toEqual([{ kept: true }]);
    });
  });
};
