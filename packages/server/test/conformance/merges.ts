import { describe, expect, test } from 'vitest';
import type { Site } from '../fixtures/site.ts';
import { ann, ben, cleo, expectRefusal, laptop, phone, tablet } from '../fixtures/store.ts';
import type { NewSite } from './sites.ts';

/** Creates two people. Each has a browser with an event, and an event that was logged with a contactUUID. */
const createTwo = async ({ server }: Site) => {
  const { contactUUID: keep } = await server.createContact({
    address: ann,
    fields: { contactFirstname: 'Ann' },
    tags: ['vip'],
    attributes: [['size', 'XL']],
  });
  const { contactUUID: other } = await server.createContact({
    userUUID: phone,
    address: ben,
    fields: { contactFirstname: 'Ben', contactLastname: 'Lee' },
    tags: ['new'],
    attributes: [
      ['size', 'S'],
      ['colour', 'red'],
    ],
  });
  await server.log(
    { eventUUID: 'laptop-1' },
    { eventUUID: 'phone--1', userUUID: phone },
    { eventUUID: 'direct-1', userUUID: null, contactUUID: other },
  );
  return { keep, other };
};

const readAll = async ({ server, owners }: Site, ...contactUUIDs: string[]) => ({
  owners: await owners(),
  contacts: await Promise.all(contactUUIDs.map((contactUUID) => server.getContact(contactUUID, 'claim', 'link'))),
});

export const describeMerges = (newSite: NewSite): void => {
  describe('a merged contact', () => {
    test('reads as the contact into which it was merged, with the fields and tags of both', async () => {
      const site = await newSite();
      const { keep, other } = await createTwo(site);
      expect(await site.merge(keep, other)).toEqual({
        contactUUID: keep,
        otherContactUUID: other,
        mergedTime: site.time,
      });
      const contact = await site.server.getContact(keep, 'link');
      expect(await site.server.getContact(other, 'link')).toEqual(contact);
      expect(contact).toMatchObject({
        contactUUID: keep,
        fields: { contactEmailaddress: ann, contactFirstname: 'Ann', contactLastname: 'Lee' },
        tags: [
          { tagID: 'new', opt: true },
          { tagID: 'vip', opt: true },
        ],
        attributes: [
          ['colour', 'red'],
          ['size', 'XL'],
        ],
        claimed: [],
        links: [
          { userUUID: laptop, contactUUID: keep },
          { userUUID: phone, contactUUID: other },
        ],
      });
    });

    test('shares one history with the other contact, and each event shows its original contact', async () => {
      const site = await newSite();
      const { keep, other } = await createTwo(site);
      await site.merge(keep, other);
      await site.server.log(
        { eventUUID: 'phone--2', userUUID: phone },
        { eventUUID: 'direct-2', userUUID: null, contactUUID: other },
      );
      const history = await site.events({ contactUUID: keep });
      expect(
        history.map(({ eventUUID, contactUUID, why }) => [eventUUID, contactUUID, why.rule, why.mergedFrom]),
      ).toEqual([
        ['laptop-1', keep, 'linked', null],
        ['phone--1', keep, 'linked', other],
        ['direct-1', keep, 'logged with the contact', other],
        ['phone--2', keep, 'linked', other],
        ['direct-2', keep, 'logged with the contact', other],
      ]);
      expect(await site.events({ contactUUID: other })).toEqual(history);
      expect(await site.events({ contactUUID: other, userUUID: phone })).toHaveLength(2);
    });

    test('forwards writes to the contact into which it was merged', async () => {
      const site = await newSite();
      const { keep, other } = await createTwo(site);
      await site.merge(keep, other);
      expect(await site.update({ contactUUID: other, fields: { contactTitle: 'Dr' } })).toMatchObject({
        contactUUID: keep,
      });
      expect(await site.update({ address: ben, addedTags: ['late'] })).toMatchObject({ contactUUID: keep });
      const created = await site.server.createContact({
        userUUID: tablet,
        address: ben,
        fields: { contactMobile: '1' },
      });
      expect(created).toEqual({ exists: true, contactUUID: keep });
      await site.unmerge(other);
      expect(await site.server.getContact(keep)).toMatchObject({
        fields: { contactTitle: 'Dr', contactMobile: '1' },
        tags: expect.arrayContaining([{ tagID: 'late', tagName: 'late', opt: true }]),
      });
      expect(await site.server.getContact(other)).toMatchObject({ fields: { contactTitle: '', contactMobile: '' } });
    });

    test('stays linked to its users, and unmerging returns every event to its own link’s contact', async () => {
      const site = await newSite();
      const { keep, other } = await createTwo(site);
      await site.merge(keep, other);
      await site.server.createContact({ userUUID: tablet, address: ben });
      await site.server.log({ eventUUID: 'tablet-1', userUUID: tablet });
      await site.server.createContact({ userUUID: phone, address: ann });
      await site.server.log({ eventUUID: 'phone--2', userUUID: phone });
      await site.unmerge(other);
      expect(await site.owners()).toEqual({
        'laptop-1': keep,
        'phone--1': other,
        'direct-1': other,
        'tablet-1': other,
        'phone--2': keep,
      });
    });

    test('is exactly as before once it is unmerged', async () => {
      const site = await newSite();
      const { keep, other } = await createTwo(site);
      const before = await readAll(site, keep, other);
      await site.merge(keep, other);
      expect(await site.unmerge(other)).toEqual({ contactUUID: other });
      expect(await readAll(site, keep, other)).toEqual(before);
    });

    test('contributes its claims', async () => {
      const site = await newSite();
      const { keep, other } = await createTwo(site);
      const { contactUUID: claimID } = await site.browser.createContact({
        userUUID: tablet,
        address: ben,
        fields: { contactJobRole: 'Buyer', contactFirstname: 'Mallory' },
      });
      await site.merge(keep, other);
      expect(await site.server.getContact(keep, 'claim')).toMatchObject({
        fields: { contactFirstname: 'Ann', contactJobRole: 'Buyer' },
        claimed: ['contactJobRole'],
        claims: [{ claimID, contactUUID: other }],
      });
    });

    test('keeps its address, which no other contact can have, not even the contact into which it was merged', async () => {
      const site = await newSite();
      const { keep, other } = await createTwo(site);
      await site.merge(keep, other);
      await expectRefusal(site.update({ contactUUID: keep, address: ben }), 'email_taken', 'contactEmailaddress');
    });

    test('does not fill fields that were explicitly cleared in the contact into which it was merged', async () => {
      const site = await newSite();
      const { keep, other } = await createTwo(site);
      await site.update({
        contactUUID: keep,
        fields: { contactLastname: null },
        removedTags: ['new'],
        attributes: [['colour', null]],
      });
      await site.merge(keep, other);
      expect(await site.server.getContact(keep)).toMatchObject({
        fields: { contactLastname: '' },
        tags: [
          { tagID: 'new', opt: false },
          { tagID: 'vip', opt: true },
        ],
        attributes: [['size', 'XL']],
      });
    });
  });

  describe('mergeContact', () => {
    test('follows merge chains', async () => {
      const site = await newSite();
      const { keep, other } = await createTwo(site);
      const { contactUUID: last } = await site.server.createContact({ userUUID: tablet, address: cleo });
      await site.server.log({ eventUUID: 'tablet-1', userUUID: tablet });
      await site.merge(keep, other);
      expect(await site.merge(last, keep)).toMatchObject({ contactUUID: last });
      expect(new Set(Object.values(await site.owners()))).toEqual(new Set([last]));
      for (const contactUUID of [keep, other]) {
        expect(await site.server.getContact(contactUUID)).toMatchObject({ contactUUID: last });
      }
      await site.unmerge(keep);
      expect(await site.owners()).toEqual({ 'laptop-1': keep, 'phone--1': keep, 'direct-1': keep, 'tablet-1': last });
    });

    test('returns the contact at the end of a merge chain', async () => {
      const site = await newSite();
      const { keep, other } = await createTwo(site);
      const { contactUUID: third } = await site.server.createContact({ userUUID: tablet, address: cleo });
      await site.merge(keep, other);
      expect(await site.merge(other, third)).toMatchObject({ contactUUID: keep });
      expect(await site.server.getContact(third)).toMatchObject({ contactUUID: keep });
    });

    test('returns the time of the first merge if repeated', async () => {
      const site = await newSite();
      const { keep, other } = await createTwo(site);
      const first = await site.merge(keep, other);
      const { store, account, time } = site;
      const again = { account, contactUUID: keep, otherContactUUID: other, time: time + 1 };
      expect(await store.mergeContact(again)).toEqual(first);
    });

    test('rejects a cycle, and changes nothing', async () => {
      const site = await newSite();
      const { keep, other } = await createTwo(site);
      const { contactUUID: third } = await site.server.createContact({ userUUID: tablet, address: cleo });
      await expectRefusal(site.merge(keep, keep), 'merge_refused');
      await site.merge(keep, other);
      await expectRefusal(site.merge(other, keep), 'merge_refused');
      await site.merge(third, keep);
      const before = await readAll(site, third);
      await expectRefusal(site.merge(other, third), 'merge_refused');
      await expectRefusal(site.merge(keep, third), 'merge_refused');
      expect(await readAll(site, third)).toEqual(before);
    });

    test('rejects a contact that is already merged into another', async () => {
      const site = await newSite();
      const { keep, other } = await createTwo(site);
      const { contactUUID: third } = await site.server.createContact({ userUUID: tablet, address: cleo });
      await site.merge(keep, other);
      await expectRefusal(site.merge(third, other), 'merge_refused', 'otherContactUUID');
      expect(await site.server.getContact(other)).toMatchObject({ contactUUID: keep });
    });

    test('rejects unknown contacts, and returns the field’s name', async () => {
      const site = await newSite();
      const { contactUUID } = await site.server.createContact();
      await expectRefusal(site.merge('nobody', contactUUID), 'unknown_contact', 'contactUUID');
      await expectRefusal(site.merge(contactUUID, 'nobody'), 'unknown_contact', 'otherContactUUID');
      await expectRefusal(site.unmerge('nobody'), 'unknown_contact', 'otherContactUUID');
    });
  });

  describe('getContact', () => {
    test('lists merged contacts with their own fields until they are unmerged', async () => {
      const site = await newSite();
      const { keep, other } = await createTwo(site);
      const { contactUUID: third } = await site.server.createContact({ address: cleo, userUUID: tablet });
      const listMerges = async (contactUUID: string) => {
        const { merges, mergeCount } = await site.server.getContact(contactUUID, 'merge');
        expect(mergeCount).toBe(merges?.length);
        return merges?.map(({ contactUUID, intoContactUUID, mergedTime, fields }) => [
          ...[contactUUID, intoContactUUID, mergedTime],
          ...[fields.contactEmailaddress, fields.contactFirstname, fields.contactLastname],
        ]);
      };
      expect(await listMerges(keep)).toEqual([]);
      await site.merge(other, third);
      await site.merge(keep, other);
      const all = [
        [other, keep, site.time, ben, 'Ben', 'Lee'],
        [third, other, site.time, cleo, '', ''],
      ];
      for (const contactUUID of [keep, other, third]) expect(await listMerges(contactUUID)).toEqual(all);
      expect(await site.server.getContact(keep)).not.toHaveProperty('merges');
      await site.unmerge(other);
      expect([await listMerges(keep), await listMerges(other)]).toEqual([[], all.slice(1)]);
    });
  });

  describe('unmergeContact', () => {
    test('rejects a contact that is not merged', async () => {
      const site = await newSite();
      const { keep, other } = await createTwo(site);
      await expectRefusal(site.unmerge(other), 'merge_refused', 'otherContactUUID');
      await site.merge(keep, other);
      await expectRefusal(site.unmerge(keep), 'merge_refused', 'otherContactUUID');
      await site.unmerge(other);
      await expectRefusal(site.unmerge(other), 'merge_refused', 'otherContactUUID');
    });
  });
};
