import { labelIDs } from '@firsthand/contract/labels';
import { limits } from '@firsthand/contract/limits';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CatalogueKind, ContactSearch, EventQuery, StoredEvent } from '../../../src/store/store.ts';
import { readFedContacts } from '../../fixtures/reports/fed-contacts.ts';
import { runs } from '../../fixtures/runs.ts';
import type { Site } from '../../fixtures/site.ts';
import { ann, ben, cleo, expectRefusal, hour, laptop, phone, quarter } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

const merger = ({ store, account, time }: Site) => ({
  merge: (kind: CatalogueKind, id: string, otherID: string) => store.mergeEntry({ account, kind, id, otherID, time }),
  unmerge: (kind: CatalogueKind, otherID: string) => store.unmergeEntry({ account, kind, otherID, time }),
});

const kindsOf = (events: readonly StoredEvent[]) => events.map(({ eventID, eventName }) => [eventID, eventName]);

/** Returns a search's matches, in its order, and checks that reports find the same contacts. */
const findContacts = async ({ store, account }: Site, search: Partial<ContactSearch>): Promise<string[]> => {
  const { contacts } = await store.searchContact({ account, limit: 100, ...search });
  const contactUUIDs = contacts.map(({ contactUUID }) => contactUUID);
  expect(await readFedContacts({ store, account }, [search], 2)).toEqual([contactUUIDs.toSorted()]);
  return contactUUIDs;
};

/** A random history's attribute IDs and event IDs. */
const names = ['plan', 'Plan', 'PLAN', 'size'];
const eventIDs = [1, 2, 3, 4];

const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('log' as const),
      eventID: fc.constantFrom(...eventIDs),
      user: fc.constantFrom(laptop, phone),
      quarters: fc.nat({ max: 8 }),
      attributes: fc.uniqueArray(fc.tuple(fc.constantFrom(...names), fc.constantFrom('a', 'b')), {
        maxLength: 4,
        selector: ([id]) => id,
      }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('merge' as const, 'unmerge' as const),
      kind: fc.constantFrom('event' as const, 'attr' as const),
      keep: fc.nat({ max: 3 }),
      other: fc.nat({ max: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('check' as const) }) },
);

interface Logged {
  readonly eventID: number;
  readonly user: string;
  readonly eventTime: number;
  readonly attributes: readonly (readonly [string, string])[];
}

/** Models how an event must read, given the pointers from merged IDs. */
const readAs = ({ attributes, ...event }: Logged, pointers: Record<'event' | 'attr', Map<string, string>>): Logged => {
  const read = new Map<string, string>();
  for (const [id] of attributes) {
    const target = pointers.attr.get(id) ?? id;
    const others = names.filter((name) => pointers.attr.get(name) === target).sort();
    const counts = [target, ...others].find((name) => attributes.some(([sent]) => sent === name));
    read.set(target, attributes.find(([sent]) => sent === counts)?.[1] as string);
  }
  return {
    ...event,
    eventID: Number(pointers.event.get(String(event.eventID)) ?? event.eventID),
    attributes: [...read],
  };
};

export const describeEntryMerges = (newSite: NewSite): void => {
  describe('merged catalogue entries', () => {
    test('show events with either ID under the target ID until the entries are unmerged', async () => {
      const site = await newSite({
        catalogues: {
          event: [
            { id: '7', name: 'Signed up' },
            { id: '17', name: 'Signup' },
          ],
        },
      });
      const { server, browser, store, account, time } = site;
      const { merge, unmerge } = merger(site);
      await server.log({ eventID: 7 }, { eventID: 17 });
      const before = await site.events();
      expect(kindsOf(before)).toEqual([
        [7, 'Signed up'],
        [17, 'Signup'],
      ]);

      await merge('event', '7', '17');
      await browser.log({ eventID: 17 }, { eventID: null, eventName: 'Signup' });
      expect(kindsOf(await site.events())).toEqual(Array(4).fill([7, 'Signed up']));
      for (const query of [{ eventID: 7 }, { eventID: 17 }, { eventName: 'Signed up' }, { eventName: 'Signup' }]) {
        expect(await site.events(query)).toHaveLength(4);
        expect(await site.events({ ...query, userUUID: laptop, order: 'desc' })).toHaveLength(4);
        expect(await site.count(query)).toBe(4);
      }
      const edges = [time - hour, time + hour];
      expect(await store.countEvents({ account, eventID: 7, edges, users: true })).toEqual([{ events: 4, users: 1 }]);
      expect(await store.countEvents({ account, eventID: 17, edges, users: true, withoutRobots: true })).toEqual([
        { events: 4, users: 1 },
      ]);
      expect(await store.getEventDefinitions(account)).toMatchObject([
        { eventID: 7, eventName: 'Signed up', count: 4 },
      ]);
      expect(await store.listCatalogue({ account, kind: 'event' })).toMatchObject([
        { id: '7', mergedInto: null },
        { id: '17', name: 'Signup', mergedInto: '7' },
      ]);

      await unmerge('event', '17');
      expect((await site.events()).slice(0, 2)).toEqual(before);
      expect(kindsOf(await site.events({ eventID: 17 }))).toEqual(Array(3).fill([17, 'Signup']));
      expect(await store.getEventDefinitions(account)).toMatchObject([
        { eventID: 7, count: 1 },
        { eventID: 17, count: 3 },
      ]);
    });

    test('show the value sent under the target ID if an event has both attributes', async () => {
      const site = await newSite();
      const { merge } = merger(site);
      await site.server.log(
        {
          attributes: [
            ['Plan', 'pro'],
            ['size', 'L'],
          ],
        },
        {
          attributes: [
            ['Plan', 'pro'],
            ['plan', 'free'],
          ],
        },
      );
      await merge('attr', 'plan', 'Plan');
      expect((await site.events()).map(({ attributes }) => attributes)).toEqual([
        [
          ['plan', 'pro'],
          ['size', 'L'],
        ],
        [['plan', 'free']],
      ]);
      expect(await site.events({ attrID: 'Plan', attrValue: 'pro' })).toHaveLength(1);
      expect(await site.events({ attrID: 'plan', attrValue: 'free' })).toHaveLength(1);
      expect(await site.events({ attrID: 'plan' })).toHaveLength(2);
      expect((await site.events({ attrID: 'plan', asSent: true })).map(({ attributes }) => attributes)).toEqual([
        [
          ['Plan', 'pro'],
          ['size', 'L'],
        ],
        [
          ['Plan', 'pro'],
          ['plan', 'free'],
        ],
      ]);
    });

    test('combine two tags, attributes or profiles of contacts in every read until they are unmerged', async () => {
      const site = await newSite();
      const { merge, unmerge } = merger(site);
      const [one, two, three] = await Promise.all([
        site.server.createContact({
          address: ann,
          tags: ['vip'],
          attributes: [['plan', 'pro']],
          fields: { contactProfileID: 'Retail' },
        }),
        site.server.createContact({
          address: ben,
          userUUID: phone,
          tags: ['VIP'],
          attributes: [['Plan', 'pro']],
          fields: { contactProfileID: 'retail' },
        }),
        site.server.createContact({
          address: cleo,
          userUUID: null,
          tags: ['VIP', 'vip'],
          attributes: [
            ['Plan', 'pro'],
            ['plan', 'free'],
          ],
        }),
      ]);
      const [a, b, c] = [one, two, three].map(({ contactUUID }) => contactUUID) as [string, string, string];
      const read = () => Promise.all([a, b, c].map((uuid) => site.server.getContact(uuid, 'claim', 'link', 'merge')));
      const before = await read();
      await merge('tag', 'vip', 'VIP');
      await merge('attr', 'plan', 'Plan');
      await merge('profile', 'retail', 'Retail');
      for (const contact of await read()) {
        expect(contact.tags).toEqual([{ tagID: 'vip', tagName: 'vip', opt: true }]);
      }
      expect((await read()).map(({ attributes }) => attributes)).toEqual([
        [['plan', 'pro']],
        [['plan', 'pro']],
        [['plan', 'free']],
      ]);
      expect((await read()).map(({ fields }) => fields.contactProfileID)).toEqual(['retail', 'retail', '']);
      const sent = {
        account: site.account,
        token: site.server.token,
        browser: false,
        include: ['claim' as const],
        asSent: true,
      };
      expect(await site.store.getContact({ ...sent, contactUUID: c })).toMatchObject({
        tags: [
          { tagID: 'VIP', opt: true },
          { tagID: 'vip', opt: true },
        ],
        attributes: [
          ['Plan', 'pro'],
          ['plan', 'free'],
        ],
      });
      for (const sort of ['created', 'seen'] as const) {
        for (const descending of [false, true]) {
          const order = { sort, descending };
          for (const contactTagID of ['vip', 'VIP'])
            expect((await findContacts(site, { contactTagID, ...order })).sort()).toEqual([a, b, c].sort());
          expect((await findContacts(site, { attrID: 'Plan', attrValue: 'pro', ...order })).sort()).toEqual(
            [a, b].sort(),
          );
          expect(await findContacts(site, { attrID: 'plan', attrValue: 'free', ...order })).toEqual([c]);
          expect((await findContacts(site, { contactProfileID: 'Retail', ...order })).sort()).toEqual([a, b].sort());
        }
      }
      await unmerge('tag', 'VIP');
      await unmerge('attr', 'Plan');
      await unmerge('profile', 'Retail');
      expect(await read()).toEqual(before);
      expect(await findContacts(site, { contactTagID: 'VIP' })).not.toContain(a);
    });

    test('let searches by either ID find each contact once, page by page', async () => {
      const site = await newSite();
      const { store, account } = site;
      const all: string[] = [];
      for (let nth = 0; nth < 12; nth += 1) {
        const tags = [['vip'], ['VIP'], ['vip', 'Vip'], ['VIP', 'Vip']][nth % 4] as string[];
        all.push(
          (await site.server.createContact({ address: `p${nth}@example.com`, userUUID: null, tags })).contactUUID,
        );
      }
      const { merge } = merger(site);
      await merge('tag', 'vip', 'VIP');
      await merge('tag', 'vip', 'Vip');
      for (const sort of ['created', 'seen'] as const) {
        for (const descending of [false, true]) {
          const pages: string[] = [];
          for (let beyond: ContactSearch['beyond'] | null; beyond !== null; ) {
            const page = await store.searchContact({
              account,
              contactTagID: 'vip',
              limit: 2,
              sort,
              descending,
              beyond,
            });
            pages.push(...page.contacts.map(({ contactUUID }) => contactUUID));
            beyond = page.next;
          }
          expect(pages).toEqual(descending ? all.toReversed() : all);
        }
      }
    });

    test('store new values for the merged ID under the target ID, and remove values under both', async () => {
      const site = await newSite({
        catalogues: {
          tag: [{ id: 'VIP' }],
          attr: [{ id: 'Plan' }, { id: 'plan' }],
          profile: [{ id: 'Retail' }, { id: 'retail' }],
        },
      });
      const { merge, unmerge } = merger(site);
      const { contactUUID } = await site.server.createContact({
        tags: ['VIP', 'vip'],
        attributes: [
          ['Plan', 'old'],
          ['plan', 'new'],
        ],
      });
      await merge('tag', 'vip', 'VIP');
      await merge('attr', 'plan', 'Plan');
      await merge('profile', 'retail', 'Retail');
      const change = (changes: Parameters<Site['update']>[0]) => site.update({ contactUUID, ...changes });
      expect(await change({ attributes: [['Plan', 'newest']], fields: { contactProfileID: 'Retail' } })).toMatchObject({
        updated: ['contactProfileID', 'contactAttr'],
      });
      expect(await change({ addedTags: ['VIP'] })).toMatchObject({ updated: [] });
      expect(await change({ removedTags: ['VIP'] })).toMatchObject({ updated: ['contactTagID'] });
      const read = await site.server.getContact(contactUUID);
      expect(read).toMatchObject({ attributes: [['plan', 'newest']], tags: [{ tagID: 'vip', opt: false }] });
      expect(read.fields.contactProfileID).toBe('retail');
      expect(await change({ attributes: [['plan', null]] })).toMatchObject({ updated: ['contactAttr'] });
      expect((await site.server.getContact(contactUUID)).attributes).toEqual([]);
      await unmerge('tag', 'VIP');
      await unmerge('attr', 'Plan');
      const after = await site.server.getContact(contactUUID);
      expect(after.attributes).toEqual([]);
      expect(after.tags.map(({ opt }) => opt)).toEqual([false, false]);
    });

    test('combine values in browsers’ claims, which still replace nothing', async () => {
      const site = await newSite({ browserCatalogue: true });
      const { merge } = merger(site);
      const { contactUUID: handle } = await site.browser.createContact({
        tags: ['VIP'],
        attributes: [['Plan', 'claimed']],
      });
      await site.server.createContact({ attributes: [['plan', 'own']] });
      await site.change({ catalogues: { tag: [{ id: 'vip' }] } });
      await merge('tag', 'vip', 'VIP');
      await merge('attr', 'plan', 'Plan');
      const [contactUUID] = await findContacts(site, { contactTagID: 'vip' });
      const contact = await site.server.getContact(contactUUID as string, 'claim');
      expect(contact).toMatchObject({ attributes: [['plan', 'own']], claimed: ['tag.vip'] });
      expect(contact.claims).toMatchObject([{ tags: ['vip'], attributes: [['plan', 'claimed']] }]);
      expect(await site.browser.getContact(handle)).toMatchObject({ attributes: [['plan', 'claimed']] });
      await site.browser.createContact({ attributes: [['Plan', 'again']] });
      expect(await site.browser.getContact(handle)).toMatchObject({ attributes: [['plan', 'again']] });
    });

    test('update a merged attribute in a full claim', async () => {
      const site = await newSite({ browserCatalogue: true, catalogues: { attr: [{ id: 'plan' }] } });
      const others = Array.from({ length: limits.attributesPerClaim - 1 }, (_, nth) => [`a${nth}`, 'x'] as const);
      const { contactUUID: handle } = await site.browser.createContact({ attributes: [['Plan', 'old'], ...others] });
      await merger(site).merge('attr', 'plan', 'Plan');
      for (const value of ['new', 'newest']) {
        await site.browser.createContact({ attributes: [['Plan', value]] });
        const { attributes } = await site.browser.getContact(handle);
        expect(attributes).toHaveLength(limits.attributesPerClaim);
        expect(attributes).toContainEqual(['plan', value]);
      }
    });

    test('let browser tokens use the merged ID only if they are allowed to use the target ID', async () => {
      const site = await newSite({
        strict: true,
        catalogues: {
          event: [{ id: '7', browser: false }, { id: '17' }],
          tag: [{ id: 'vip' }, { id: 'VIP', browser: false }],
        },
      });
      const { merge, unmerge } = merger(site);
      expect(await site.browser.log({ eventID: 17 })).toEqual([{ kept: true }]);
      await merge('event', '7', '17');
      await merge('tag', 'vip', 'VIP');
      expect(await site.browser.log({ eventID: 17 })).toMatchObject([{ refused: 'id_not_for_browser' }]);
      expect(await site.server.log({ eventID: 17 })).toEqual([{ kept: true }]);
      expect(await site.browser.createContact({ tags: ['VIP'] })).toMatchObject({ exists: false });
      await unmerge('event', '17');
      await unmerge('tag', 'VIP');
      expect(await site.browser.log({ eventID: 17 })).toEqual([{ kept: true }]);
      await expectRefusal(site.browser.createContact({ tags: ['VIP'] }), 'id_not_for_browser', 'contactTagID');
    });

    test('reject cycles, chains, unlisted IDs and the service’s own attributes', async () => {
      const site = await newSite({
        catalogues: {
          tag: ['a', 'b', 'c', 'd'].map((id) => ({ id })),
          attr: [{ id: 'plan' }, { id: labelIDs.browser }],
        },
      });
      const { merge, unmerge } = merger(site);
      const refused = (attempt: Promise<unknown>, field: string) => expectRefusal(attempt, 'merge_refused', field);
      await refused(merge('tag', 'a', 'a'), 'otherEntryID');
      await merge('tag', 'a', 'b');
      // Repeats the merge, which has no effect.
      await merge('tag', 'a', 'b');
      await refused(merge('tag', 'b', 'a'), 'entryID');
      await refused(merge('tag', 'b', 'c'), 'entryID');
      await refused(merge('tag', 'c', 'b'), 'otherEntryID');
      await refused(merge('tag', 'c', 'a'), 'otherEntryID');
      await expectRefusal(merge('tag', 'a', '__proto__'), 'unknown_entry', 'otherEntryID');
      await expectRefusal(merge('tag', 'x', 'a'), 'unknown_entry', 'entryID');
      await expectRefusal(merge('profile', 'a', 'b'), 'unknown_entry', 'entryID');
      await refused(merge('attr', 'plan', labelIDs.browser), 'otherEntryID');
      await refused(merge('attr', labelIDs.browser, 'plan'), 'entryID');
      await refused(unmerge('tag', 'a'), 'otherEntryID');
      await expectRefusal(unmerge('tag', 'x'), 'unknown_entry', 'otherEntryID');
      await unmerge('tag', 'b');
      await refused(unmerge('tag', 'b'), 'otherEntryID');
    });

    test('cannot be removed, even with force', async () => {
      const site = await newSite({ catalogues: { tag: [{ id: 'vip' }, { id: 'VIP' }] } });
      const { merge, unmerge } = merger(site);
      await merge('tag', 'vip', 'VIP');
      for (const id of ['vip', 'VIP']) {
        const removal = site.change({ catalogues: { tag: [{ id, remove: true, force: true }] } });
        await expectRefusal(removal, 'id_in_use', 'tag[0].tagID');
      }
      await unmerge('tag', 'VIP');
      await site.change({ catalogues: { tag: [{ id: 'VIP', remove: true }] } });
    });

    test('are limited in number, and remain when the catalogue is full', async () => {
      const full = Array.from({ length: limits.idsPerCatalogue }, (_, nth) => nth + 1);
      const site = await newSite();
      await site.browser.log(...full.map((eventID) => ({ eventID })));
      const { merge } = merger(site);
      const maxMerges = limits.mergesPerCatalogue;
      for (let nth = 2; nth <= maxMerges + 1; nth += 1) await merge('event', '1000', String(nth));
      await expectRefusal(merge('event', '1000', '500'), 'merge_refused', 'otherEntryID');
      await expectRefusal(merge('event', '501', '500'), 'merge_refused', 'otherEntryID');
      expect(await site.events({ eventID: 1_000 })).toHaveLength(maxMerges + 1);
      // The server's new event replaces the newest entry that only browsers used.
      await site.server.log({ eventID: 2_000 });
      const ids = (await site.store.listCatalogue({ account: site.account, kind: 'event' })).map(({ id }) => id);
      expect(ids).toEqual(expect.arrayContaining(['2000', '1000', '2', String(maxMerges + 1)]));
      expect(ids).not.toContain('999');
    });

    test('affect only their own account', async () => {
      const catalogues = { tag: [{ id: 'vip' }, { id: 'VIP' }] };
      const [site, other] = [await newSite({ catalogues }), await newSite({ catalogues })];
      await merger(site).merge('tag', 'vip', 'VIP');
      const { contactUUID } = await other.server.createContact({ tags: ['VIP'] });
      expect((await other.server.getContact(contactUUID)).tags).toMatchObject([
        { tagID: 'VIP', opt: true },
        { tagID: 'vip', opt: false },
      ]);
    });

    test('read as if sent under the target IDs until the last unmerge, then as sent, in any history', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 30 }), async (actions) => {
          const site = await newSite({
            catalogues: {
              event: eventIDs.map((id) => ({ id: String(id), name: `Event ${id}` })),
              attr: names.map((id) => ({ id })),
            },
          });
          const { store, account, time } = site;
          const { merge, unmerge } = merger(site);
          const logged: Logged[] = [];
          const pointers = { event: new Map<string, string>(), attr: new Map<string, string>() };

          const checkReads = async () => {
            const read = logged.map((event) => readAs(event, pointers));
            const toStored = (events: readonly Logged[]) =>
              events.map(({ eventID, attributes }) => ({ eventID, eventName: `Event ${eventID}`, attributes }));
            const expectEvents = async (query: Partial<EventQuery>, expected: readonly Logged[]) =>
              expect(await site.events(query)).toMatchObject(toStored(expected));
            await expectEvents({}, read);
            const edges = [time - 10 * quarter, time - 4 * quarter, time + quarter];
            for (const eventID of eventIDs) {
              const target = Number(pointers.event.get(String(eventID)) ?? eventID);
              const matches = read.filter((event) => event.eventID === target);
              await expectEvents({ eventID }, matches);
              await expectEvents(
                { eventID, userUUID: phone },
                matches.filter(({ user }) => user === phone),
              );
              const counts = edges.slice(1).map((to, nth) => {
                const within = matches.filter(({ eventTime }) => eventTime >= (edges[nth] as number) && eventTime < to);
                return { events: within.length, users: new Set(within.map(({ user }) => user)).size };
              });
              expect(await store.countEvents({ account, eventID, edges, users: true })).toEqual(counts);
              const withoutRobots = { account, eventName: `Event ${eventID}`, edges, users: true, withoutRobots: true };
              expect(await store.countEvents(withoutRobots)).toEqual(counts);
            }
            for (const attrID of names) {
              const target = pointers.attr.get(attrID) ?? attrID;
              const having = (value: string) =>
                read.filter(({ attributes }) => attributes.some(([id, has]) => id === target && has === value));
              for (const attrValue of ['a', 'b']) await expectEvents({ attrID, attrValue }, having(attrValue));
            }
            const definitions = eventIDs.flatMap((eventID) => {
              const times = read.filter((event) => event.eventID === eventID).map(({ eventTime }) => eventTime);
              if (times.length === 0) return [];
              const [firstTime, lastTime] = [Math.min(...times), Math.max(...times)];
              return [{ eventID, eventName: `Event ${eventID}`, count: times.length, firstTime, lastTime }];
            });
            expect(await store.getEventDefinitions(account)).toEqual(definitions);
          };

          for (const act of actions) {
            if (act.do === 'check') await checkReads();
            else if (act.do === 'log') {
              const { eventID, user, attributes } = act;
              const eventTime = time - act.quarters * quarter;
              logged.push({ eventID, user, eventTime, attributes });
              await site.server.log({ eventID, userUUID: user, eventTime, attributes });
            } else {
              const ids = act.kind === 'event' ? eventIDs.map(String) : names;
              const [keep, other] = [ids[act.keep] as string, ids[act.other] as string];
              const result = act.do === 'merge' ? merge(act.kind, keep, other) : unmerge(act.kind, other);
              const isDone = await result.then(
                () => true,
                () => false,
              );
              if (isDone && act.do === 'merge') pointers[act.kind].set(other, keep);
              if (isDone && act.do === 'unmerge') pointers[act.kind].delete(other);
            }
          }
          await checkReads();
          for (const kind of ['event', 'attr'] as const)
            for (const other of [...pointers[kind].keys()]) {
              await unmerge(kind, other);
              pointers[kind].delete(other);
            }
          await checkReads();
        }),
        { numRuns: runs(8, 60) },
      );
    });
  });
};
