// Tests that an attacker who knows a visitor's userUUID, and claims an address for it, cannot take over a known
// contact's events.
import { describe, expect, test } from 'vitest';
import type { Site } from '../../fixtures/site.ts';
import { ann, ben, expectRefusal, laptop, newID } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

const mallory = 'mallory@example.com';

/** Verifies Ann's link, then claims Mallory's address for the same user. */
const claimOver = async (site: Site) => {
  const { server, browser } = site;
  await server.log({ eventUUID: 'event-before' });
  const { contactUUID: annUUID } = await server.createContact({ address: ann });
  const { contactUUID: handle } = await browser.createContact({ address: mallory });
  const results = await site.store.searchContact({ account: site.account, address: mallory, limit: 1 });
  const malloryUUID = results.contacts[0]?.contactUUID as string;
  await server.log({ eventUUID: 'event-of-server' });
  await browser.log({ eventUUID: 'event-of-browser' }, { eventUUID: 'event-of-handle', contactUUID: handle });
  const linkOf = async (contactUUID: string) => {
    const { links = [] } = await server.getContact(contactUUID, 'link');
    return links[0]?.linkID as string;
  };
  return { annUUID, malloryUUID, handle, annLink: await linkOf(annUUID), malloryLink: await linkOf(malloryUUID) };
};

const names = ['event-before', 'event-of-browser', 'event-of-handle', 'event-of-server'];
const allOf = (contactUUID: string) => Object.fromEntries(names.map((name) => [name, contactUUID]));

export const describeDisplacedLinks = (newSite: NewSite): void => {
  describe('a claim after a verified link', () => {
    test('does not take over past or later events, and is listed', async () => {
      const site = await newSite();
      const { annUUID, malloryUUID, annLink, malloryLink, handle } = await claimOver(site);
      expect(await site.owners()).toEqual(allOf(annUUID));
      expect(await site.owners({ contactUUID: malloryUUID })).toEqual({});
      expect(await site.owners({ contactUUID: annUUID })).toEqual(allOf(annUUID));
      const { links, claims } = await site.server.getContact(malloryUUID, 'link', 'claim');
      expect(links).toMatchObject([{ linkID: malloryLink, userUUID: laptop, verified: false, voided: false }]);
      expect(claims).toMatchObject([{ claimID: handle, linkID: malloryLink }]);
      const events = await site.events();
      expect(events.map(({ why }) => [why.linkID, why.verified])).toEqual(names.map(() => [annLink, true]));
    });

    test('adds nothing when repeated', async () => {
      const site = await newSite();
      const { malloryUUID } = await claimOver(site);
      for (let nth = 0; nth < 3; nth += 1) await site.browser.createContact({ address: mallory });
      expect((await site.server.getContact(malloryUUID, 'link')).links).toHaveLength(1);
    });

    test('takes effect only while the verified link is voided', async () => {
      const site = await newSite();
      const { annUUID, malloryUUID, annLink } = await claimOver(site);
      await site.voidLink(annLink);
      expect(await site.owners()).toEqual(allOf(malloryUUID));
      await site.restoreLink(annLink);
      expect(await site.owners()).toEqual(allOf(annUUID));
    });

    test('takes effect for later events once it is accepted, until it is voided', async () => {
      const site = await newSite();
      const { annUUID, malloryUUID, handle } = await claimOver(site);
      await site.acceptClaim(handle);
      expect(await site.owners()).toEqual({ ...allOf(malloryUUID), 'event-before': annUUID });
      await site.voidClaim(handle);
      expect(await site.owners()).toEqual(allOf(annUUID));
    });

    test('has no effect after another verified link, but takes effect once the user is unlinked', async () => {
      const site = await newSite();
      const { malloryUUID } = await claimOver(site);
      const { contactUUID: benUUID } = await site.server.createContact({ address: ben });
      await site.browser.createContact({ address: mallory });
      const log = async () => {
        const eventUUID = newID('event');
        await site.server.log({ eventUUID });
        return (await site.owners())[eventUUID];
      };
      expect(await log()).toBe(benUUID);
      await site.unlink(laptop);
      expect(await log()).toBe('');
      await site.browser.createContact({ address: mallory });
      expect(await log()).toBe(malloryUUID);
    });

    test('deletes no events when its contact is erased, and leaves the user linked', async () => {
      const site = await newSite();
      const { annUUID, malloryUUID } = await claimOver(site);
      await site.erase(malloryUUID);
      await site.server.log({ eventUUID: 'event-later' });
      expect(await site.owners()).toEqual({ ...allOf(annUUID), 'event-later': annUUID });
    });

    test('leaves later events without an owner if it was accepted before its contact was erased', async () => {
      const site = await newSite();
      const { annUUID, malloryUUID, handle } = await claimOver(site);
      await site.acceptClaim(handle);
      await site.erase(malloryUUID);
      await site.server.log({ eventUUID: 'event-later' });
      expect(await site.owners()).toEqual({ 'event-before': annUUID, 'event-later': '' });
    });
  });

  describe('an erasure of verified events only', () => {
    test('keeps events that only a claim assigns to the contact, and still erases the contact', async () => {
      const site = await newSite();
      const { server, browser, store, account, time } = site;
      // Claims first: the claim takes effect until the verified link is created.
      await browser.createContact({ address: mallory });
      await server.log({ eventUUID: 'event-claimed' });
      const { contactUUID } = await server.createContact({ address: ann });
      await server.log({ eventUUID: 'event-of-ann' });
      const results = await store.searchContact({ account, address: mallory, limit: 1 });
      const malloryUUID = results.contacts[0]?.contactUUID as string;
      await server.log({ eventUUID: 'event-direct', userUUID: null, contactUUID: malloryUUID });
      expect(await site.owners({ contactUUID: malloryUUID })).toEqual({
        'event-claimed': malloryUUID,
        'event-direct': malloryUUID,
      });
      await store.eraseContact({ account, contactUUID: malloryUUID, verifiedOnly: true, time });
      await expectRefusal(server.getContact(malloryUUID), 'erased_contact');
      // Ann's link now also covers the earlier events, because the erasure turned the claimed link into an `unlink`
      // statement.
      expect(await site.owners()).toEqual({ 'event-claimed': contactUUID, 'event-of-ann': contactUUID });
    });

    test('deletes events that an accepted claim assigns to the contact', async () => {
      const site = await newSite();
      const { server, browser, store, account, time } = site;
      const { contactUUID: handle } = await browser.createContact({ address: mallory });
      await server.log({ eventUUID: 'event-accepted' });
      const { contactUUID } = await site.acceptClaim(handle);
      await store.eraseContact({ account, contactUUID, verifiedOnly: true, time });
      expect(await site.events()).toEqual([]);
    });
  });
};
