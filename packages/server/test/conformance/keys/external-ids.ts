import { describe, expect, test } from 'vitest';
import type { Site } from '../../fixtures/site.ts';
import { ann, ben, cleo, contactChange, expectRefusal, laptop, newID, phone, tablet } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

const mine = 'customer-1042';
const other = 'customer-2077';

const keysOf = async (site: Site, contactUUID: string) => {
  const { fields, claimed } = await site.server.getContact(contactUUID);
  return { id: fields.contactExternalID, address: fields.contactEmailaddress, claimed };
};
const get = ({ store, account, server }: Site, keys: { externalID?: string; address?: string }) =>
  store.getContact({ account, token: server.token, browser: false, include: [], ...keys });
const find = (site: Site, externalID: string) => get(site, { externalID });
const uuidOf = async (site: Site, keys: { externalID?: string; address?: string }) =>
  (await get(site, keys)).contactUUID;
/** Returns a contact's keys when its server has only an external ID. */
const onlyID = (externalID: string) => ({ externalID, address: undefined, userUUID: null });

export const describeExternalIDs = (newSite: NewSite): void => {
  describe('an external ID from a server', () => {
    test('finds or creates a contact without a user or an address', async () => {
      const site = await newSite();
      const created = await site.server.createContact({ ...onlyID(mine), fields: { contactTitle: 'Dr' } });
      expect(created.exists).toBe(false);
      expect(await site.server.createContact(onlyID(mine))).toEqual({ exists: true, contactUUID: created.contactUUID });
      expect((await site.server.createContact(onlyID(other))).exists).toBe(false);
      expect(await find(site, mine)).toMatchObject({
        contactUUID: created.contactUUID,
        fields: { contactExternalID: mine, contactEmailaddress: '', contactTitle: 'Dr' },
        claimed: [],
      });
      await expectRefusal(find(site, 'customer-0'), 'unknown_contact', 'contactExternalID');
      expect((await site.store.getAccount(site.account)).usage.contacts).toBe(2);
    });

    test('is case-sensitive, and belongs to a different contact in another account', async () => {
      const [one, two] = [await newSite(), await newSite()];
      const results = [
        await one.server.createContact(onlyID('Ann')),
        await one.server.createContact(onlyID('ann')),
        await two.server.createContact(onlyID('ann')),
      ];
      expect(results.map(({ exists }) => exists)).toEqual([false, false, false]);
    });

    test('creates a single contact when sent with an unknown address', async () => {
      const site = await newSite();
      const { contactUUID } = await site.server.createContact({ externalID: mine, address: ann });
      expect(await keysOf(site, contactUUID)).toEqual({ id: mine, address: ann, claimed: [] });
      expect(await site.server.createContact({ externalID: mine, address: ann })).toEqual({
        exists: true,
        contactUUID,
      });
      expect([await uuidOf(site, { externalID: mine }), await uuidOf(site, { address: ann })]).toEqual([
        contactUUID,
        contactUUID,
      ]);
    });

    test('takes precedence over the address, which is stored on the contact that has the ID', async () => {
      const site = await newSite();
      const { contactUUID } = await site.server.createContact({ externalID: mine, address: ann });
      expect((await site.server.createContact({ externalID: mine, address: ben })).contactUUID).toBe(contactUUID);
      expect((await keysOf(site, contactUUID)).address).toBe(ben);
      expect((await site.server.createContact({ address: ann })).exists).toBe(false);
      const before = await site.server.getContact(contactUUID);
      await expectRefusal(
        site.server.createContact({ externalID: mine, address: ann, fields: { contactTitle: 'Dr' } }),
        'email_taken',
        'contactEmailaddress',
      );
      expect(await site.server.getContact(contactUUID)).toEqual(before);
    });

    test('is added to the contact with the address, unless the contact has another external ID', async () => {
      const site = await newSite();
      const { contactUUID } = await site.server.createContact({ address: ann });
      expect(await site.server.createContact({ externalID: mine, address: ann })).toEqual({
        exists: true,
        contactUUID,
      });
      expect((await keysOf(site, contactUUID)).id).toBe(mine);
      await expectRefusal(
        site.server.createContact({ externalID: other, address: ann, fields: { contactTitle: 'Dr' } }),
        'external_id_taken',
        'contactExternalID',
      );
      await expectRefusal(find(site, other), 'unknown_contact');
      expect((await site.server.getContact(contactUUID)).fields.contactTitle).toBe('');
    });

    test('is set, changed and cleared by updateContact, even if it is the last key', async () => {
      const site = await newSite();
      const { contactUUID } = await site.server.createContact(onlyID(mine));
      const change = (changes: object) => site.update({ contactUUID, ...changes });
      expect(await change({ externalID: other })).toEqual({ contactUUID, updated: ['contactExternalID'] });
      await expectRefusal(find(site, mine), 'unknown_contact');
      expect(await change({ externalID: null })).toEqual({ contactUUID, updated: ['contactExternalID'] });
      await expectRefusal(find(site, other), 'unknown_contact');
      expect(await keysOf(site, contactUUID)).toEqual({ id: '', address: '', claimed: [] });
      expect((await site.server.createContact(onlyID(other))).exists).toBe(false);
      await expectRefusal(change({ externalID: other, fields: { contactTitle: 'Dr' } }), 'external_id_taken');
      expect((await site.server.getContact(contactUUID)).fields.contactTitle).toBe('');
      expect((await site.store.getAccount(site.account)).usage.contacts).toBe(2);
    });

    test('identifies the contact to update, even if the update also sets a new address', async () => {
      const site = await newSite();
      const { contactUUID } = await site.server.createContact({ externalID: mine, address: ann });
      expect(await site.update({ externalID: mine, address: ben })).toEqual({
        contactUUID,
        updated: ['contactEmailaddress'],
      });
      expect(await site.update({ externalID: null, address: ben })).toEqual({
        contactUUID,
        updated: ['contactExternalID'],
      });
      await expectRefusal(site.update({ externalID: mine }), 'unknown_contact', 'contactExternalID');
    });

    test('identifies the contact of events, links, merges, searches, exports and erasures', async () => {
      const site = await newSite();
      const { contactUUID } = await site.server.createContact(onlyID(mine));
      const second = await site.server.createContact(onlyID(other));
      const outcomes = await site.server.log(
        { userUUID: null, externalID: mine, eventUUID: 'event-with-id' },
        { userUUID: null, externalID: 'customer-0' },
      );
      expect(outcomes).toMatchObject([{ kept: true }, { refused: 'unknown_contact', field: 'contactExternalID' }]);
      expect(await site.owners({ externalID: mine })).toEqual({ 'event-with-id': contactUUID });
      await expectRefusal(site.events({ externalID: 'customer-0' }), 'unknown_contact', 'contactExternalID');
      const { account, server, store, time } = site;
      const link = { account, token: server.token, userUUID: phone, externalID: mine, time };
      expect(await store.linkUser(link)).toMatchObject({ exists: false, contactUUID });
      const search = (keys: object) => store.searchContact({ account, limit: 10, ...keys });
      expect((await search({ externalID: mine })).contacts.map((each) => each.contactUUID)).toEqual([contactUUID]);
      expect((await search({ externalID: mine, address: ann })).contacts).toEqual([]);
      expect(await store.mergeContact({ account, time, externalID: mine, otherExternalID: other })).toEqual({
        contactUUID,
        otherContactUUID: second.contactUUID,
        mergedTime: time,
      });
      expect(await uuidOf(site, { externalID: other })).toBe(contactUUID);
      expect(await keysOf(site, contactUUID)).toMatchObject({ id: mine });
      await store.unmergeContact({ account, time, otherExternalID: other });
      expect(await uuidOf(site, { externalID: other })).toBe(second.contactUUID);
      await store.eraseContact({ account, time, externalID: mine });
      await expectRefusal(find(site, mine), 'unknown_contact', 'contactExternalID');
      await expectRefusal(site.update({ externalID: mine }), 'unknown_contact', 'contactExternalID');
      expect((await site.server.createContact(onlyID(mine))).exists).toBe(false);
    });

    test('identifies the merged person, and can be sent together with the person’s address', async () => {
      const site = await newSite();
      const a = await site.server.createContact(onlyID(mine));
      const b = await site.server.createContact({ address: ann });
      await site.merge(a.contactUUID, b.contactUUID);
      expect(await keysOf(site, b.contactUUID)).toEqual({ id: mine, address: ann, claimed: [] });
      const again = await site.server.createContact({ externalID: mine, address: ann });
      expect(again).toEqual({ exists: true, contactUUID: a.contactUUID });
      await expectRefusal(site.server.createContact({ externalID: other, address: ann }), 'external_id_taken');
      await site.unmerge(b.contactUUID);
      expect(await keysOf(site, a.contactUUID)).toMatchObject({ id: mine, address: '' });
      expect(await keysOf(site, b.contactUUID)).toMatchObject({ id: '', address: ann });
    });

    test('finds, creates and changes a contact in an account’s request body', async () => {
      const site = await newSite();
      const body = (changes: object) => {
        const contact = { ...contactChange(), newContactUUID: newID('contact'), ...changes };
        return site.change({ contacts: [contact] });
      };
      const { contacts: outcomes } = await body({ externalID: mine });
      expect(outcomes).toMatchObject([{ exists: false }]);
      const { contactUUID } = outcomes[0] as { contactUUID: string };
      expect((await body({ externalID: mine, address: ann })).contacts).toEqual([{ exists: true, contactUUID }]);
      expect((await body({ contactUUID, externalID: other })).contacts).toEqual([{ exists: true, contactUUID }]);
      await site.server.createContact(onlyID(mine));
      expect((await body({ contactUUID, externalID: mine })).contacts).toMatchObject([
        { refused: 'external_id_taken', field: 'contactExternalID' },
      ]);
      expect(await keysOf(site, contactUUID)).toMatchObject({ id: other, address: ann });
      const cleared = await body({ externalID: null, address: ann, fields: { contactTitle: 'Dr' } });
      expect(cleared.contacts).toEqual([{ exists: true, contactUUID }]);
      expect(await keysOf(site, contactUUID)).toEqual({ id: '', address: ann, claimed: [] });
      await expectRefusal(find(site, other), 'unknown_contact');
      expect((await site.server.getContact(contactUUID)).fields.contactTitle).toBe('Dr');
      const created = await body({ externalID: null, address: ben });
      await site.browser.createContact({ userUUID: tablet, externalID: other, address: ben });
      const { contactUUID: bens } = created.contacts[0] as { contactUUID: string };
      expect(await keysOf(site, bens), 'stays cleared').toEqual({ id: '', address: ben, claimed: [] });
    });

    test('is cleared by null only on the contact that remains; the IDs of contacts merged into it still find it', async () => {
      const site = await newSite();
      const keep = await site.server.createContact({ externalID: mine, address: ann });
      const merged = await site.server.createContact(onlyID(other));
      await site.merge(keep.contactUUID, merged.contactUUID);
      await site.update({ contactUUID: merged.contactUUID, externalID: null });
      await expectRefusal(find(site, mine), 'unknown_contact');
      expect(await uuidOf(site, { externalID: other })).toBe(keep.contactUUID);
      expect(await keysOf(site, keep.contactUUID)).toMatchObject({ id: '' });
      await site.unmerge(merged.contactUUID);
      expect(await keysOf(site, merged.contactUUID)).toMatchObject({ id: other });
    });
  });

  describe('an external ID from a page', () => {
    const page = { userUUID: tablet, externalID: mine };

    test('is merely a claimed value when sent with an address: it does not find the contact', async () => {
      const site = await newSite();
      await site.browser.createContact({ ...page, address: ann });
      const contactUUID = await uuidOf(site, { address: ann });
      expect(await keysOf(site, contactUUID)).toMatchObject({ id: '', claimed: ['contactEmailaddress'] });
      await expectRefusal(find(site, mine), 'unknown_contact');
      const real = await site.server.createContact(onlyID(mine));
      expect(real.exists).toBe(false);
      expect(await site.server.createContact({ externalID: other, address: ann })).toEqual({
        exists: true,
        contactUUID,
      });
      expect(await keysOf(site, contactUUID)).toEqual({ id: other, address: ann, claimed: [] });
    });

    test('is the key for a claim and its link when sent alone, whether or not it is known', async () => {
      const site = await newSite();
      await site.server.log({ userUUID: tablet, eventUUID: 'event-before' });
      const unknown = await site.browser.createContact({ ...page, address: undefined, newHandle: 'handle-of-id' });
      expect(unknown).toEqual({ exists: false, contactUUID: 'handle-of-id' });
      const { contactUUID } = await find(site, mine);
      expect(await keysOf(site, contactUUID)).toMatchObject({ id: mine, claimed: ['contactExternalID'] });
      expect(await site.owners()).toEqual({ 'event-before': contactUUID });
      const existing = { userUUID: laptop, externalID: mine, address: undefined, newHandle: 'handle-of-known' };
      expect(await site.browser.createContact(existing)).toEqual({ exists: false, contactUUID: 'handle-of-known' });
      expect((await site.server.createContact(onlyID(mine))).contactUUID).toBe(contactUUID);
      expect(await keysOf(site, contactUUID)).toMatchObject({ claimed: [] });
    });

    test('gives a page separate handles for a contact’s ID and address; neither reveals the other', async () => {
      const site = await newSite();
      await site.server.createContact({ externalID: mine, address: ann });
      const byID = { userUUID: tablet, externalID: mine, address: undefined };
      const [first, second] = [newID('handle'), newID('handle')];
      const responses = [
        await site.browser.createContact({ ...byID, newHandle: first }),
        await site.browser.createContact({ userUUID: tablet, address: ann, newHandle: second }),
        await site.browser.createContact({
          userUUID: tablet,
          address: ann,
          externalID: mine,
          newHandle: newID('handle'),
        }),
        await site.browser.createContact({ ...byID, newHandle: newID('handle') }),
      ];
      const expectedResults = [
        { exists: false, contactUUID: first },
        { exists: false, contactUUID: second },
        { exists: true, contactUUID: second },
        { exists: false, contactUUID: first },
      ];
      expect(responses).toEqual(expectedResults);
    });

    test('has a handle that reveals only the ID, no matter how often the browser sends it', async () => {
      const site = await newSite();
      const claimFields = {
        fields: { contactFirstname: 'Ann' },
        tags: ['vip'],
        attributes: [['iban', 'GB00']] as const,
      };
      const byID = { ...page, address: undefined, newHandle: newID('handle') };
      const { contactUUID: handle } = await site.browser.createContact({ ...byID, ...claimFields });
      expect((await site.browser.createContact(byID)).contactUUID).toBe(handle);
      const contact = await site.browser.getContact(handle);
      expect(Object.entries(contact.fields).filter(([, value]) => value)).toEqual([['contactExternalID', mine]]);
      expect([contact.tags, contact.attributes, contact.claimed]).toEqual([[], [], []]);
      expect(await find(site, mine)).toMatchObject({
        fields: { contactFirstname: 'Ann' },
        attributes: [['iban', 'GB00']],
      });
    });

    test.each([
      ['external ID first', [{ externalID: mine, address: undefined }, { address: ann }]],
      ['address first', [{ address: ann }, { externalID: mine, address: undefined }]],
    ])('is merged with its claims when a server sends both keys: %s', async (_, claims) => {
      const site = await newSite();
      for (const [nth, claim] of claims.entries()) {
        const userUUID = [laptop, phone][nth] as string;
        await site.server.log({ userUUID, eventUUID: `event-${userUUID}` });
        await site.browser.createContact({ userUUID, ...claim, newHandle: newID('handle') });
      }
      const { contactUUID } = await site.server.createContact({ userUUID: tablet, externalID: mine, address: ann });
      expect(await keysOf(site, contactUUID)).toEqual({ id: mine, address: ann, claimed: [] });
      expect(await uuidOf(site, { externalID: mine })).toBe(contactUUID);
      expect(await uuidOf(site, { address: ann })).toBe(contactUUID);
      expect(await site.owners()).toEqual({ [`event-${laptop}`]: contactUUID, [`event-${phone}`]: contactUUID });
      const { entries } = await site.store.listAudit({ account: site.account, limit: 10 });
      expect(entries.filter(({ action }) => action === 'mergeContact')).toMatchObject([{ subject: { contactUUID } }]);
    });

    test.each([
      ['external ID', { externalID: mine, address: undefined }, { address: ann }, { externalID: mine }],
      ['address', { address: ann }, { externalID: mine, address: undefined }, { address: ann }],
    ])('gives a page no sign that its %s now belongs to another contact', async (_, claimed, real, given) => {
      const site = await newSite();
      const repeat = () => site.browser.createContact({ userUUID: tablet, ...claimed, newHandle: newID('handle') });
      const first = await repeat();
      const second = await repeat();
      expect(second).toEqual({ ...first, exists: true });
      const { contactUUID } = await site.server.createContact({ ...real, userUUID: phone });
      await site.update({ contactUUID, ...given });
      expect(await repeat()).toEqual(second);
      expect((await site.server.getContact(contactUUID, 'claim', 'link')).linkCount).toBe(2);
      expect((await site.server.getContact(contactUUID, 'claim', 'link')).claimCount).toBe(1);
    });

    test('does not prevent the real person from using an ID or an address', async () => {
      const site = await newSite();
      const real = await site.server.createContact({ address: ann });
      await site.browser.createContact({ ...page, address: undefined });
      await site.browser.createContact({ userUUID: phone, address: cleo, newHandle: newID('handle') });
      expect(await site.server.createContact({ externalID: mine, address: ann })).toEqual({
        exists: true,
        contactUUID: real.contactUUID,
      });
      await site.update({ contactUUID: real.contactUUID, address: cleo });
      expect(await keysOf(site, real.contactUUID)).toEqual({ id: mine, address: cleo, claimed: [] });
    });

    test('does not let its contact be merged into another once a server has sent it or a claim was accepted', async () => {
      const site = await newSite();
      await site.server.createContact({ address: ann });
      const handle = await site.browser.createContact({ ...page, address: undefined });
      await site.acceptClaim(handle.contactUUID);
      await expectRefusal(site.server.createContact({ externalID: mine, address: ann }), 'email_taken');
      await site.server.createContact(onlyID(other));
      await expectRefusal(site.server.createContact({ externalID: other, address: ann }), 'email_taken');
    });

    test('becomes the contact’s own when its claim is accepted, and is removed when the claim is voided', async () => {
      const site = await newSite();
      const claim = await site.browser.createContact({ ...page, address: ann });
      const contactUUID = await uuidOf(site, { address: ann });
      await site.acceptClaim(claim.contactUUID);
      expect(await uuidOf(site, { externalID: mine })).toBe(contactUUID);
      expect(await keysOf(site, contactUUID)).toEqual({ id: mine, address: ann, claimed: [] });
      await site.voidClaim(claim.contactUUID);
      await expectRefusal(find(site, mine), 'unknown_contact');
      expect(await keysOf(site, contactUUID)).toMatchObject({ id: '' });
      await site.restoreClaim(claim.contactUUID);
      expect(await uuidOf(site, { externalID: mine })).toBe(contactUUID);
      await site.voidClaim(claim.contactUUID);
      await site.server.createContact(onlyID(mine));
      await expectRefusal(site.restoreClaim(claim.contactUUID), 'external_id_taken', 'contactExternalID');
      expect(await keysOf(site, contactUUID)).toMatchObject({ id: '' });
    });

    test('cannot be accepted if it belongs to another contact, and the attempt changes nothing', async () => {
      const site = await newSite();
      await site.server.createContact(onlyID(mine));
      const claim = await site.browser.createContact({ ...page, address: ann });
      const contactUUID = await uuidOf(site, { address: ann });
      const before = await site.server.getContact(contactUUID, 'claim', 'link');
      await expectRefusal(site.acceptClaim(claim.contactUUID), 'external_id_taken', 'contactExternalID');
      expect(await site.server.getContact(contactUUID, 'claim', 'link')).toEqual(before);
    });

    test('no longer prevents any change once its claim is voided, even if another contact has the ID', async () => {
      const site = await newSite();
      await site.server.createContact(onlyID(mine));
      const claim = await site.browser.createContact({ ...page, address: ann, fields: { contactTitle: 'Dr' } });
      const contactUUID = await uuidOf(site, { address: ann });
      await expectRefusal(site.acceptClaim(claim.contactUUID), 'external_id_taken', 'contactExternalID');
      await site.voidClaim(claim.contactUUID);
      await site.update({ contactUUID, fields: { contactTitle: 'Dr' } });
      expect((await site.server.getContact(contactUUID)).fields).toMatchObject({
        contactExternalID: '',
        contactTitle: 'Dr',
      });
    });

    test('is not shown on a contact with another address, even after the contact with the ID is erased', async () => {
      const site = await newSite();
      await site.server.createContact(onlyID(mine));
      await site.browser.createContact({ ...page, address: ann });
      const contactUUID = await uuidOf(site, { address: ann });
      const expected = { id: '', address: ann, claimed: ['contactEmailaddress'] };
      expect(await keysOf(site, contactUUID)).toEqual(expected);
      await site.store.eraseContact({ account: site.account, time: site.time, externalID: mine });
      await expectRefusal(find(site, mine), 'unknown_contact');
      expect(await keysOf(site, contactUUID)).toEqual(expected);
    });

    test('does not fill a field that a server cleared', async () => {
      const site = await newSite();
      const { contactUUID } = await site.server.createContact({ externalID: mine, address: ann });
      await site.update({ contactUUID, externalID: null });
      const claim = await site.browser.createContact({ ...page, address: ann });
      expect(await keysOf(site, contactUUID)).toEqual({ id: '', address: ann, claimed: [] });
      await site.acceptClaim(claim.contactUUID);
      expect(await keysOf(site, contactUUID)).toMatchObject({ id: '' });
    });

    test('is verified immediately with a proof', async () => {
      const site = await newSite();
      await site.browser.createContact({ ...page, address: undefined, verified: true });
      const { contactUUID, claimed } = await find(site, mine);
      expect(claimed).toEqual([]);
      expect((await site.server.getContact(contactUUID, 'link')).links).toMatchObject([{ verified: true }]);
    });
  });

  describe('concurrent requests', () => {
    test('create one contact for the same external ID', async () => {
      const site = await newSite();
      const results = await Promise.all(
        [ann, ben, cleo, undefined].map((address, nth) =>
          site.server
            .createContact({ externalID: mine, address, userUUID: `visitor-of-all-${nth}` })
            .catch((error) => error),
        ),
      );
      const contactUUID = await uuidOf(site, { externalID: mine });
      expect(results).toMatchObject(results.map(() => ({ contactUUID })));
      expect((await site.store.getAccount(site.account)).usage.contacts).toBe(1);
    });

    test('create at most two contacts for two external IDs and two addresses in every combination, and reject the rest', async () => {
      const site = await newSite();
      const pairs = [mine, other].flatMap((externalID) => [ann, ben].map((address) => ({ externalID, address })));
      const results = await Promise.allSettled([...pairs, ...pairs].map((keys) => site.server.createContact(keys)));
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason.code).toMatch(/^(email|external_id)_taken$/);
      }
      const contactUUIDs = await Promise.all(
        [mine, other].map((externalID) => uuidOf(site, { externalID }).catch(() => '')),
      );
      expect(new Set(contactUUIDs).size).toBe(2);
    });
  });
};
