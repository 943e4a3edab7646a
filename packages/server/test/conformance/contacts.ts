import { describe, expect, test } from 'vitest';
import { contactFields } from '../../src/identity/contact-view.ts';
import { ann, ben, day, expectRefusal, laptop, phone } from '../fixtures/store.ts';
import type { NewSite } from './sites.ts';

const filled = {
  contactTitle: 'Dr',
  contactFirstname: 'Ann',
  contactLastname: 'O’Neil',
  contactTelephone: '+44 20 7946 0000',
  contactMobile: '07700 900000',
  contactJobRole: 'Buyer',
  contactProfileID: 'retail',
};

const hostile = ['__proto__', 'constructor', 'o’neil "quoted"', "';--", 'ünïcode ☃ 🎉', '%'];

const emptyFields = Object.fromEntries(contactFields.map((name) => [name, '']));

export const describeContacts = (newSite: NewSite): void => {
  describe('createContact by a server', () => {
    test('creates a contact with the given values', async () => {
      const { server, time } = await newSite();
      const { exists, contactUUID } = await server.createContact({
        fields: filled,
        tags: ['vip'],
        attributes: [['size', 'XL']],
        newContactUUID: 'contact-of-ann',
      });
      expect([exists, contactUUID]).toEqual([false, 'contact-of-ann']);
      expect(await server.getContact(contactUUID)).toEqual({
        contactUUID,
        fields: { ...filled, contactExternalID: '', contactEmailaddress: ann },
        contactProfileName: 'retail',
        contactStatus: 'active',
        createdTime: time,
        updatedTime: time,
        claimed: [],
        tags: [{ tagID: 'vip', tagName: 'vip', opt: true }],
        attributes: [['size', 'XL']],
      });
    });

    test('needs only an address', async () => {
      const { server } = await newSite();
      const { contactUUID } = await server.createContact();
      expect(await server.getContact(contactUUID)).toMatchObject({
        fields: { ...emptyFields, contactEmailaddress: ann },
        contactProfileName: '',
        tags: [],
        attributes: [],
      });
    });

    test('does not start a new day for a time in the past', async () => {
      const { store, account, server, browser, time } = await newSite();
      await browser.log({});
      await server.createContact({ time: time - 30 * day });
      for (let ago = 29; ago > 0; ago -= 1) {
        const userUUID = `user-of-${ago}-days-ago`;
        await server.createContact({ address: `${ago}@example.com`, userUUID, time: time - ago * day });
      }
      await browser.log({});
      const { contacts } = await store.searchContact({ account, address: ann, limit: 1 });
      expect(contacts).toMatchObject([{ createdTime: time - 30 * day, lastSeenTime: time - (time % day) }]);
    });

    test('creates no link without a user', async () => {
      const { server } = await newSite();
      const first = await server.createContact({ userUUID: null, fields: filled });
      const again = await server.createContact({ userUUID: null, fields: { contactFirstname: 'Anna' }, tags: ['vip'] });
      expect(again).toEqual({ exists: true, contactUUID: first.contactUUID });
      const contact = await server.getContact(first.contactUUID, 'link');
      expect(contact).toMatchObject({ fields: { ...filled, contactFirstname: 'Anna' }, links: [] });
    });

    test('finds the contact by address, and writes only the given values', async () => {
      const { server, time } = await newSite();
      const first = await server.createContact({ fields: filled, tags: ['vip'], attributes: [['size', 'XL']] });
      const again = await server.createContact({
        userUUID: phone,
        fields: { contactFirstname: 'Anna' },
        tags: ['new'],
        attributes: [['colour', 'red']],
        time: time + 1,
      });
      expect(again).toEqual({ exists: true, contactUUID: first.contactUUID });
      const contact = await server.getContact(first.contactUUID);
      expect(contact).toMatchObject({
        fields: { ...filled, contactFirstname: 'Anna', contactEmailaddress: ann },
        createdTime: time,
        updatedTime: time + 1,
        tags: [
          { tagID: 'new', opt: true },
          { tagID: 'vip', opt: true },
        ],
      });
      expect(new Map(contact.attributes)).toEqual(
        new Map([
          ['size', 'XL'],
          ['colour', 'red'],
        ]),
      );
    });

    test('links a user only once to the same contact', async () => {
      const { server } = await newSite();
      const { contactUUID } = await server.createContact();
      await server.createContact();
      await server.createContact();
      const { links } = await server.getContact(contactUUID, 'link');
      expect(links).toMatchObject([{ userUUID: laptop, contactUUID, verified: true, voided: false }]);
    });

    test('matches only the exact address', async () => {
      const { server } = await newSite();
      const contactUUIDs = new Set<string>();
      for (const address of [
        ann,
        'a.nn@example.com',
        'ann+1@example.com',
        'ann@xn--exmple-cua.com',
        'änn@example.com',
      ]) {
        contactUUIDs.add((await server.createContact({ address })).contactUUID);
      }
      expect(contactUUIDs.size).toBe(5);
    });
  });

  describe('getContact', () => {
    test('finds a contact by contactUUID, or by address without one', async () => {
      const { store, account, server } = await newSite();
      const { contactUUID } = await server.createContact();
      const byUUID = await server.getContact(contactUUID);
      const caller = { account, token: server.token, browser: false, include: [] };
      expect(await store.getContact({ ...caller, address: ann })).toEqual(byUUID);
      await expectRefusal(store.getContact({ ...caller, address: ben }), 'unknown_contact');
    });

    test('rejects an unknown contactUUID of any form', async () => {
      const { server } = await newSite();
      await server.createContact();
      for (const nobody of ['nobody', '', '%', '__proto__', ann]) {
        await expectRefusal(server.getContact(nobody), 'unknown_contact', 'contactUUID');
      }
    });

    test('rejects a handle from a server token, and a contactUUID from a browser token', async () => {
      const { server, browser } = await newSite();
      const { contactUUID: handle } = await browser.createContact();
      const { contactUUID } = await server.createContact();
      await expectRefusal(server.getContact(handle), 'unknown_contact', 'contactUUID');
      await expectRefusal(browser.getContact(contactUUID), 'unknown_contact', 'contactUUID');
    });

    test('lists the account’s tags, and marks those that the contact has', async () => {
      const { server } = await newSite({
        catalogues: {
          tag: [
            { id: 'b', name: 'B' },
            { id: 'a', name: 'A' },
          ],
        },
      });
      const { contactUUID } = await server.createContact({ tags: ['a', 'c'] });
      expect((await server.getContact(contactUUID)).tags).toEqual([
        { tagID: 'a', tagName: 'A', opt: true },
        { tagID: 'b', tagName: 'B', opt: false },
        { tagID: 'c', tagName: 'c', opt: true },
      ]);
    });

    test('shows the profile’s current name', async () => {
      const { server, change } = await newSite();
      const { contactUUID } = await server.createContact({ fields: { contactProfileID: 'retail' } });
      await change({ catalogues: { profile: [{ id: 'retail', name: 'Retail' }] } });
      expect(await server.getContact(contactUUID)).toMatchObject({ contactProfileName: 'Retail' });
    });

    test('distinguishes tags, attributes and profiles, whatever their characters', async () => {
      const { server, browser, update } = await newSite({ browserCatalogue: true });
      const values = { tags: hostile, attributes: hostile.map((id) => [id, `value of ${id}`] as const) };
      const { contactUUID } = await server.createContact({ ...values, fields: { contactProfileID: '__proto__' } });
      const contact = await server.getContact(contactUUID);
      expect(new Set(contact.tags.filter(({ opt }) => opt).map(({ tagID }) => tagID))).toEqual(new Set(hostile));
      expect(new Map(contact.attributes)).toEqual(new Map(values.attributes));
      expect(contact).toMatchObject({ fields: { contactProfileID: '__proto__' }, contactProfileName: '__proto__' });

      const { contactUUID: handle } = await browser.createContact({ ...values, address: ben });
      const claimed = await browser.getContact(handle);
      expect(new Set(claimed.tags.map(({ tagID }) => tagID))).toEqual(new Set(hostile));
      expect(new Map(claimed.attributes)).toEqual(new Map(values.attributes));

      await update({ contactUUID, removedTags: ['__proto__'], attributes: [['constructor', null]] });
      const after = await server.getContact(contactUUID);
      expect(after.tags.find(({ tagID }) => tagID === '__proto__')).toMatchObject({ opt: false });
      expect(after.attributes.map(([id]) => id)).not.toContain('constructor');
      expect(after.attributes).toHaveLength(hostile.length - 1);
    });
  });

  describe('updateContact', () => {
    test('writes only the given values, and returns which of them changed', async () => {
      const { server, update, time } = await newSite();
      const { contactUUID } = await server.createContact({
        fields: filled,
        tags: ['vip'],
        attributes: [['size', 'XL']],
      });
      const change = {
        contactUUID,
        fields: { contactFirstname: 'Anna', contactTitle: null, contactLastname: 'O’Neil' },
        addedTags: ['new'],
        removedTags: ['vip'],
        attributes: [
          ['size', null],
          ['colour', 'red'],
        ] as const,
        time: time + 1,
      };
      const { updated, ...result } = await update(change);
      expect(result).toEqual({ contactUUID });
      expect(new Set(updated)).toEqual(new Set(['contactFirstname', 'contactTitle', 'contactTagID', 'contactAttr']));
      expect(await server.getContact(contactUUID)).toMatchObject({
        fields: { ...filled, contactFirstname: 'Anna', contactTitle: '' },
        tags: [
          { tagID: 'new', opt: true },
          { tagID: 'vip', opt: false },
        ],
        attributes: [['colour', 'red']],
        createdTime: time,
        updatedTime: time + 1,
      });
    });

    test('changes nothing if all values are the same', async () => {
      const { server, update, time } = await newSite();
      const { contactUUID } = await server.createContact({
        fields: filled,
        tags: ['vip'],
        attributes: [['size', 'XL']],
      });
      const before = await server.getContact(contactUUID);
      const same = {
        contactUUID,
        address: ann,
        fields: filled,
        addedTags: ['vip'],
        removedTags: ['unknown'],
        attributes: [
          ['size', 'XL'],
          ['colour', null],
        ] as const,
        contactStatus: 'active' as const,
        time: time + 1,
      };
      expect(await update(same)).toEqual({ contactUUID, updated: [] });
      expect(await server.getContact(contactUUID)).toEqual(before);
    });

    test('finds the contact by address without a contactUUID', async () => {
      const { server, update } = await newSite();
      const { contactUUID } = await server.createContact();
      expect(await update({ address: ann, fields: { contactFirstname: 'Ann' } })).toEqual({
        contactUUID,
        updated: ['contactFirstname'],
      });
      await expectRefusal(update({ address: ben, fields: {} }), 'unknown_contact', 'contactEmailaddress');
      await expectRefusal(update({ contactUUID: 'nobody' }), 'unknown_contact', 'contactUUID');
    });

    test('changes a contact’s address', async () => {
      const { server, update } = await newSite();
      const { contactUUID } = await server.createContact();
      expect(await update({ contactUUID, address: ben })).toEqual({ contactUUID, updated: ['contactEmailaddress'] });
      expect(await server.getContact(contactUUID)).toMatchObject({ fields: { contactEmailaddress: ben } });
      expect(await server.createContact({ address: ben })).toEqual({ exists: true, contactUUID });
      expect((await server.createContact({ address: ann })).exists).toBe(false);
    });

    test('rejects another contact’s address, and changes nothing', async () => {
      const { store, account, server, update } = await newSite();
      const { contactUUID } = await server.createContact({ tags: ['vip'] });
      await server.createContact({ address: ben });
      const before = await server.getContact(contactUUID);
      const change = {
        contactUUID,
        address: ben,
        fields: { contactFirstname: 'Lost', contactProfileID: 'lost' },
        addedTags: ['lost'],
        removedTags: ['vip'],
        attributes: [['lost', 'lost']] as const,
        contactStatus: 'archived' as const,
      };
      await expectRefusal(update(change), 'email_taken', 'contactEmailaddress');
      expect(await server.getContact(contactUUID)).toEqual(before);
      const { catalogues } = await store.getAccount(account);
      expect([...catalogues.tag, ...catalogues.attr, ...catalogues.profile].map(({ id }) => id)).toEqual(['vip']);
    });

    test.each(['archived', 'unsubscribed'] as const)('makes a contact %s, and active again', async (contactStatus) => {
      const { server, browser, update } = await newSite();
      const { contactUUID } = await server.createContact();
      expect(await update({ contactUUID, contactStatus })).toMatchObject({ updated: ['contactStatus'] });
      expect(await server.getContact(contactUUID)).toMatchObject({ contactStatus });
      expect((await server.createContact()).contactUUID).toBe(contactUUID);
      await browser.createContact();
      expect(await server.getContact(contactUUID)).toMatchObject({ contactStatus });
      await update({ contactUUID, contactStatus: 'active' });
      expect(await server.getContact(contactUUID)).toMatchObject({ contactStatus: 'active' });
    });

    test('lets a server set a cleared field again', async () => {
      const { server, update } = await newSite();
      const { contactUUID } = await server.createContact({
        fields: filled,
        tags: ['vip'],
        attributes: [['size', 'XL']],
      });
      await update({
        contactUUID,
        fields: { contactFirstname: null },
        removedTags: ['vip'],
        attributes: [['size', null]],
      });
      await server.createContact({ fields: { contactFirstname: 'Ann' }, tags: ['vip'], attributes: [['size', 'S']] });
      expect(await server.getContact(contactUUID)).toMatchObject({
        fields: { contactFirstname: 'Ann' },
        tags: [{ tagID: 'vip', opt: true }],
        attributes: [['size', 'S']],
      });
    });
  });
};
