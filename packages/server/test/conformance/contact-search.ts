import { beforeAll, describe, expect, test } from 'vitest';
import type { ContactSearch, NewContact } from '../../src/store/store.ts';
import { createSite, type Site } from '../fixtures/site.ts';
import { day, laptop } from '../fixtures/store.ts';
import type { NewSite } from './sites.ts';

const people: Partial<NewContact>[] = [
  {
    address: 'ann.lee@example.com',
    fields: { contactFirstname: 'Ann', contactLastname: 'Lee' },
    tags: ['vip'],
    attributes: [['size', 'XL']],
  },
  {
    address: 'ben@example.com',
    fields: { contactFirstname: 'Ben', contactProfileID: 'retail' },
    tags: ['vip', 'new'],
    attributes: [['size', 'M']],
  },
  { address: 'cleo@example.org', fields: { contactFirstname: 'Cléo', contactProfileID: 'retail' }, tags: [] },
  { address: 'dan@example.org', fields: { contactLastname: 'Leeds' }, tags: ['new'] },
  { address: 'eve@example.org', fields: { contactFirstname: '100%', contactLastname: '_' }, tags: [] },
];

export const describeContactSearch = (newSite: NewSite): void => {
  describe('searchContact', () => {
    let site: Site;
    const uuids: string[] = [];

    const page = (search: Partial<ContactSearch>) =>
      site.store.searchContact({ account: site.account, limit: 100, beyond: 0, ...search });
    /** The first letters of the addresses that are found. */
    const found = async (search: Partial<ContactSearch>) => {
      const { contacts, next } = await page(search);
      expect(next).toBeNull();
      return contacts.map(({ fields }) => fields.contactEmailaddress.charAt(0)).join('');
    };

    beforeAll(async () => {
      site = await newSite();
      for (const [nth, person] of people.entries()) {
        uuids.push((await site.server.createContact({ ...person, time: site.time + nth * day })).contactUUID);
      }
      await site.update({ contactUUID: uuids[3] as string, contactStatus: 'archived' });
      await site.update({ contactUUID: uuids[4] as string, contactStatus: 'unsubscribed' });
    });

    test.each<[string, Partial<ContactSearch>, string]>([
      ['everybody, in the order in which they became known', {}, 'abcde'],
      ['a part of a first name', { text: 'be' }, 'b'],
      ['a part of a last name', { text: 'lee' }, 'ad'],
      ['a part of both names together', { text: 'n le' }, 'a'],
      ['a part of an address', { text: 'example.org' }, 'cde'],
      ['text in another case', { text: 'ANN.LEE@EXAMPLE' }, 'a'],
      ['text with marks in another case', { text: 'CLÉO' }, 'c'],
      ['text with marks in another form', { text: 'cle\u0301o' }, 'c'],
      ['text that SQL would read as a pattern', { text: '%' }, 'e'],
      ['text that SQL would read as any character', { text: '_' }, 'e'],
      ['nobody', { text: 'nobody' }, ''],
      ['an address', { address: 'cleo@example.org' }, 'c'],
      ['an address that nobody has', { address: 'nobody@example.org' }, ''],
      ['a profile', { contactProfileID: 'retail' }, 'bc'],
      ['a tag', { contactTagID: 'vip' }, 'ab'],
      ['an attribute', { attrID: 'size' }, 'ab'],
      ['an attribute with a value', { attrID: 'size', attrValue: 'XL' }, 'a'],
      ['an attribute with a value that nobody has', { attrID: 'size', attrValue: 'S' }, ''],
      ['active contacts', { contactStatus: 'active' }, 'abc'],
      ['archived contacts', { contactStatus: 'archived' }, 'd'],
      ['unsubscribed contacts', { contactStatus: 'unsubscribed' }, 'e'],
      ['all that is asked together', { text: 'example', contactProfileID: 'retail', contactTagID: 'new' }, 'b'],
      ['an address and more that fits', { address: 'ben@example.com', contactTagID: 'new' }, 'b'],
      ['an address and more that doesn’t', { address: 'ben@example.com', contactStatus: 'archived' }, ''],
    ])('finds %s', async (_name, search, expected) => {
      expect(await found(search)).toBe(expected);
    });

    test('finds contacts by the time at which they were created', async () => {
      const dayOf = (nth: number) => site.time + nth * day;
      expect(await found({ createdFrom: dayOf(2) })).toBe('cde');
      expect(await found({ createdTo: dayOf(2) })).toBe('ab');
      expect(await found({ createdFrom: dayOf(1), createdTo: dayOf(2) })).toBe('b');
      expect(await found({ createdFrom: dayOf(1), createdTo: dayOf(1) })).toBe('');
    });

    test('answers each contact as getContact does, with its own tags only', async () => {
      const { contacts } = await page({ text: 'ben@' });
      const { tags, ...contact } = await site.server.getContact(uuids[1] as string);
      expect(contacts).toEqual([{ ...contact, tags: tags.filter(({ opt }) => opt) }]);
    });

    test.each([1, 2, 3, 4, 5, 6])('finds everybody once in pages of %d', async (limit) => {
      const seen: string[] = [];
      let pages = 0;
      for (let beyond: number | null = 0; beyond !== null; pages += 1) {
        const { contacts, next }: Awaited<ReturnType<typeof page>> = await page({ limit, beyond });
        expect(contacts.length).toBeLessThanOrEqual(limit);
        seen.push(...contacts.map(({ contactUUID }) => contactUUID));
        beyond = next;
      }
      expect(seen).toEqual(uuids);
      expect(pages).toBe(Math.ceil(uuids.length / limit));
    });

    test('ends a page early when its contacts hold much', async () => {
      const other = await createSite(site.store);
      const attributes = Array.from({ length: 100 }, (_, nth) => [`attr-${nth}`, 'x'.repeat(2_048)] as const);
      const made: string[] = [];
      for (let nth = 0; nth < 13; nth += 1) {
        const contact = { address: `large-${nth}@example.com`, userUUID: null, attributes };
        made.push((await other.server.createContact(contact)).contactUUID);
      }
      const seen: string[] = [];
      const sizes: number[] = [];
      for (let beyond: number | null = 0; beyond !== null; ) {
        const { contacts, next }: Awaited<ReturnType<typeof page>> = await page({ account: other.account, beyond });
        sizes.push(contacts.length);
        seen.push(...contacts.map(({ contactUUID }) => contactUUID));
        beyond = next;
      }
      expect(seen).toEqual(made);
      expect(sizes).toEqual([6, 6, 1]);
    });

    test('finds everybody who fits once in pages', async () => {
      const first = await page({ text: 'lee', limit: 1 });
      expect(first.contacts).toMatchObject([{ contactUUID: uuids[0] }]);
      const second = await page({ text: 'lee', limit: 1, beyond: first.next as number });
      expect(second).toMatchObject({ contacts: [{ contactUUID: uuids[3] }], next: null });
    });

    test('finds a person by what is only claimed, and says so', async () => {
      const other = await createSite(site.store);
      await other.browser.createContact({ fields: { contactFirstname: 'Ann' }, tags: ['vip'] });
      const { contacts } = await site.store.searchContact({
        account: other.account,
        text: 'ann',
        contactTagID: 'vip',
        limit: 10,
        beyond: 0,
      });
      expect(contacts).toMatchObject([{ claimed: ['contactFirstname', 'contactEmailaddress', 'tag.vip'] }]);
    });

    test('finds a merged person once, by what either record says', async () => {
      const other = await createSite(site.store);
      const keep = await other.server.createContact({ fields: { contactFirstname: 'Ann' } });
      const gone = await other.server.createContact({ address: 'old@example.com', fields: { contactLastname: 'Lee' } });
      await other.merge(keep.contactUUID, gone.contactUUID);
      const search = (changes: Partial<ContactSearch>) =>
        site.store.searchContact({ account: other.account, limit: 10, beyond: 0, ...changes });
      for (const asked of [{}, { text: 'ann lee' }, { address: 'old@example.com' }]) {
        expect((await search(asked)).contacts).toMatchObject([
          { contactUUID: keep.contactUUID, fields: { contactFirstname: 'Ann', contactLastname: 'Lee' } },
        ]);
      }
    });

    test('doesn’t find who is erased', async () => {
      const other = await createSite(site.store);
      const { contactUUID } = await other.server.createContact({ userUUID: laptop });
      await other.erase(contactUUID);
      expect(await site.store.searchContact({ account: other.account, limit: 10, beyond: 0 })).toEqual({
        contacts: [],
        next: null,
      });
    });

    test('goes on where many in a row don’t fit', async () => {
      const other = await createSite(site.store);
      const contacts = Array.from({ length: 1_200 }, (_, nth) => ({
        address: `visitor-${nth}@example.com`,
        fields: nth % 400 === 399 ? { contactLastname: 'Wanted' } : {},
        addedTags: [],
        removedTags: [],
        attributes: [],
        newContactUUID: `many-${other.account}-${nth}`,
      }));
      await other.change({ contacts });
      const all = await site.store.searchContact({ account: other.account, text: 'wanted', limit: 10, beyond: 0 });
      expect(all.contacts.map(({ contactUUID }) => contactUUID)).toEqual(
        [399, 799, 1199].map((nth) => contacts[nth]?.newContactUUID),
      );
      expect(all.next).toBeNull();
      const two = await site.store.searchContact({ account: other.account, text: 'wanted', limit: 2, beyond: 0 });
      const rest = await site.store.searchContact({
        account: other.account,
        text: 'wanted',
        limit: 2,
        beyond: two.next as number,
      });
      expect([two.contacts.length, rest.contacts.length, rest.next]).toEqual([2, 1, null]);
    });
  });
};
