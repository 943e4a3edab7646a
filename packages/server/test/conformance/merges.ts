import { describe, expect, test } from 'vitest';
import type { Site } from '../fixtures/site.ts';
import { ann, ben, cleo, expectRefusal, laptop, phone, tablet } from '../fixtures/store.ts';
import type { NewSite } from './sites.ts';

/** Two people, each with a browser and an event of it, and one that was logged with the contactUUID. */
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

const everything = async ({ server, owners }: Site, ...contactUUIDs: string[]) => ({
  owners: await owners(),
  contacts: await Promise.all(contactUUIDs.map((contactUUID) => server.getContact(contactUUID, 'claim', 'link'))),
});

export const describeMerges = (newSite: NewSite): void => {
  describe('a merged contact', () => {
    test('answers as the one that it was merged into, with what is filled and tagged in either', async () => {
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

    test('has one history with it, and each event says whose it was', async () => {
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

    test('passes on what is written to it', async () => {
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

    test('goes on being who its users are, and unmerging leaves every event where its own link put it', async () => {
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

    test('is exactly what it was when it is unmerged', async () => {
      const site = await newSite();
      const { keep, other } = await createTwo(site);
      const before = await everything(site, keep, other);
      await site.merge(keep, other);
      expect(await site.unmerge(other)).toEqual({ contactUUID: other });
      expect(await everything(site, keep, other)).toEqual(before);
    });

    test('brings its claims along', async () => {
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

    test('keeps its address: nobody else can have it, not even the one that it was merged into', async () => {
      const site = await newSite();
      const { keep, other } = await createTwo(site);
      await site.merge(keep, other);
      await expectRefusal(site.update({ contactUUID: keep, address: ben }), 'email_taken', 'contactEmailaddress');
    });

    test('stays cleared where the one that it was merged into was cleared on purpose', async () => {
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
    test('follows one merge after another', async () => {
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

    test('answers the contact that answers in the end', async () => {
      const site = await newSite();
      const { keep, other } = await createTwo(site);
      const { contactUUID: third } = await site.server.createContact({ userUUID: tablet, address: cleo });
      await site.merge(keep, other);
      expect(await site.merge(other, third)).toMatchObject({ contactUUID: keep });
      expect(await site.server.getContact(third)).toMatchObject({ contactUUID: keep });
    });

    test('is done once: asked again, the first time is answered', async () => {
      const site = await newSite();
      const { keep, other } = await createTwo(site);
      const first = await site.merge(keep, other);
      const { store, account, time } = site;
      const again = { account, contactUUID: keep, otherContactUUID: other, time: time + 1 };
      expect(await store.mergeContact(again)).toEqual(first);
    });

    test('is refused where it would make a circle, with nothing changed', async () => {
      const site = await newSite();
      const { keep, other } = await createTwo(site);
      const { contactUUID: third } = await site.server.createContact({ userUUID: tablet, address: cleo });
      await expectRefusal(site.merge(keep, keep), 'merge_refused');
      await site.merge(keep, other);
      await expectRefusal(site.merge(other, keep), 'merge_refused');
      await site.merge(third, keep);
      const before = await everything(site, third);
      await expectRefusal(site.merge(other, third), 'merge_refused');
      await expectRefusal(site.merge(keep, third), 'merge_refused');
      expect(await everything(site, third)).toEqual(before);
    });

    test('is refused for what is merged into another contact', async () => {
      const site = await newSite();
      const { keep, other } = await createTwo(site);
      const { contactUUID: third } = await site.server.createContact({ userUUID: tablet, address: cleo });
      await site.merge(keep, other);
      await expectRefusal(site.merge(third, other), 'merge_refused', 'otherContactUUID');
      expect(await site.server.getContact(other)).toMatchObject({ contactUUID: keep });
    });

    test('is refused for contacts that are unknown, naming the field', async () => {
      const site = await newSite();
      const { contactUUID } = await site.server.createContact();
      await expectRefusal(site.merge('nobody', contactUUID), 'unknown_contact', 'contactUUID');
      await expectRefusal(site.merge(contactUUID, 'nobody'), 'unknown_contact', 'otherContactUUID');
      await expectRefusal(site.unmerge('nobody'), 'unknown_contact', 'otherContactUUID');
    });
  });

  describe('getContact', () => {
    test('lists the contacts that are merged, as each is itself, until they are unmerged', async () => {
      const site = await newSite();
      const { keep, other } = await createTwo(site);
      const { contactUUID: third } = await site.server.createContact({ address: cleo, userUUID: tablet });
      const listed = async (contactUUID: string) => {
        const { merges, mergeCount } = await site.server.getContact(contactUUID, 'merge');
        expect(mergeCount).toBe(merges?.length);
        return merges?.map(({ contactUUID, intoContactUUID, mergedTime, fields }) => [
          ...[contactUUID, intoContactUUID, mergedTime],
          ...[fields.contactEmailaddress, fields.contactFirstname, fields.contactLastname],
        ]);
      };
      expect(await listed(keep)).toEqual([]);
      await site.merge(other, third);
      await site.merge(keep, other);
      const all = [
        [other, keep, site.time, ben, 'Ben', 'Lee'],
        [third, other, site.time, cleo, '', ''],
      ];
      for (const contactUUID of [keep, other, third]) expect(await listed(contactUUID)).toEqual(all);
      expect(await site.server.getContact(keep)).not.toHaveProperty('merges');
      await site.unmerge(other);
      expect([await listed(keep), await listed(other)]).toEqual([[], all.slice(1)]);
    });
  });

  describe('unmergeContact', () => {
    test('is refused for what is not merged', async () => {
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
