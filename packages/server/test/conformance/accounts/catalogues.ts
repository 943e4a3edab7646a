import { robotMark } from '@firsthand/contract/identifiers';
import { labelIDs } from '@firsthand/contract/labels';
import { limits } from '@firsthand/contract/limits';
import { describe, expect, test } from 'vitest';
import { type CatalogueKind, catalogueKinds } from '../../../src/store/store.ts';
import type { Site } from '../../fixtures/site.ts';
import { accountContact, ann, ben, expectRefusal, newAccount, phone } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

const listIDs = async ({ store, account }: Site, kind: CatalogueKind) =>
  (await store.getAccount(account)).catalogues[kind].map(({ id }) => id);

const full = Array.from({ length: limits.idsPerCatalogue }, (_, index) => ({ id: `id-${index}` }));

export const describeCatalogues = (newSite: NewSite): void => {
  describe('catalogues', () => {
    test('list an account’s entries: tags, profiles and attributes by ID, events by number', async () => {
      const { store, account, change } = await newSite({
        catalogues: {
          profile: [{ id: 'retail', name: 'Retail' }, { id: 'b2b' }],
          tag: [{ id: 'vip', name: 'Very important', browser: false }],
          attr: [{ id: 'size' }, { id: 'born', name: 'Date of birth', type: 'date' }],
        },
      });
      await change({ catalogues: { event: [{ id: '10', name: 'Bought' }, { id: '9' }, { id: '100' }] } });
      expect((await store.getAccount(account)).catalogues).toEqual({
        profile: [
          { id: 'b2b', name: 'b2b', browser: true, byBrowser: false, type: '', mergedInto: null },
          { id: 'retail', name: 'Retail', browser: true, byBrowser: false, type: '', mergedInto: null },
        ],
        tag: [{ id: 'vip', name: 'Very important', browser: false, byBrowser: false, type: '', mergedInto: null }],
        attr: [
          { id: 'born', name: 'Date of birth', browser: true, byBrowser: false, type: 'date', mergedInto: null },
          { id: 'size', name: 'size', browser: true, byBrowser: false, type: 'text', mergedInto: null },
        ],
        event: [
          { id: '9', name: '9', browser: true, byBrowser: false, type: '', mergedInto: null },
          { id: '10', name: 'Bought', browser: true, byBrowser: false, type: '', mergedInto: null },
          { id: '100', name: '100', browser: true, byBrowser: false, type: '', mergedInto: null },
        ],
      });
      const { catalogues } = await store.getAccount(account);
      for (const kind of catalogueKinds) expect(await store.listCatalogue({ account, kind })).toEqual(catalogues[kind]);
    });

    test('change only the given fields in an entry', async () => {
      const { store, account, change } = await newSite({
        catalogues: { attr: [{ id: 'born', name: 'Date of birth', type: 'date', browser: false }] },
      });
      const attr = async () => (await store.getAccount(account)).catalogues.attr[0];
      await change({ catalogues: { attr: [{ id: 'born' }] } });
      expect(await attr()).toEqual({
        id: 'born',
        name: 'Date of birth',
        type: 'date',
        browser: false,
        byBrowser: false,
        mergedInto: null,
      });
      await change({ catalogues: { attr: [{ id: 'born', name: 'Birthday' }] } });
      expect(await attr()).toEqual({
        id: 'born',
        name: 'Birthday',
        type: 'date',
        browser: false,
        byBrowser: false,
        mergedInto: null,
      });
      await change({ catalogues: { attr: [{ id: 'born', type: 'text', browser: true }] } });
      expect(await attr()).toEqual({
        id: 'born',
        name: 'Birthday',
        type: 'text',
        browser: true,
        byBrowser: false,
        mergedInto: null,
      });
    });

    test('no longer list a removed entry, which frees its place and can be added again', async () => {
      const site = await newSite({ strict: true, catalogues: { tag: full, event: [{ id: '7', name: 'Bought' }] } });
      await site.change({
        catalogues: { tag: [{ id: 'id-5', remove: true }, { id: 'new' }], event: [{ id: '7', remove: true }] },
      });
      expect(await listIDs(site, 'tag')).toHaveLength(limits.idsPerCatalogue);
      expect(await listIDs(site, 'tag')).not.toContain('id-5');
      expect(await listIDs(site, 'event')).toEqual([]);
      expect(await site.server.log({ eventID: 7 })).toMatchObject([{ refused: 'unknown_id' }]);
      // Repeats the removal, which has no effect.
      await site.change({ catalogues: { event: [{ id: '7', remove: true }] } });
      await site.change({ catalogues: { event: [{ id: '7' }] } });
      expect((await site.store.getAccount(site.account)).catalogues.event).toMatchObject([{ id: '7', name: '7' }]);
      expect(await site.server.log({ eventID: 7 })).toEqual([{ kept: true }]);
    });

    test('add an unknown ID on its first use, with the ID as its name', async () => {
      const site = await newSite();
      await site.browser.log({ eventID: 7 });
      await site.server.log({ attributes: [['size', 'XL']], eventID: 7 });
      await site.server.createContact({
        fields: { contactProfileID: 'retail' },
        tags: ['vip'],
        attributes: [['colour', 'red']],
      });
      await site.server.createContact({ address: ben, attributes: [['shoes', '44']] });
      await site.update({ address: ben, addedTags: ['late'], fields: { contactProfileID: 'b2b' } });
      await site.change({ contacts: [accountContact({ address: ann, addedTags: ['listed'] })] });
      const { catalogues } = await site.store.getAccount(site.account);
      expect(catalogues.event).toEqual([
        { id: '7', name: '7', browser: true, byBrowser: false, type: '', mergedInto: null },
      ]);
      expect(catalogues.attr.map(({ id, type }) => [id, type])).toEqual([
        ['colour', 'text'],
        ['shoes', 'text'],
        ['size', 'text'],
      ]);
      expect(catalogues.tag.map(({ name }) => name)).toEqual(['late', 'listed', 'vip']);
      expect(catalogues.profile.map(({ name }) => name)).toEqual(['b2b', 'retail']);
    });

    test('list the event IDs that browser tokens use; other IDs are stored only in claims and events', async () => {
      const site = await newSite();
      const attributes = [['<b>made up', 'x']] as const;
      expect(await site.browser.log({ eventID: 7, attributes })).toEqual([{ kept: true }]);
      const contactFields = { fields: { contactProfileID: '<b>made up' }, tags: ['<b>made up'], attributes };
      await site.browser.createContact(contactFields);
      await site.browser.createContact({ ...contactFields, address: ben, verified: true });
      for (const kind of ['profile', 'tag', 'attr'] as const) expect(await listIDs(site, kind)).toEqual([]);
      expect(await listIDs(site, 'event')).toEqual(['7']);
      expect(await site.events()).toMatchObject([{ eventID: 7, attributes }]);
      const { account, server } = site;
      const contact = { account, token: server.token, browser: false, address: ann, include: ['claim'] as const };
      const [claim] = (await site.store.getContact(contact)).claims ?? [];
      expect(claim).toMatchObject({ ...contactFields, contactProfileName: '<b>made up' });
      // Creates a contact that has none of these values.
      const { contactUUID } = await server.createContact({ address: 'cleo@example.com', userUUID: phone });
      expect((await server.getContact(contactUUID)).tags).toEqual([]);
    });

    test('list all IDs that browser tokens use once the account allows them to add IDs', async () => {
      const site = await newSite();
      const contactFields = {
        fields: { contactProfileID: 'retail' },
        tags: ['vip'],
        attributes: [['size', 'XL']] as const,
      };
      await site.browser.createContact(contactFields);
      expect((await site.store.getAccount(site.account)).browserCatalogue).toBe(false);
      await site.change({ browserCatalogue: true });
      expect((await site.store.getAccount(site.account)).browserCatalogue).toBe(true);
      await site.browser.createContact(contactFields);
      await site.browser.log({ attributes: [['colour', 'red']] });
      expect(await listIDs(site, 'profile')).toEqual(['retail']);
      expect(await listIDs(site, 'tag')).toEqual(['vip']);
      expect(await listIDs(site, 'attr')).toEqual(['colour', 'size']);
      await site.change({ browserCatalogue: false });
      await site.browser.createContact({ tags: ['more'] });
      expect(await listIDs(site, 'tag')).toEqual(['vip']);
    });

    test('withhold from browsers the IDs that a server first used for a contact, until the account allows browsers to use them', async () => {
      const site = await newSite();
      const contactFields = {
        fields: { contactProfileID: 'retail' },
        tags: ['vip'],
        attributes: [['credit', '1']] as const,
      };
      await site.server.createContact(contactFields);
      await site.update({ address: ann, addedTags: ['late'] });
      await site.change({ contacts: [accountContact({ address: ben, addedTags: ['along'] })] });
      const { catalogues } = await site.store.getAccount(site.account);
      for (const { browser } of [...catalogues.tag, ...catalogues.attr]) expect(browser).toBe(false);
      // Expects browsers to be allowed to use the profile: every createContact needs a profile, and a profile from a
      // page never replaces another.
      expect(catalogues.profile).toMatchObject([{ id: 'retail', browser: true }]);
      expect(catalogues.tag.map(({ id }) => id)).toEqual(['along', 'late', 'vip']);
      await expectRefusal(site.browser.createContact({ tags: ['vip'] }), 'id_not_for_browser', 'contactTagID');
      await site.change({ catalogues: { tag: [{ id: 'vip', browser: true }] } });
      expect(await site.browser.createContact({ tags: ['vip'], userUUID: phone })).toMatchObject({ exists: false });
    });

    test('let browsers use the IDs of a server’s events, and all IDs if browsers are allowed to add to the catalogue', async () => {
      const site = await newSite();
      const event = { eventID: 7, attributes: [['price', '48']] as const };
      await site.server.log(event);
      expect(await site.browser.log(event)).toEqual([{ kept: true }]);
      const open = await newSite({ browserCatalogue: true });
      await open.server.createContact({ tags: ['vip'] });
      expect(await open.browser.createContact({ tags: ['vip'], userUUID: phone })).toMatchObject({ exists: false });
    });

    test('drop entries that only browser tokens used, to make room for the account’s own', async () => {
      const site = await newSite({ browserCatalogue: true });
      for (let batch = 0; batch < 11; batch += 1) {
        const tags = Array.from({ length: 100 }, (_, nth) => `junk-${batch}-${nth}`);
        await site.browser.createContact({ tags });
      }
      const ids = async () => (await site.store.getAccount(site.account)).catalogues.tag.map(({ id }) => id);
      expect(await ids()).toHaveLength(1_000);
      await site.change({
        catalogues: {
          tag: [
            { id: 'vip', browser: false },
            { id: 'junk-0-0', name: 'Kept' },
          ],
        },
      });
      await site.server.createContact({ address: ben, userUUID: phone, tags: ['regular'] });
      const tagIDs = await ids();
      expect(tagIDs).toHaveLength(1_000);
      expect(tagIDs).toEqual(expect.arrayContaining(['vip', 'junk-0-0', 'regular']));
    });

    test('keep an ID’s name when the ID is used again', async () => {
      const site = await newSite({ catalogues: { event: [{ id: '7', name: 'Bought' }] } });
      await site.server.log({ eventID: 7 });
      expect((await site.store.getAccount(site.account)).catalogues.event).toMatchObject([{ id: '7', name: 'Bought' }]);
      expect(await site.events()).toMatchObject([{ eventName: 'Bought' }]);
    });

    test('show events under their current names', async () => {
      const site = await newSite();
      await site.server.log({ eventID: 7 });
      expect(await site.events()).toMatchObject([{ eventID: 7, eventName: '7' }]);
      await site.change({ catalogues: { event: [{ id: '7', name: 'Bought' }] } });
      expect(await site.events()).toMatchObject([{ eventID: 7, eventName: 'Bought' }]);
    });

    test('do not add a tag or an attribute when it is only removed from a contact', async () => {
      const site = await newSite();
      const { contactUUID } = await site.server.createContact();
      await site.update({
        contactUUID,
        removedTags: ['gone'],
        attributes: [['gone', null]],
        fields: { contactProfileID: null },
      });
      expect(await listIDs(site, 'tag')).toEqual([]);
      expect(await listIDs(site, 'attr')).toEqual([]);
      expect(await listIDs(site, 'profile')).toEqual([]);
    });

    test('distinguish all IDs, no matter which characters they contain', async () => {
      const ids = ['__proto__', 'constructor', "o'neil", 'a"b', 'ünïcode ☃ 🎉', '%', 'A', 'a'];
      const site = await newSite();
      await site.server.log({ attributes: ids.map((id) => [id, id] as const) });
      expect(new Set(await listIDs(site, 'attr'))).toEqual(new Set(ids));
      await site.change({ catalogues: { tag: ids.map((id) => ({ id, name: `tag ${id}` })) } });
      const { catalogues } = await site.store.getAccount(site.account);
      expect(Object.fromEntries(catalogues.tag.map(({ id, name }) => [id, name]))).toEqual(
        Object.fromEntries(ids.map((id) => [id, `tag ${id}`])),
      );
    });
  });

  describe('a full catalogue', () => {
    test('accepts no more entries, but contacts and events still store unlisted IDs', async () => {
      const site = await newSite({ catalogues: { attr: full, tag: full, profile: full } });
      await site.browser.log({ attributes: [['beyond', 'yes']], eventUUID: 'beyond-the-list' });
      const { contactUUID } = await site.server.createContact({
        fields: { contactProfileID: 'beyond' },
        tags: ['beyond'],
        attributes: [['beyond', 'yes']],
      });
      for (const kind of ['attr', 'tag', 'profile'] as const) {
        expect(await listIDs(site, kind)).toHaveLength(limits.idsPerCatalogue);
        expect(await listIDs(site, kind)).not.toContain('beyond');
      }
      expect(await site.events({ attrID: 'beyond', attrValue: 'yes' })).toMatchObject([
        { eventUUID: 'beyond-the-list' },
      ]);
      const contact = await site.server.getContact(contactUUID);
      expect(contact).toMatchObject({
        fields: { contactProfileID: 'beyond' },
        contactProfileName: 'beyond',
        attributes: [['beyond', 'yes']],
      });
      expect(contact.tags.filter(({ opt }) => opt)).toEqual([{ tagID: 'beyond', tagName: 'beyond', opt: true }]);
    });

    test('accepts entries up to its limit', async () => {
      const site = await newSite({
        catalogues: { event: full.slice(1).map((_, index) => ({ id: String(index + 1) })) },
      });
      await site.server.log({ eventID: 5_000 }, { eventID: 5_001 });
      expect(await listIDs(site, 'event')).toHaveLength(limits.idsPerCatalogue);
      expect((await listIDs(site, 'event')).at(-1)).toBe('5000');
      expect(await site.events()).toMatchObject([
        { eventID: 5_000, eventName: '5000' },
        { eventID: 5_001, eventName: '5001' },
      ]);
    });

    test('accepts changes to its entries, and rejects new entries without any effect', async () => {
      const site = await newSite({ catalogues: { tag: full } });
      await site.change({ catalogues: { tag: [{ id: 'id-0', name: 'Renamed' }] } });
      const change = site.change({
        accountName: 'Lost',
        catalogues: { profile: [{ id: 'lost' }], tag: [{ id: 'one-more' }] },
        contacts: [accountContact({ address: ann })],
      });
      await expectRefusal(change, 'invalid_field', 'tag');
      const { accountName, catalogues, usage } = await site.store.getAccount(site.account);
      expect(accountName).not.toBe('Lost');
      expect(catalogues.profile).toEqual([]);
      expect(catalogues.tag.find(({ id }) => id === 'id-0')).toMatchObject({ name: 'Renamed' });
      expect(usage.contacts).toBe(0);
    });

    test('rejects a new account with too many entries, and creates none', async () => {
      const { store } = await newSite();
      const request = newAccount({ catalogues: { tag: [...full, { id: 'one-more' }] } });
      await expectRefusal(store.createAccount(request), 'invalid_field', 'tag');
      expect(await store.findAccount(request.accountUUID)).toBeUndefined();
    });
  });

  describe('a strict account', () => {
    const catalogues = {
      profile: [{ id: 'retail' }],
      tag: [{ id: 'vip' }],
      attr: [{ id: 'size' }],
      event: [{ id: '1' }],
    };

    test('accepts listed IDs', async () => {
      const { server, browser, update } = await newSite({ strict: true, catalogues });
      expect(await browser.log({ eventID: 1, attributes: [['size', 'XL']] })).toEqual([{ kept: true }]);
      const { contactUUID } = await server.createContact({
        fields: { contactProfileID: 'retail' },
        tags: ['vip'],
        attributes: [['size', 'XL']],
      });
      expect(await server.getContact(contactUUID)).toMatchObject({ attributes: [['size', 'XL']] });
      await update({ contactUUID, removedTags: ['vip', 'unlisted'], attributes: [['unlisted', null]] });
    });

    test('accepts labels and the bot mark without listing their IDs', async () => {
      const { browser, events } = await newSite({ strict: true, catalogues });
      const labels = [...Object.values(labelIDs), robotMark.attrID].map(
        (attrID) => [attrID, 'of the service'] as const,
      );
      expect(await browser.log({ attributes: labels })).toEqual([{ kept: true }]);
      expect((await events())[0]?.attributes).toEqual(labels);
    });

    test('rejects an event with an unlisted ID, and returns the field’s name', async () => {
      const site = await newSite({ strict: true, catalogues });
      expect(
        await site.server.log(
          { eventID: 2 },
          {
            attributes: [
              ['size', 'XL'],
              ['colour', 'red'],
            ],
          },
          { eventUUID: 'the-only-one' },
        ),
      ).toEqual([
        { kept: false, refused: 'unknown_id', field: 'eventID', message: expect.any(String) },
        { kept: false, refused: 'unknown_id', field: 'eventAttrArray[1].attrID', message: expect.any(String) },
        { kept: true },
      ]);
      expect(await site.events()).toMatchObject([{ eventUUID: 'the-only-one' }]);
    });

    test('rejects a contact with an unlisted ID, returns the field’s name, and creates no contact', async () => {
      const { store, account, server, browser, change } = await newSite({ strict: true, catalogues });
      for (const caller of [server, browser]) {
        await expectRefusal(
          caller.createContact({ fields: { contactProfileID: 'b2b' } }),
          'unknown_id',
          'contactProfileID',
        );
        await expectRefusal(caller.createContact({ tags: ['vip', 'vep'] }), 'unknown_id', 'contactTagID');
        await expectRefusal(
          caller.createContact({ attributes: [['colour', '']] }),
          'unknown_id',
          'contactAttr[0].attrID',
        );
      }
      expect(
        (await change({ contacts: [accountContact({ address: ann, addedTags: ['vep'] })] })).contacts,
      ).toMatchObject([{ refused: 'unknown_id', field: 'contactTagID' }]);
      const { usage } = await store.getAccount(account);
      expect(usage).toEqual({ contacts: 0, users: 0, events: 0 });
    });

    test('rejects a change with an unlisted ID, and changes nothing', async () => {
      const { server, update } = await newSite({ strict: true, catalogues });
      const { contactUUID } = await server.createContact();
      const before = await server.getContact(contactUUID);
      const change = { contactUUID, fields: { contactFirstname: 'Ann' }, addedTags: ['vep'] };
      await expectRefusal(update(change), 'unknown_id', 'contactTagID');
      expect(await server.getContact(contactUUID)).toEqual(before);
    });

    test('is strict only while the setting is on', async () => {
      const site = await newSite();
      await site.server.log({ eventID: 1 });
      await site.change({ strict: true });
      expect(await site.server.log({ eventID: 1 }, { eventID: 2 })).toMatchObject([
        { kept: true },
        { refused: 'unknown_id' },
      ]);
      await site.change({ strict: false });
      expect(await site.server.log({ eventID: 2 })).toEqual([{ kept: true }]);
    });
  });

  describe('an ID that is withheld from browsers', () => {
    const serverOnly = { browser: false };
    const catalogues = {
      profile: [{ id: 'staff', ...serverOnly }],
      tag: [{ id: 'vip', ...serverOnly }],
      attr: [{ id: 'credit', ...serverOnly }],
      event: [{ id: '9', ...serverOnly }],
    };

    test('is rejected when sent with a browser token, with the field’s name', async () => {
      const { store, account, browser } = await newSite({ catalogues });
      const refused = 'id_not_for_browser';
      expect(await browser.log({ eventID: 9 }, { attributes: [['credit', '1']] })).toEqual([
        { kept: false, refused, field: 'eventID', message: expect.any(String) },
        { kept: false, refused, field: 'eventAttrArray[0].attrID', message: expect.any(String) },
      ]);
      await expectRefusal(browser.createContact({ tags: ['vip'] }), refused, 'contactTagID');
      await expectRefusal(browser.createContact({ tags: ['vip'], verified: true }), refused, 'contactTagID');
      await expectRefusal(
        browser.createContact({ fields: { contactProfileID: 'staff' } }),
        refused,
        'contactProfileID',
      );
      await expectRefusal(browser.createContact({ attributes: [['credit', '1']] }), refused, 'contactAttr[0].attrID');
      expect((await store.getAccount(account)).usage).toEqual({ contacts: 0, users: 0, events: 0 });
    });

    test('is accepted when sent with a server token', async () => {
      const { server } = await newSite({ catalogues });
      expect(await server.log({ eventID: 9, attributes: [['credit', '1']] })).toEqual([{ kept: true }]);
      const { contactUUID } = await server.createContact({ tags: ['vip'] });
      expect(await server.getContact(contactUUID)).toMatchObject({ tags: [{ tagID: 'vip', opt: true }] });
    });

    test('is rejected immediately after the change', async () => {
      const { browser, change } = await newSite();
      expect(await browser.log({ eventID: 9 })).toEqual([{ kept: true }]);
      await change({ catalogues: { event: [{ id: '9', browser: false }] } });
      expect(await browser.log({ eventID: 9 })).toMatchObject([{ refused: 'id_not_for_browser' }]);
    });
  });
};
