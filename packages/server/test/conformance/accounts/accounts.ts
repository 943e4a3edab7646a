import { describe, expect, test } from 'vitest';
import { rowBytes } from '../../../src/store/rules/row-bytes.ts';
import type { Site } from '../../fixtures/site.ts';
import { accountContact, ann, ben, expectRefusal, newAccount, newID } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

const settings = {
  accountName: 'Bücher & Söhne "O’Brien"',
  accountOrigin: ['https://shop.example', 'https://*.shop.example'],
  accountTimezone: 'Europe/London',
  accountCurrency: 'GBP',
  strict: true,
  enrich: false,
  defaultProfileID: 'customer',
  userIDIsEmailaddress: true,
};

export const describeAccounts = (newSite: NewSite): void => {
  describe('accounts', () => {
    test('are found only by accountUUID', async () => {
      const { store, account, accountUUID } = await newSite();
      expect(await store.findAccount(accountUUID)).toBe(account);
      for (const other of ['', accountUUID.toUpperCase(), `${accountUUID} `, '%', '__proto__']) {
        expect(await store.findAccount(other)).toBeUndefined();
      }
    });

    test('are listed in order of creation', async () => {
      const first = await newSite({ accountName: 'First' });
      const second = await newSite({ accountName: 'Second' });
      const list = await first.store.listAccounts();
      expect(list.slice(-2)).toEqual([
        { account: first.account, accountUUID: first.accountUUID, accountName: 'First', createdTime: first.time },
        { account: second.account, accountUUID: second.accountUUID, accountName: 'Second', createdTime: second.time },
      ]);
    });

    test('have the fields that they were created with', async () => {
      const { store, account, accountUUID, time } = await newSite(settings);
      expect(await store.getAccount(account)).toMatchObject({ account, accountUUID, ...settings, createdTime: time });
    });

    test('have no data at first', async () => {
      const { store, account } = await newSite();
      const { catalogues, usage } = await store.getAccount(account);
      expect(catalogues).toEqual({ profile: [], tag: [], attr: [], event: [] });
      expect(usage).toEqual({ contacts: 0, users: 0, events: 0 });
    });

    test('are not found by an unknown accountUUID', async () => {
      const { store } = await newSite();
      await expectRefusal(store.getAccount(1_000_000), 'unknown_account');
    });

    test('change only the given fields', async () => {
      const { store, account, change } = await newSite(settings);
      const before = await store.getAccount(account);
      await change({});
      expect(await store.getAccount(account)).toEqual(before);
      await change({ accountName: 'Another name' });
      expect(await store.getAccount(account)).toEqual({ ...before, accountName: 'Another name' });
      await change({
        accountOrigin: [],
        accountTimezone: 'Asia/Tokyo',
        accountCurrency: '',
        strict: false,
        enrich: true,
        defaultProfileID: '',
        userIDIsEmailaddress: false,
      });
      expect(await store.getAccount(account)).toEqual({
        ...before,
        accountName: 'Another name',
        accountOrigin: [],
        accountTimezone: 'Asia/Tokyo',
        accountCurrency: '',
        strict: false,
        enrich: true,
        defaultProfileID: '',
        userIDIsEmailaddress: false,
      });
    });

    test('return the names of the fields whose values changed', async () => {
      const { change } = await newSite(settings);
      const changes = {
        accountName: 'Another name',
        accountOrigin: settings.accountOrigin,
        strict: !settings.strict,
        catalogues: { tag: [{ id: 'vip', name: 'Important' }], event: [], attr: [{ id: 'size' }] },
      };
      expect(await change(changes)).toEqual({ updated: ['accountName', 'strict', 'tag', 'attr'], contacts: [] });
      expect(await change(changes)).toEqual({ updated: [], contacts: [] });
      const tag = [{ id: 'vip', name: 'Very important' }];
      const attr = [{ id: 'size', type: 'text' }];
      expect(await change({ catalogues: { tag, attr } })).toEqual({ updated: ['tag'], contacts: [] });
      const contacts = [accountContact({ address: ann, addedTags: ['new'] })];
      expect(await change({ catalogues: { tag }, contacts })).toMatchObject({ updated: [] });
      const removed = [{ id: 'size', remove: true }];
      expect(await change({ catalogues: { attr: removed } })).toEqual({ updated: ['attr'], contacts: [] });
      expect(await change({ catalogues: { attr: removed } })).toEqual({ updated: [], contacts: [] });
    });

    test('count their contacts, users and events', async () => {
      const { store, account, server, browser, merge } = await newSite();
      const { contactUUID } = await server.createContact();
      await browser.createContact({ userUUID: 'another-browser-1', address: ben });
      await server.log({}, {}, { contactUUID, userUUID: null });
      const usage = async () => (await store.getAccount(account)).usage;
      expect(await usage()).toEqual({ contacts: 2, users: 2, events: 3 });
      const { contacts } = await store.searchContact({ account, address: ben, limit: 1 });
      await merge(contactUUID, contacts[0]?.contactUUID as string);
      expect(await usage()).toEqual({ contacts: 1, users: 2, events: 3 });
    });
  });

  describe('an account’s stored bytes', () => {
    const bytesOf = async ({ store, account }: Site) => (await store.getAccount(account)).storedBytes;

    test('grow with its events, users and contacts, and with the lengths of their values', async () => {
      const site = await newSite();
      expect(await bytesOf(site)).toBe(0);
      await site.server.log({ attributes: [] });
      const one = await bytesOf(site);
      expect(one).toBe(rowBytes.event + rowBytes.user);
      await site.server.log({ attributes: [['text', 'x'.repeat(500)]] }, { attributes: [] });
      expect(await bytesOf(site)).toBe(one + 2 * rowBytes.event + 504);
      // Sends a duplicate, which stores nothing.
      await site.server.log({ eventUUID: 'event-of-bytes', attributes: [] });
      await site.server.log({ eventUUID: 'event-of-bytes', attributes: [['text', 'x'.repeat(500)]] });
      const events = await bytesOf(site);
      expect(events).toBe(one + 3 * rowBytes.event + 504);
      await site.server.createContact({ attributes: [['size', 'x'.repeat(700)]] });
      const contact = (await bytesOf(site)) - events;
      expect(contact).toBeGreaterThan(rowBytes.contact + 700);
      expect(contact).toBeLessThan(rowBytes.contact + 1_200);
      await site.browser.createContact({ userUUID: 'another-browser-1', attributes: [['colour', 'x'.repeat(900)]] });
      const claim = (await bytesOf(site)) - events - contact;
      expect(claim).toBeGreaterThan(rowBytes.user + rowBytes.claim + 900);
      expect(claim).toBeLessThan(rowBytes.user + rowBytes.claim + 1_400);
    });

    test('are the same when all accounts are measured together', async () => {
      const sites = [await newSite(), await newSite()] as const;
      await sites[0].server.log({});
      await sites[1].browser.createContact();
      const sizes = await sites[0].store.measureAccounts();
      for (const site of sites) {
        const { account, accountUUID } = site;
        const size = sizes.find((each) => each.account === account);
        expect(size).toEqual({ account, accountUUID, storedBytes: await bytesOf(site) });
      }
    });

    test('shrink when a contact is erased', async () => {
      const site = await newSite();
      await site.server.log({ userUUID: 'another-browser-1', attributes: [] });
      const before = await bytesOf(site);
      const { contactUUID } = await site.browser.createContact({ attributes: [['size', 'x'.repeat(900)]] });
      await site.server.log({ attributes: [] }, { attributes: [] });
      const own = await site.store.searchContact({ account: site.account, limit: 1 });
      expect(contactUUID).not.toBe(own.contacts[0]?.contactUUID);
      await site.erase(own.contacts[0]?.contactUUID as string);
      // Waits until only the user is left. The user stays, but no longer belongs to a contact.
      await expect.poll(() => bytesOf(site)).toBe(before + rowBytes.user);
    });
  });

  describe('contacts in an account’s request body', () => {
    test('are created with the account', async () => {
      const { store, time } = await newSite();
      const request = newAccount({
        time,
        contacts: [
          accountContact({
            address: ann,
            fields: { contactFirstname: 'Ann' },
            addedTags: ['vip'],
            newContactUUID: newID('ann'),
          }),
          accountContact({ address: ben, attributes: [['size', 'XL']] }),
        ],
      });
      const outcomes = await store.createAccount(request);
      expect(outcomes).toEqual(
        request.contacts.map(({ newContactUUID }) => ({ exists: false, contactUUID: newContactUUID })),
      );
      const account = (await store.findAccount(request.accountUUID)) as number;
      const caller = { account, token: 0, browser: false, include: [] };
      expect(await store.getContact({ ...caller, address: ann })).toMatchObject({
        contactUUID: request.contacts[0]?.newContactUUID,
        fields: { contactEmailaddress: ann, contactFirstname: 'Ann', contactLastname: '' },
        tags: [{ tagID: 'vip', tagName: 'vip', opt: true }],
        claimed: [],
        createdTime: time,
      });
      expect(await store.getContact({ ...caller, address: ben })).toMatchObject({ attributes: [['size', 'XL']] });
    });

    test('are updated if their address or contactUUID exists', async () => {
      const { server, change } = await newSite();
      const { contactUUID } = await server.createContact({
        fields: { contactFirstname: 'Ann', contactLastname: 'Lee' },
      });
      expect(
        (await change({ contacts: [accountContact({ address: ann, fields: { contactFirstname: 'Anna' } })] })).contacts,
      ).toEqual([{ exists: true, contactUUID }]);
      const changed = accountContact({ contactUUID, address: ben, fields: { contactLastname: null } });
      expect((await change({ contacts: [changed] })).contacts).toEqual([{ exists: true, contactUUID }]);
      expect(await server.getContact(contactUUID)).toMatchObject({
        fields: { contactFirstname: 'Anna', contactLastname: '', contactEmailaddress: ben },
      });
    });

    test('stay unchanged if the request body does not contain them', async () => {
      const { server, change } = await newSite();
      const { contactUUID } = await server.createContact();
      await change({ contacts: [accountContact({ address: ben })] });
      expect(await server.getContact(contactUUID)).toMatchObject({ contactStatus: 'active' });
    });

    test('replace a browser’s claim: the claimed address becomes the contact’s own', async () => {
      const { store, account, browser, change } = await newSite();
      await browser.createContact();
      const before = await store.getContact({ account, token: 0, browser: false, address: ann, include: [] });
      expect(before.claimed).toEqual(['contactEmailaddress']);
      await change({ contacts: [accountContact({ address: ann })] });
      const after = await store.getContact({ account, token: 0, browser: false, address: ann, include: [] });
      expect(after.claimed).toEqual([]);
    });

    test('are rejected one by one, without side effects, and the others are stored', async () => {
      const { store, account, server, change } = await newSite();
      const { contactUUID } = await server.createContact({ address: ann });
      await server.createContact({ address: ben });
      const { contacts: outcomes } = await change({
        contacts: [
          accountContact({ contactUUID, address: ben, addedTags: ['lost'], fields: { contactFirstname: 'Lost' } }),
          accountContact({ contactUUID: 'nobody', addedTags: ['lost'] }),
          accountContact({ address: 'new@example.com', addedTags: ['kept'] }),
        ],
      });
      expect(outcomes).toEqual([
        { refused: 'email_taken', field: 'contactEmailaddress', message: expect.any(String) },
        { refused: 'unknown_contact', field: 'contactUUID', message: expect.any(String) },
        { exists: false, contactUUID: expect.any(String) },
      ]);
      expect(await server.getContact(contactUUID)).toMatchObject({
        fields: { contactEmailaddress: ann, contactFirstname: '' },
      });
      const { catalogues } = await store.getAccount(account);
      expect(catalogues.tag.map(({ id }) => id)).toEqual(['kept']);
    });

    test('are rejected if they refer to an erased contact', async () => {
      const { server, erase, change } = await newSite();
      const { contactUUID } = await server.createContact();
      await erase(contactUUID);
      expect((await change({ contacts: [accountContact({ contactUUID })] })).contacts).toMatchObject([
        { refused: 'erased_contact' },
      ]);
    });
  });
};
