import { describe, expect, test } from 'vitest';
import type { ContactDetail, ListPositions } from '../../src/store/store.ts';
import type { Site } from '../fixtures/site.ts';
import { ann, ben, cleo, contactChange, expectRefusal, laptop, newID, phone } from '../fixtures/store.ts';
import type { NewSite } from './sites.ts';

const asServer = ({ store, account, server }: Site, address = ann) =>
  store.getContact({ account, token: server.token, browser: false, address, include: ['claim', 'link'] });

const readPages = async ({ store, account, server }: Site): Promise<ContactDetail[]> => {
  const query = { account, token: server.token, browser: false, address: ann, include: ['claim', 'link'] } as const;
  const pages: ContactDetail[] = [];
  for (let beyond: ListPositions | undefined; ; ) {
    const page = await store.getContact({ ...query, beyond });
    pages.push(page);
    beyond = page.next;
    if (!beyond || (beyond.claim === null && beyond.link === null)) return pages;
  }
};

export const describeClaims = (newSite: NewSite): void => {
  describe('createContact by a browser', () => {
    test('returns a handle instead of the contactUUID', async () => {
      const { server, browser } = await newSite();
      const { contactUUID } = await server.createContact({ userUUID: phone });
      const response = await browser.createContact({ newHandle: 'handle-of-ann' });
      expect(response).toEqual({ exists: false, contactUUID: 'handle-of-ann' });
      expect(contactUUID).not.toBe('handle-of-ann');
    });

    test('leaves accepted values unchanged, and stores later values only as claims', async () => {
      const site = await newSite();
      const { contactUUID: claimID } = await site.browser.createContact({ fields: { contactFirstname: 'Ann' } });
      await site.acceptClaim(claimID);
      const again = { contactFirstname: 'Eve', contactTelephone: '0900' };
      await site.browser.createContact({ fields: again, tags: ['vip'] });
      const contact = await asServer(site);
      expect(contact.fields).toMatchObject({ contactFirstname: 'Ann', contactTelephone: '0900' });
      expect(contact.claimed).toEqual(['contactTelephone', 'tag.vip']);
    });

    test('limits the size of a claim', async () => {
      const site = await newSite();
      for (let part = 0; part < 3; part += 1) {
        const attributes = Array.from({ length: 60 }, (_, nth) => [`attr-${part}-${nth}`, 'x'] as [string, string]);
        await site.browser.createContact({ attributes });
      }
      expect((await asServer(site)).attributes).toHaveLength(100);
    });

    test('fills a contact from the claims of its 25 newest links, even if it has many more', async () => {
      const site = await newSite();
      for (let nth = 0; nth < 30; nth += 1) {
        const userUUID = `one-of-many-visitors-${nth}`;
        await site.browser.createContact({ userUUID, newHandle: newID('handle'), tags: [`tag-${nth}`] });
      }
      const contact = await asServer(site);
      const tagIDs = contact.tags.flatMap(({ tagID, opt }) => (opt ? [tagID] : []));
      expect(tagIDs.toSorted()).toEqual(Array.from({ length: 25 }, (_, nth) => `tag-${nth + 5}`).toSorted());
      // Expects the page of claims to list all of them anyway.
      expect(contact.claims).toHaveLength(30);
    });

    test('lists each new claim once, page by page, with all merged contacts’ links', async () => {
      const site = await newSite();
      const claimIDs: string[] = [];
      const claim = async (nth: number, address: string) => {
        const userUUID = `one-of-many-visitors-${nth}`;
        claimIDs.push(
          (await site.browser.createContact({ userUUID, address, newHandle: newID('handle') })).contactUUID,
        );
      };
      for (let nth = 0; nth < 60; nth += 1) await claim(nth, nth % 2 === 0 ? ann : ben);
      const uuidOf = async (address: string) => (await asServer(site, address)).contactUUID;
      await site.merge(await uuidOf(ann), await uuidOf(ben));
      for (let nth = 60; nth < 220; nth += 1) await claim(nth, ann);
      const pages = await readPages(site);
      expect(pages.map(({ claims = [] }) => claims.length)).toEqual([100, 100, 20]);
      expect(pages.flatMap(({ claims = [] }) => claims).map(({ claimID }) => claimID)).toEqual(claimIDs);
      expect(pages.map(({ links = [] }) => links.length)).toEqual([220, 0, 0]);
      for (const page of pages) expect(page).toMatchObject({ claimCount: 220, linkCount: 220 });
    });

    test('stores large claims, of which a page lists only a few', async () => {
      const site = await newSite();
      for (let nth = 0; nth < 8; nth += 1) {
        const attributes = Array.from(
          { length: 100 },
          (_, each) => [`a${each}`, 'x'.repeat(2_048)] as [string, string],
        );
        await site.browser.createContact({
          userUUID: `one-of-many-visitors-${nth}`,
          newHandle: newID('handle'),
          attributes,
        });
      }
      const pages = await readPages(site);
      expect(pages.flatMap(({ claims = [] }) => claims)).toHaveLength(8);
      for (const { claims } of pages) expect(JSON.stringify(claims).length).toBeLessThan(1_100_000);
    });

    test('fills a contact’s fields, no matter how many users have claimed them before', async () => {
      const site = await newSite();
      for (let nth = 0; nth < 30; nth += 1) {
        const userUUID = `one-of-many-squatters-${nth}`;
        const fields = { contactFirstname: 'Mallory', contactLastname: 'Mallory' };
        await site.browser.createContact({ userUUID, newHandle: newID('handle'), fields });
      }
      const { contactUUID: handle } = await site.browser.createContact({ fields: { contactFirstname: 'Ann' } });
      const contact = await asServer(site);
      expect(contact).toMatchObject({ fields: { contactFirstname: 'Ann', contactLastname: 'Mallory' } });
      expect(contact.claims).toContainEqual(expect.objectContaining({ claimID: handle }));
      const [firstClaim] = contact.claims ?? [];
      await site.acceptClaim(firstClaim?.claimID as string);
      expect((await asServer(site)).fields.contactFirstname).toBe('Mallory');
    });

    test('does not reveal whether an address is known', async () => {
      const site = await newSite();
      await site.server.createContact({ userUUID: phone, fields: { contactFirstname: 'Ann' } });
      const existing = await site.browser.createContact({ address: ann, newHandle: 'handle-1' });
      const unknown = await site.browser.createContact({ address: ben, userUUID: phone, newHandle: 'handle-2' });
      expect(existing).toEqual({ exists: false, contactUUID: 'handle-1' });
      expect(unknown).toEqual({ exists: false, contactUUID: 'handle-2' });
      const { contactUUID, ...ofExisting } = await site.browser.getContact('handle-1');
      const { contactUUID: _, ...ofUnknown } = await site.browser.getContact('handle-2');
      expect(ofExisting).toEqual({ ...ofUnknown, fields: { ...ofUnknown.fields, contactEmailaddress: ann } });
    });

    test('returns that the contact exists only if this user’s last claim was for that contact', async () => {
      const { server, browser, unlink } = await newSite();
      expect((await browser.createContact()).exists).toBe(false);
      expect((await browser.createContact()).exists).toBe(true);
      expect((await browser.createContact({ userUUID: phone })).exists).toBe(false);
      expect((await browser.createContact({ address: ben })).exists).toBe(false);
      expect((await browser.createContact()).exists).toBe(false);
      await unlink(laptop);
      expect((await browser.createContact()).exists).toBe(false);
      // A page must not learn about a link that the server created.
      await server.createContact({ userUUID: laptop, address: ben });
      expect((await browser.createContact({ address: ben })).exists).toBe(false);
      expect((await browser.createContact({ address: ben })).exists).toBe(true);
    });

    test('reports that the contact exists only for an address that this user sent, and returns a separate handle for it', async () => {
      const { server, browser, update, newCaller } = await newSite();
      const { contactUUID: handle } = await browser.createContact();
      await update({ address: ann, fields: { contactFirstname: 'Ann' } });
      const { contactUUID } = await server.createContact({ userUUID: phone });
      await update({ contactUUID, address: cleo });
      const renamed = await browser.createContact({ address: cleo });
      expect(renamed.exists).toBe(false);
      expect(renamed.contactUUID).not.toBe(handle);
      expect(await browser.createContact({ address: cleo })).toEqual({ ...renamed, exists: true });
      // The server has linked this user to the contact, but the user has not sent the address.
      expect((await browser.createContact({ address: cleo, userUUID: phone })).exists).toBe(false);
      expect((await browser.createContact({ address: cleo, userUUID: phone })).exists).toBe(true);
      expect((await (await newCaller('browser')).createContact({ address: cleo })).exists).toBe(true);
      expect(await browser.getContact(handle)).toMatchObject({ fields: { contactEmailaddress: ann } });
    });

    test('returns the same handle for the same token, user and contact', async () => {
      const { browser, newCaller } = await newSite();
      const { contactUUID: handle } = await browser.createContact();
      expect((await browser.createContact()).contactUUID).toBe(handle);
      const handles = [
        (await browser.createContact({ address: ben })).contactUUID,
        (await browser.createContact({ userUUID: phone })).contactUUID,
        (await (await newCaller('browser')).createContact()).contactUUID,
      ];
      expect(new Set([handle, ...handles]).size).toBe(4);
      expect((await browser.createContact()).contactUUID).toBe(handle);
    });

    test('creates a contact for an unknown address, with claimed values only', async () => {
      const site = await newSite();
      const { contactUUID: handle } = await site.browser.createContact({
        fields: { contactFirstname: 'Ann', contactProfileID: 'retail' },
        tags: ['vip'],
        attributes: [['size', 'XL']],
      });
      expect(await asServer(site)).toMatchObject({
        fields: { contactEmailaddress: ann, contactFirstname: 'Ann', contactProfileID: 'retail' },
        contactProfileName: 'retail',
        contactStatus: 'active',
        createdTime: site.time,
        claimed: ['contactFirstname', 'contactEmailaddress', 'contactProfileID', 'contactAttr.size', 'tag.vip'],
        tags: [{ tagID: 'vip', opt: true }],
        attributes: [['size', 'XL']],
        claims: [
          {
            claimID: handle,
            userUUID: laptop,
            tokenID: site.browser.tokenID,
            state: 'open',
            createdTime: site.time,
            updatedTime: site.time,
            fields: {
              contactEmailaddress: ann,
              contactFirstname: 'Ann',
              contactProfileID: 'retail',
              contactLastname: '',
            },
            contactProfileName: 'retail',
            tags: ['vip'],
            attributes: [['size', 'XL']],
          },
        ],
        links: [{ userUUID: laptop, verified: false, voided: false }],
      });
      const { claims, links } = await asServer(site);
      expect(claims?.[0]?.linkID).toBe(links?.[0]?.linkID);
    });

    test('fills only empty fields and overwrites nothing', async () => {
      const site = await newSite({ browserCatalogue: true });
      const { contactUUID } = await site.server.createContact({
        userUUID: phone,
        fields: { contactFirstname: 'Ann' },
        tags: ['vip'],
        attributes: [['size', 'XL']],
      });
      const before = await site.server.getContact(contactUUID);
      await site.browser.createContact({
        fields: { contactFirstname: 'Mallory', contactLastname: 'Lee' },
        tags: ['vip', 'new'],
        attributes: [
          ['size', 'S'],
          ['colour', 'red'],
        ],
        time: site.time + 1,
      });
      expect(await site.server.getContact(contactUUID)).toEqual({
        ...before,
        fields: { ...before.fields, contactLastname: 'Lee' },
        tags: [
          { tagID: 'new', tagName: 'new', opt: true },
          { tagID: 'vip', tagName: 'vip', opt: true },
        ],
        attributes: [
          ['colour', 'red'],
          ['size', 'XL'],
        ],
        claimed: ['contactLastname', 'contactAttr.colour', 'tag.new'],
      });
    });

    test('doesn’t fill fields that were explicitly cleared or removed', async () => {
      const site = await newSite({ browserCatalogue: true });
      const { contactUUID } = await site.server.createContact({ userUUID: phone });
      await site.update({
        contactUUID,
        fields: { contactFirstname: null },
        removedTags: ['vip'],
        attributes: [['size', null]],
      });
      await site.browser.createContact({
        fields: { contactFirstname: 'Ann' },
        tags: ['vip'],
        attributes: [['size', 'S']],
      });
      expect(await site.server.getContact(contactUUID)).toMatchObject({
        fields: { contactFirstname: '' },
        tags: [{ tagID: 'vip', opt: false }],
        attributes: [],
        claimed: [],
      });
    });

    test('adds to its earlier claim: newer values win, tags are combined', async () => {
      const { browser, time } = await newSite();
      const { contactUUID: handle } = await browser.createContact({
        fields: { contactFirstname: 'An', contactLastname: 'Lee' },
        tags: ['vip'],
        attributes: [['size', 'S']],
      });
      await browser.createContact({
        fields: { contactFirstname: 'Ann' },
        tags: ['new'],
        attributes: [['size', 'XL']],
        time: time + 1,
      });
      expect(await browser.getContact(handle)).toMatchObject({
        fields: { contactFirstname: 'Ann', contactLastname: 'Lee' },
        tags: [{ tagID: 'vip' }, { tagID: 'new' }].sort((a, b) => (a.tagID < b.tagID ? -1 : 1)),
        attributes: [['size', 'XL']],
        createdTime: time,
        updatedTime: time + 1,
      });
    });

    test('fills a field from the browser that was linked most recently', async () => {
      const site = await newSite();
      await site.browser.createContact({
        userUUID: phone,
        fields: { contactFirstname: 'Mallory', contactLastname: 'Lee' },
      });
      await site.browser.createContact({ fields: { contactFirstname: 'Ann' } });
      expect(await asServer(site)).toMatchObject({
        fields: { contactFirstname: 'Ann', contactLastname: 'Lee' },
        claimed: ['contactFirstname', 'contactLastname', 'contactEmailaddress'],
      });
    });

    test('creates a link that becomes verified when a server sends the same user and contact', async () => {
      const site = await newSite();
      await site.browser.createContact({ fields: { contactFirstname: 'Ann' } });
      await site.server.createContact();
      expect(await asServer(site)).toMatchObject({
        claimed: ['contactFirstname'],
        links: [{ userUUID: laptop, verified: true }],
      });
    });

    test('never weakens a verified link', async () => {
      const site = await newSite();
      await site.server.createContact();
      await site.browser.createContact();
      expect((await asServer(site)).links).toMatchObject([{ verified: true }, { verified: false }]);
    });
  });

  describe('a handle', () => {
    test('shows only what its browser sent', async () => {
      const site = await newSite({ catalogues: { tag: [{ id: 'vip', name: 'VIP' }, { id: 'secret' }] } });
      await site.server.createContact({
        userUUID: phone,
        fields: { contactFirstname: 'Ann', contactJobRole: 'Buyer' },
        tags: ['secret'],
        attributes: [['credit', '100']],
      });
      const { contactUUID: handle } = await site.browser.createContact({
        fields: { contactFirstname: 'Annie' },
        tags: ['vip'],
        attributes: [['size', 'XL']],
      });
      await site.update({ address: ann, contactStatus: 'archived' });
      expect(await site.browser.getContact(handle)).toEqual({
        contactUUID: handle,
        fields: {
          contactExternalID: '',
          contactTitle: '',
          contactFirstname: 'Annie',
          contactLastname: '',
          contactEmailaddress: ann,
          contactTelephone: '',
          contactMobile: '',
          contactJobRole: '',
          contactProfileID: '',
        },
        contactProfileName: '',
        contactStatus: 'active',
        createdTime: site.time,
        updatedTime: site.time,
        claimed: [],
        tags: [{ tagID: 'vip', tagName: 'VIP', opt: true }],
        attributes: [['size', 'XL']],
      });
    });

    test('shows the same after the contact changes or merges, or the claim is voided or accepted', async () => {
      const site = await newSite();
      const { contactUUID: handle } = await site.browser.createContact({ fields: { contactFirstname: 'Ann' } });
      const before = await site.browser.getContact(handle);
      const { contactUUID } = await asServer(site);
      const other = await site.server.createContact({ address: ben, userUUID: phone });
      await site.update({ contactUUID, address: 'ann@new.example', fields: { contactFirstname: 'Secret' } });
      await site.merge(other.contactUUID, contactUUID);
      await site.acceptClaim(handle);
      await site.voidClaim(handle);
      const { updatedTime, ...after } = await site.browser.getContact(handle);
      expect({ ...after, updatedTime: before.updatedTime }).toEqual(before);
    });

    test('is valid only with its token', async () => {
      const { browser, newCaller } = await newSite();
      const { contactUUID: handle } = await browser.createContact();
      await expectRefusal((await newCaller('browser')).getContact(handle), 'unknown_contact', 'contactUUID');
    });

    test('can’t be replaced by an address in getContact', async () => {
      const { store, account, browser } = await newSite();
      await browser.createContact();
      const query = { account, token: browser.token, browser: true, address: ann, include: [] };
      await expectRefusal(store.getContact(query), 'unknown_contact');
    });

    test('is rejected as unknown when sent with a server token', async () => {
      const { store, account, browser, server, update, link, merge, unmerge } = await newSite();
      const { contactUUID: handle } = await browser.createContact();
      const { contactUUID } = await server.createContact({ address: ben, userUUID: phone });
      const query = { account, contactUUID: handle, order: 'asc', limit: 1 } as const;
      for (const operation of [
        () => store.getEvents(query),
        () => update({ contactUUID: handle, fields: { contactFirstname: 'Ann' } }),
        () => link(phone, handle),
        () => merge(contactUUID, handle),
        () => merge(handle, contactUUID),
        () => unmerge(handle),
        () => store.eraseContact({ account, contactUUID: handle, time: 0 }),
      ]) {
        await expectRefusal(operation(), 'unknown_contact');
      }
    });
  });

  describe('createContact by a browser with a proof', () => {
    test('verifies only the address and the link, and still returns a handle', async () => {
      const site = await newSite();
      const response = await site.browser.createContact({
        verified: true,
        fields: { contactFirstname: 'Ann', contactProfileID: 'staff' },
        tags: ['vip'],
        attributes: [['credit', '1000']],
        newHandle: 'handle-proven',
      });
      expect(response).toEqual({ exists: false, contactUUID: 'handle-proven' });
      expect(await asServer(site)).toMatchObject({
        claimed: ['contactFirstname', 'contactProfileID', 'contactAttr.credit', 'tag.vip'],
        claims: [{ claimID: 'handle-proven', state: 'open' }],
        links: [{ verified: true, voided: false }],
      });
      // Expects the claimed values to be removed, and the proven link to stay.
      await site.voidClaim('handle-proven');
      expect(await asServer(site)).toMatchObject({
        fields: { contactFirstname: '', contactProfileID: '' },
        claimed: [],
        links: [{ verified: true, voided: false }],
      });
    });

    test('still overwrites no value', async () => {
      const site = await newSite();
      await site.server.createContact({ userUUID: phone, fields: { contactFirstname: 'Ann' } });
      await site.browser.createContact({
        verified: true,
        fields: { contactFirstname: 'Mallory', contactLastname: 'Lee' },
      });
      expect(await asServer(site)).toMatchObject({
        fields: { contactFirstname: 'Ann', contactLastname: 'Lee' },
        claimed: ['contactLastname'],
      });
    });

    test('verifies only an earlier claim’s link, and a later claim does not undo this', async () => {
      const site = await newSite();
      const handle = await site.browser.createContact({ fields: { contactFirstname: 'Ann' } });
      const proven = await site.browser.createContact({ verified: true });
      expect(proven).toEqual({ ...handle, exists: true });
      await site.browser.createContact();
      const contact = await asServer(site);
      expect(contact.claims?.map(({ state }) => state)).toEqual(['open']);
      expect(contact).toMatchObject({ claimed: ['contactFirstname'], links: [{ verified: true }] });
    });
  });

  describe('acceptClaim', () => {
    test('turns claimed values into the contact’s own, and verifies the link', async () => {
      const site = await newSite();
      const { contactUUID: claimID } = await site.browser.createContact({
        fields: { contactFirstname: 'Ann' },
        tags: ['vip'],
      });
      const { contactUUID } = await asServer(site);
      expect(await site.acceptClaim(claimID)).toEqual({ contactUUID });
      expect(await asServer(site)).toMatchObject({
        fields: { contactFirstname: 'Ann' },
        claimed: [],
        claims: [{ state: 'accepted' }],
        links: [{ verified: true }],
      });
    });

    test('replaces no value', async () => {
      const site = await newSite();
      await site.server.createContact({ userUUID: phone, fields: { contactFirstname: 'Ann' } });
      const { contactUUID: claimID } = await site.browser.createContact({ fields: { contactFirstname: 'Mallory' } });
      await site.acceptClaim(claimID);
      expect(await asServer(site)).toMatchObject({ fields: { contactFirstname: 'Ann' } });
    });

    test('gives the claim precedence over others’ earlier and later claims', async () => {
      const site = await newSite();
      const { contactUUID: claimID } = await site.browser.createContact({ fields: { contactFirstname: 'Ann' } });
      await site.browser.createContact({ userUUID: phone, fields: { contactFirstname: 'Mallory' } });
      expect(await asServer(site)).toMatchObject({ fields: { contactFirstname: 'Mallory' } });
      await site.acceptClaim(claimID);
      expect(await asServer(site)).toMatchObject({ fields: { contactFirstname: 'Ann' }, claimed: [] });
    });

    test('returns the contact into which the claimed contact was merged', async () => {
      const site = await newSite();
      const { contactUUID: claimID } = await site.browser.createContact();
      const { contactUUID } = await asServer(site);
      const keep = await site.server.createContact({ address: ben, userUUID: phone });
      await site.merge(keep.contactUUID, contactUUID);
      expect(await site.acceptClaim(claimID)).toEqual({ contactUUID: keep.contactUUID });
    });

    test('rejects an unknown claim', async () => {
      const { server, acceptClaim, voidClaim } = await newSite();
      const { contactUUID } = await server.createContact();
      for (const claimID of ['nothing', contactUUID]) {
        await expectRefusal(acceptClaim(claimID), 'unknown_claim', 'claimID');
        await expectRefusal(voidClaim(claimID), 'unknown_claim', 'claimID');
      }
    });
  });

  describe('voidClaim', () => {
    test('undoes what the claim filled and linked, until the claim is restored exactly', async () => {
      const site = await newSite({ browserCatalogue: true });
      await site.server.log({ eventUUID: 'event-before' });
      const { contactUUID: claimID } = await site.browser.createContact({
        fields: { contactFirstname: 'Ann' },
        tags: ['vip'],
      });
      await site.server.log({ eventUUID: 'event-after' });
      const before = await asServer(site);
      const { contactUUID } = before;
      const ownersBefore = await site.owners();
      expect(ownersBefore).toEqual({ 'event-before': contactUUID, 'event-after': contactUUID });

      expect(await site.voidClaim(claimID)).toEqual({ contactUUID });
      expect(await asServer(site)).toMatchObject({
        fields: { contactFirstname: '' },
        claimed: ['contactEmailaddress'],
        tags: [{ tagID: 'vip', opt: false }],
        claims: [{ state: 'voided' }],
        links: [{ voided: true }],
      });
      expect(await site.owners()).toEqual({ 'event-before': '', 'event-after': '' });

      expect(await site.restoreClaim(claimID)).toEqual({ contactUUID });
      expect(await asServer(site)).toEqual(before);
      expect(await site.owners()).toEqual(ownersBefore);
    });

    test('also undoes an accepted claim, until it is restored as accepted', async () => {
      const site = await newSite();
      const { contactUUID: claimID } = await site.browser.createContact({ fields: { contactFirstname: 'Ann' } });
      await site.acceptClaim(claimID);
      await site.voidClaim(claimID);
      expect(await asServer(site)).toMatchObject({
        claimed: ['contactEmailaddress'],
        claims: [{ state: 'voided' }],
        links: [{ voided: true }],
      });
      await site.restoreClaim(claimID);
      expect(await asServer(site)).toMatchObject({
        claimed: [],
        claims: [{ state: 'accepted' }],
        links: [{ voided: false }],
      });
    });

    test('keeps a link that a server has verified', async () => {
      const site = await newSite();
      await site.server.log({ eventUUID: 'event-before' });
      const { contactUUID: claimID } = await site.browser.createContact({ fields: { contactFirstname: 'Mallory' } });
      const { contactUUID } = await site.server.createContact();
      await site.voidClaim(claimID);
      expect(await asServer(site)).toMatchObject({ fields: { contactFirstname: '' }, links: [{ voided: false }] });
      expect(await site.owners()).toEqual({ 'event-before': contactUUID });
    });

    test('lets the browser create another claim, under a new handle', async () => {
      const site = await newSite();
      const { contactUUID: claimID } = await site.browser.createContact({ fields: { contactFirstname: 'Mallory' } });
      await site.voidClaim(claimID);
      const again = await site.browser.createContact({ fields: { contactLastname: 'Lee' } });
      expect(again).toEqual({ exists: false, contactUUID: expect.not.stringMatching(claimID) });
      expect(await asServer(site)).toMatchObject({
        fields: { contactFirstname: '', contactLastname: 'Lee' },
        claims: [{ state: 'voided' }, { state: 'open' }],
        links: [{ voided: true }, { voided: false }],
      });
    });
  });

  describe('a value that is only claimed', () => {
    test('is no longer claimed once a server sends the same value', async () => {
      const site = await newSite();
      await site.browser.createContact({
        fields: { contactFirstname: 'Ann' },
        tags: ['vip'],
        attributes: [['size', 'XL']],
      });
      const change = contactChange({
        address: ann,
        fields: { contactFirstname: 'Ann' },
        addedTags: ['vip'],
        attributes: [['size', 'XL']],
      });
      await site.store.updateContact({ account: site.account, ...change });
      expect(await asServer(site)).toMatchObject({ claimed: ['contactEmailaddress'] });
    });

    test('is no longer claimed if a server sends another address', async () => {
      const site = await newSite();
      await site.browser.createContact();
      const { contactUUID } = await asServer(site);
      await site.update({ contactUUID, address: ben });
      expect(await asServer(site, ben)).toMatchObject({ contactUUID, claimed: [] });
    });

    test('is no longer claimed if a server sends the same address', async () => {
      const site = await newSite();
      await site.browser.createContact();
      const { contactUUID } = await asServer(site);
      await site.update({ contactUUID, address: ann });
      expect(await asServer(site)).toMatchObject({ claimed: [] });
    });

    test('can be cleared by a server, and updateContact reports the change', async () => {
      const site = await newSite({ browserCatalogue: true });
      await site.browser.createContact({
        fields: { contactFirstname: 'Ann' },
        tags: ['vip'],
        attributes: [['size', 'XL']],
      });
      const { updated } = await site.update({
        address: ann,
        fields: { contactFirstname: null, contactLastname: null },
        removedTags: ['vip'],
        attributes: [['size', null]],
        time: site.time + 1,
      });
      expect(new Set(updated)).toEqual(new Set(['contactFirstname', 'contactTagID', 'contactAttr']));
      expect(await asServer(site)).toMatchObject({
        fields: { contactFirstname: '' },
        tags: [{ tagID: 'vip', opt: false }],
        attributes: [],
        updatedTime: site.time + 1,
      });
    });
  });
};
