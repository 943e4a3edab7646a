import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Refusal } from '../../src/shared/refusal.ts';
import type { ContactDetail, ContactSearch, FoundContacts, NewContact, SearchPosition } from '../../src/store/store.ts';
import { readFedContacts } from '../fixtures/reports/fed-contacts.ts';
import { createSite, type Site } from '../fixtures/site.ts';
import { day, laptop, phone } from '../fixtures/store.ts';
import type { NewSite, Open } from './sites.ts';

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

const ids = ['a', 'b'];
const id = fc.constantFrom(...ids);
const nth = fc.nat({ max: 5 });
const values = fc.record({
  profile: fc.constantFrom('', ...ids),
  tags: fc.subarray(ids),
  attributes: fc.uniqueArray(fc.tuple(id, fc.constantFrom('x', 'y')), { selector: ([name]) => name, maxLength: 2 }),
});
const user = fc.constantFrom(laptop, phone);
/** Generates a change to the results of searches or their order. Contacts, claims and links are given by index. */
const action = fc.oneof(
  fc.record({ do: fc.constant('create'), server: fc.boolean(), user, contact: nth, values }),
  fc.record({ do: fc.constant('create'), server: fc.boolean(), user, contact: nth, values }),
  fc.record({
    do: fc.constant('update'),
    contact: nth,
    values,
    removed: fc.subarray(ids),
    cleared: fc.subarray(ids),
    contactStatus: fc.constantFrom('active' as const, 'archived' as const, 'unsubscribed' as const, undefined),
  }),
  fc.record({ do: fc.constant('log'), user, contact: fc.option(nth, { freq: 2 }) }),
  fc.record({ do: fc.constant('log'), user, contact: fc.constant(null) }),
  fc.record({ do: fc.constantFrom('link', 'merge'), user, contact: nth, other: nth }),
  fc.record({ do: fc.constantFrom('unlink', 'unmerge', 'erase'), user, contact: nth }),
  fc.record({
    do: fc.constantFrom('voidLink', 'restoreLink', 'accept', 'voidClaim', 'restoreClaim'),
    contact: nth,
    which: nth,
  }),
);
type Action = typeof action extends fc.Arbitrary<infer One> ? One : never;

/** Runs a history with one action per day. Returns all contacts that were ever created, oldest first. */
const runHistory = async (site: Site, actions: readonly Action[]): Promise<string[]> => {
  const { store, account, server, browser } = site;
  const contacts: string[] = [];
  const address = (number: number) => `person-${number}@example.com`;
  const usedAddresses = new Set<string>();
  let time = site.time;
  const contactAt = (number: number) => contacts[number % contacts.length];
  const listIDs = async (contactUUID: string | undefined, list: 'claims' | 'links') => {
    if (contactUUID === undefined) return [];
    const contact = await server.getContact(contactUUID, 'claim', 'link');
    return (contact[list] ?? []).map((each) => ('claimID' in each ? each.claimID : each.linkID));
  };
  const runAction = async (one: Action): Promise<unknown> => {
    if (one.do === 'create') {
      const newContactUUID = `${account}-${time}`;
      const caller = one.server ? server : browser;
      const { profile, tags, attributes } = one.values;
      const isNew = !usedAddresses.has(address(one.contact));
      usedAddresses.add(address(one.contact));
      if (isNew) contacts.push(newContactUUID);
      const fields = profile === '' ? {} : { contactProfileID: profile };
      const request = {
        userUUID: one.user,
        address: address(one.contact),
        fields,
        tags,
        attributes,
        newContactUUID,
        time,
      };
      return caller.createContact(request);
    }
    if (one.do === 'log' && 'user' in one) {
      const contactUUID = one.contact === null || contacts.length === 0 ? null : contactAt(one.contact);
      return server.logAt(time, { userUUID: contactUUID == null ? one.user : null, contactUUID: contactUUID ?? null });
    }
    const contactUUID = contactAt(one.contact as number);
    if (contactUUID === undefined) return undefined;
    if ('values' in one && 'removed' in one) {
      const { profile, tags, attributes } = one.values;
      const cleared = one.cleared.map((attrID) => [attrID, null] as const);
      return site.update({
        contactUUID,
        fields: profile === '' ? { contactProfileID: null } : { contactProfileID: profile },
        addedTags: tags,
        removedTags: one.removed.filter((tagID) => !tags.includes(tagID)),
        attributes: [...new Map<string, string | null>([...cleared, ...attributes])],
        contactStatus: one.contactStatus,
        time,
      });
    }
    if ('other' in one) {
      const other = contactAt(one.other) as string;
      if (one.do === 'merge') return site.merge(contactUUID, other);
      return store.linkUser({ account, token: server.token, userUUID: one.user, contactUUID, time });
    }
    if (one.do === 'unlink' && 'user' in one) {
      return store.unlinkUser({ account, token: server.token, userUUID: one.user, time });
    }
    if (one.do === 'unmerge') return site.unmerge(contactUUID);
    if (one.do === 'erase') {
      // Creates a contact without a browser, because erasing a browser's events would change when its other contacts
      // were last seen.
      const erased = await server.createContact({
        userUUID: null,
        address: `erased-${time}@example.com`,
        tags: ids,
        time,
      });
      contacts.push(erased.contactUUID);
      return site.erase(erased.contactUUID, time);
    }
    if (!('which' in one)) return undefined;
    const isOfLinks = one.do === 'voidLink' || one.do === 'restoreLink';
    const list = await listIDs(contactUUID, isOfLinks ? 'links' : 'claims');
    const targetID = list[one.which % list.length];
    if (targetID === undefined) return undefined;
    if (one.do === 'voidLink') return site.voidLink(targetID);
    if (one.do === 'restoreLink') return site.restoreLink(targetID);
    if (one.do === 'accept') return site.acceptClaim(targetID);
    return one.do === 'voidClaim' ? site.voidClaim(targetID) : site.restoreClaim(targetID);
  };
  for (const one of actions) {
    time += day;
    await runAction(one).catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
    });
  }
  return contacts;
};

interface ContactState extends ContactDetail {
  readonly lastSeenTime: number | null;
}

/** Reads each contact separately, with the day of its newest event, without the search index. */
const readEach = async ({ store, account, server }: Site, contactUUIDs: readonly string[]): Promise<ContactState[]> => {
  const states: ContactState[] = [];
  for (const contactUUID of contactUUIDs) {
    const contact = await server.getContact(contactUUID).catch(() => undefined);
    if (contact?.contactUUID !== contactUUID) continue;
    const { events } = await store.getEvents({ account, contactUUID, order: 'desc', limit: 1 });
    const [newest] = events;
    states.push({ ...contact, lastSeenTime: newest ? newest.receivedTime - (newest.receivedTime % day) : null });
  }
  return states;
};

/** Returns a search's expected results, in order. */
const expected = (states: readonly ContactState[], search: Partial<ContactSearch>): string[] => {
  const { createdFrom = -Infinity, createdTo = Infinity, seenFrom, seenTo = Infinity } = search;
  const isMatch = ({ fields, tags, attributes, contactStatus, createdTime, lastSeenTime }: ContactState) =>
    createdFrom <= createdTime &&
    createdTime < createdTo &&
    ((seenFrom === undefined && seenTo === Infinity) ||
      (lastSeenTime !== null && (seenFrom ?? -Infinity) <= lastSeenTime && lastSeenTime < seenTo)) &&
    (search.contactStatus ?? contactStatus) === contactStatus &&
    (search.contactProfileID ?? fields.contactProfileID) === fields.contactProfileID &&
    (search.contactTagID === undefined || tags.some(({ tagID, opt }) => opt && tagID === search.contactTagID)) &&
    (search.attrID === undefined ||
      attributes.some(([attrID, value]) => attrID === search.attrID && (search.attrValue ?? value) === value));
  const sorted = states.filter(isMatch);
  if (search.sort === 'seen') sorted.sort((a, b) => (a.lastSeenTime ?? 0) - (b.lastSeenTime ?? 0));
  return (search.descending ? sorted.toReversed() : sorted).map(({ contactUUID }) => contactUUID);
};

/** Returns a search's filters. `start` is the first day of the history. */
const filtersOf = (start: number): Partial<ContactSearch>[] => [
  {},
  { contactTagID: 'a' },
  { attrID: 'a' },
  { attrID: 'b', attrValue: 'x' },
  { contactProfileID: 'b' },
  { contactStatus: 'active' },
  { contactStatus: 'unsubscribed' },
  { createdFrom: start + 3 * day },
  { createdFrom: start + 2 * day, createdTo: start + 9 * day },
  { seenFrom: start + 5 * day },
  { seenTo: start + 12 * day },
  { seenFrom: start + 4 * day, seenTo: start + 15 * day },
  { contactTagID: 'b', contactStatus: 'active' },
  { contactTagID: 'b', seenFrom: start + 3 * day },
  { attrID: 'a', createdTo: start + 10 * day, contactProfileID: 'a' },
];

/** Searches with every filter and order in pages of these sizes, and compares the results with the contacts' state. */
const expectSearches = async (
  site: Site,
  contactUUIDs: readonly string[],
  limits: readonly number[],
): Promise<void> => {
  const states = await readEach(site, contactUUIDs);
  const all = filtersOf(site.time);
  const fed = all.map((filter) => expected(states, filter).sort());
  for (const limit of limits) expect(await readFedContacts(site, all, limit)).toEqual(fed);
  for (const filter of filtersOf(site.time)) {
    for (const sort of ['created', 'seen'] as const) {
      for (const descending of [false, true]) {
        for (const limit of limits) {
          const search = { ...filter, sort, descending };
          const results: [string, number | null][] = [];
          for (let beyond: SearchPosition | null | undefined; beyond !== null; ) {
            const page: FoundContacts = await site.store.searchContact({
              account: site.account,
              ...search,
              limit,
              beyond,
            });
            expect(page.contacts.length).toBeLessThanOrEqual(limit);
            results.push(
              ...page.contacts.map(
                ({ contactUUID, lastSeenTime }) => [contactUUID, lastSeenTime] as [string, number | null],
              ),
            );
            beyond = page.next;
          }
          const lastSeenTimes = new Map(states.map(({ contactUUID, lastSeenTime }) => [contactUUID, lastSeenTime]));
          expect({ search, limit, results }).toEqual({
            search,
            limit,
            results: expected(states, search).map((contactUUID) => [contactUUID, lastSeenTimes.get(contactUUID)]),
          });
        }
      }
    }
  }
};

export const describeContactSearch = (newSite: NewSite, open: Open): void => {
  describe('searchContact', () => {
    let site: Site;
    const uuids: string[] = [];

    const page = (search: Partial<ContactSearch>) =>
      site.store.searchContact({ account: site.account, limit: 100, ...search });
    /** Returns the first letters of the matching contacts' addresses. */
    const findInitials = async (search: Partial<ContactSearch>) => {
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
      ['all contacts, in order of creation', {}, 'abcde'],
      ['a part of a first name', { text: 'be' }, 'b'],
      ['a part of a last name', { text: 'lee' }, 'ad'],
      ['the end of a first name and the start of a last name', { text: 'n le' }, 'a'],
      ['a part of an address', { text: 'example.org' }, 'cde'],
      ['text in a different case', { text: 'ANN.LEE@EXAMPLE' }, 'a'],
      ['text with diacritics in a different case', { text: 'CLÉO' }, 'c'],
      ['text with diacritics in a different Unicode form', { text: 'cle\u0301o' }, 'c'],
      ['text that SQL would read as a pattern', { text: '%' }, 'e'],
      ["text that contains SQL's wildcard for any character", { text: '_' }, 'e'],
      ['no one for text that does not match', { text: 'nobody' }, ''],
      ['an address', { address: 'cleo@example.org' }, 'c'],
      ['no one for an unknown address', { address: 'nobody@example.org' }, ''],
      ['a profile', { contactProfileID: 'retail' }, 'bc'],
      ['a tag', { contactTagID: 'vip' }, 'ab'],
      ['an attribute', { attrID: 'size' }, 'ab'],
      ['an attribute with a value', { attrID: 'size', attrValue: 'XL' }, 'a'],
      ['no one for another value of an attribute', { attrID: 'size', attrValue: 'S' }, ''],
      ['active contacts', { contactStatus: 'active' }, 'abc'],
      ['archived contacts', { contactStatus: 'archived' }, 'd'],
      ['unsubscribed contacts', { contactStatus: 'unsubscribed' }, 'e'],
      ['contacts that match all criteria', { text: 'example', contactProfileID: 'retail', contactTagID: 'new' }, 'b'],
      ['an address with another matching criterion', { address: 'ben@example.com', contactTagID: 'new' }, 'b'],
      [
        'no one for an address with a criterion that doesn’t match',
        { address: 'ben@example.com', contactStatus: 'archived' },
        '',
      ],
    ])('finds %s', async (_name, search, expected) => {
      expect(await findInitials(search)).toBe(expected);
    });

    test('finds contacts by their creation time', async () => {
      const dayOf = (nth: number) => site.time + nth * day;
      expect(await findInitials({ createdFrom: dayOf(2) })).toBe('cde');
      expect(await findInitials({ createdTo: dayOf(2) })).toBe('ab');
      expect(await findInitials({ createdFrom: dayOf(1), createdTo: dayOf(2) })).toBe('b');
      expect(await findInitials({ createdFrom: dayOf(1), createdTo: dayOf(1) })).toBe('');
    });

    test('returns each contact as getContact does, with its own tags only', async () => {
      const { contacts } = await page({ text: 'ben@' });
      const { tags, ...contact } = await site.server.getContact(uuids[1] as string);
      const own = { ...contact, tags: tags.filter(({ opt }) => opt), lastSeenTime: null };
      expect(contacts).toEqual([{ ...own, contact: expect.any(Number) }]);
    });

    test('returns those of the given contacts that match and belong to the account', async () => {
      const { contacts: all } = await page({});
      const numbers = all.map(({ contact }) => contact);
      const given = { contacts: numbers.slice(1, 4), contactProfileID: 'retail' };
      const { contacts, next } = await page(given);
      expect([contacts.map(({ contactUUID }) => contactUUID).sort(), next]).toEqual([uuids.slice(1, 3).sort(), null]);
      const other = await createSite(site.store);
      expect((await page({ account: other.account, contacts: numbers })).contacts).toEqual([]);
      const { contactUUID } = await other.server.createContact({ address: 'merged@example.com' });
      const target = await other.server.createContact({ address: 'target@example.com' });
      const created = (await page({ account: other.account })).contacts.map(({ contact }) => contact);
      await other.merge(target.contactUUID, contactUUID);
      const found = await page({ account: other.account, contacts: created });
      expect(found.contacts.map((each) => each.contactUUID)).toEqual([target.contactUUID]);
    });

    test.each([1, 2, 3, 4, 5, 6])('finds each contact once in pages of %d', async (limit) => {
      const contactUUIDs: string[] = [];
      let pages = 0;
      for (let beyond: SearchPosition | null | undefined; beyond !== null; pages += 1) {
        const { contacts, next }: Awaited<ReturnType<typeof page>> = await page({ limit, beyond });
        expect(contacts.length).toBeLessThanOrEqual(limit);
        contactUUIDs.push(...contacts.map(({ contactUUID }) => contactUUID));
        beyond = next;
      }
      expect(contactUUIDs).toEqual(uuids);
      expect(pages).toBe(Math.ceil(uuids.length / limit));
    });

    test('ends a page early if its contacts are large', async () => {
      const other = await createSite(site.store);
      const attributes = Array.from({ length: 100 }, (_, nth) => [`attr-${nth}`, 'x'.repeat(2_048)] as const);
      const created: string[] = [];
      for (let nth = 0; nth < 13; nth += 1) {
        const contact = { address: `large-${nth}@example.com`, userUUID: null, attributes };
        created.push((await other.server.createContact(contact)).contactUUID);
      }
      const contactUUIDs: string[] = [];
      const sizes: number[] = [];
      for (let beyond: SearchPosition | null | undefined; beyond !== null; ) {
        const { contacts, next }: Awaited<ReturnType<typeof page>> = await page({ account: other.account, beyond });
        sizes.push(contacts.length);
        contactUUIDs.push(...contacts.map(({ contactUUID }) => contactUUID));
        beyond = next;
      }
      expect(contactUUIDs).toEqual(created);
      expect(sizes).toEqual([6, 6, 1]);
    });

    test('finds each match once across pages', async () => {
      const first = await page({ text: 'lee', limit: 1 });
      expect(first.contacts).toMatchObject([{ contactUUID: uuids[0] }]);
      const second = await page({ text: 'lee', limit: 1, beyond: first.next as SearchPosition });
      expect(second).toMatchObject({ contacts: [{ contactUUID: uuids[3] }], next: null });
    });

    test('finds a person by claimed values, and marks them as claimed', async () => {
      const other = await createSite(site.store);
      await other.browser.createContact({ fields: { contactFirstname: 'Ann' }, tags: ['vip'] });
      const { contacts } = await site.store.searchContact({
        account: other.account,
        text: 'ann',
        contactTagID: 'vip',
        limit: 10,
      });
      expect(contacts).toMatchObject([{ claimed: ['contactFirstname', 'contactEmailaddress', 'tag.vip'] }]);
    });

    test('finds a merged person once, by the values of either record', async () => {
      const other = await createSite(site.store);
      const keep = await other.server.createContact({ fields: { contactFirstname: 'Ann' } });
      const merged = await other.server.createContact({
        address: 'old@example.com',
        fields: { contactLastname: 'Lee' },
      });
      await other.merge(keep.contactUUID, merged.contactUUID);
      const search = (changes: Partial<ContactSearch>) =>
        site.store.searchContact({ account: other.account, limit: 10, ...changes });
      for (const query of [{}, { text: 'ann lee' }, { address: 'old@example.com' }]) {
        expect((await search(query)).contacts).toMatchObject([
          { contactUUID: keep.contactUUID, fields: { contactFirstname: 'Ann', contactLastname: 'Lee' } },
        ]);
      }
    });

    test('doesn’t find an erased contact', async () => {
      const other = await createSite(site.store);
      const { contactUUID } = await other.server.createContact({ userUUID: laptop });
      await other.erase(contactUUID);
      expect(await site.store.searchContact({ account: other.account, limit: 10 })).toEqual({
        contacts: [],
        next: null,
      });
    });

    test('finds matches after many contacts in a row that don’t match', async () => {
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
      const all = await site.store.searchContact({ account: other.account, text: 'wanted', limit: 10 });
      expect(all.contacts.map(({ contactUUID }) => contactUUID)).toEqual(
        [399, 799, 1199].map((nth) => contacts[nth]?.newContactUUID),
      );
      expect(all.next).toBeNull();
      const two = await site.store.searchContact({ account: other.account, text: 'wanted', limit: 2 });
      const rest = await site.store.searchContact({
        account: other.account,
        text: 'wanted',
        limit: 2,
        beyond: two.next as SearchPosition,
      });
      expect([two.contacts.length, rest.contacts.length, rest.next]).toEqual([2, 1, null]);
    });

    test('passes no erased contact to reports, even while the index still lists it', async () => {
      const other = await newSite();
      const { contactUUID } = await other.server.createContact({
        ...{ address: 'erased@example.com', userUUID: null, tags: ['vip'], time: other.time },
      });
      // Waits until the index is up to date.
      await wait(1_500);
      expect(await readFedContacts(other, [{ contactTagID: 'vip' }], 100)).toEqual([[contactUUID]]);
      await other.erase(contactUUID, other.time + 1);
      expect(await readFedContacts(other, [{ contactTagID: 'vip' }], 100)).toEqual([[]]);
    });

    test('finds the matching contacts with every filter, order and page size, over any history', async () => {
      const store = await open();
      onTestFinished(() => store.close());
      const histories = fc.sample(fc.array(action, { minLength: 12, maxLength: 24 }), { numRuns: 4, seed: 18 });
      const sites: [Site, string[]][] = [];
      for (const history of histories) {
        const site = await createSite(store);
        sites.push([site, await runHistory(site, history)]);
        await expectSearches(...(sites.at(-1) as [Site, string[]]), [3]);
      }
      // Searches again once the index is up to date.
      await wait(1_500);
      for (const each of sites) await expectSearches(...each, [1, 100]);
    });
  });
};
