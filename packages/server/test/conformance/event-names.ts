import { unlistedNameID } from '@firsthand/contract/labels';
import { limits } from '@firsthand/contract/limits';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { unlistedIDOf } from '../../src/store/rules/accounts/unlisted-names.ts';
import type { CatalogueEntry, CountQuery, NewEvent } from '../../src/store/store.ts';
import type { Site } from '../fixtures/site.ts';
import { newID } from '../fixtures/store.ts';
import type { NewSite } from './sites.ts';

const firstID = 1_000_000;

const byName = (eventName: string, changes: Partial<NewEvent> = {}): Partial<NewEvent> => ({
  eventID: null,
  eventName,
  ...changes,
});
const times = (count: number) => Array.from({ length: count }, (_, nth) => nth);
const names = (count: number, of = 'name') => times(count).map((nth) => `${of} ${nth}`);

const listEntries = async ({ store, account }: Site) =>
  (await store.getAccount(account)).catalogues.event.map(({ id, name }) => [Number(id), name]);
const listNames = async (site: Site) => (await listEntries(site)).map(([, name]) => name);
const addEntries = (site: Site, ...event: CatalogueEntry[]) => site.change({ catalogues: { event } });
const isKept = ({ kept }: { kept: boolean }) => kept;

export const describeEventNames = (newSite: NewSite): void => {
  describe('an event that is logged by name', () => {
    test('does not take the ID or name of an entry that is added with it', async () => {
      const site = await newSite({
        catalogues: {
          event: [
            { id: String(firstID), name: 'a' },
            { id: null, name: 'b' },
          ],
        },
      });
      expect(await listEntries(site)).toEqual([
        [firstID, 'a'],
        [firstID + 1, 'b'],
      ]);
      await addEntries(site, { id: null, name: 'c' }, { id: String(firstID + 2), name: 'd' }, { id: null, name: 'd' });
      expect((await listEntries(site)).slice(2).toSorted()).toEqual([
        [firstID + 2, 'd'],
        [firstID + 3, 'c'],
      ]);
      await addEntries(site, { id: String(firstID), name: 'e' }, { id: null, name: 'a' });
      expect(await listEntries(site)).toContainEqual([firstID, 'e']);
      expect(await listEntries(site)).toContainEqual([firstID + 4, 'a']);
    });

    test('gets the next free ID from 1,000,000 up, with either kind of token, and keeps it', async () => {
      const site = await newSite({ catalogues: { event: [{ id: String(firstID + 1) }, { id: '7', name: 'Bought' }] } });
      await site.browser.log(byName('Signed up'));
      await site.server.log(byName('Signed out'), byName('Signed up'), byName('Bought'));
      await site.browser.log(byName('Signed out'));
      expect(await listEntries(site)).toEqual([
        [7, 'Bought'],
        [firstID, 'Signed up'],
        [firstID + 1, String(firstID + 1)],
        [firstID + 2, 'Signed out'],
      ]);
      expect((await site.events()).map(({ eventID, eventName }) => [eventID, eventName])).toEqual([
        [firstID, 'Signed up'],
        [firstID + 2, 'Signed out'],
        [firstID, 'Signed up'],
        [7, 'Bought'],
        [firstID + 2, 'Signed out'],
      ]);
    });

    test('is found and counted by its name', async () => {
      const site = await newSite();
      await site.server.log(byName('Signed up'), byName('Bought'), { eventID: 7 }, byName('Signed up'));
      await site.server.log({ eventID: firstID });
      expect(await site.events({ eventName: 'Signed up' })).toHaveLength(3);
      expect(await site.events({ eventName: ' Signed up ' })).toHaveLength(3);
      expect(await site.events({ eventName: 'Signed up', order: 'desc', limit: 1 })).toHaveLength(3);
      expect(await site.events({ eventName: '7' })).toMatchObject([{ eventID: 7 }]);
      expect(await site.count({ eventName: 'Signed up' })).toBe(3);
      expect(await site.count({ eventName: 'Signed up', withoutRobots: true })).toBe(3);
      expect(await site.events({ eventName: 'signed up' })).toEqual([]);
      expect(await site.count({ eventName: 'signed up' })).toBe(0);
      expect(await site.count({ eventName: 'nothing', withoutRobots: true, users: true })).toBe(0);
      const { store, account } = site;
      const page = await store.getEvents({ account, eventName: 'nothing', order: 'asc', limit: 1 });
      const newest = await store.getEvents({ account, order: 'desc', limit: 1 });
      expect(page).toMatchObject({ events: [], next: null });
      // The follower continues from there, and finds the name once it exists.
      expect(page.through).toBeGreaterThanOrEqual(newest.events[0]?.sequence as number);
      await site.server.log(byName('nothing'));
      expect(await site.events({ eventName: 'nothing', beyond: page.through })).toHaveLength(1);
      expect(await store.getEventDefinitions(account)).toMatchObject([
        { eventID: 7, count: 1 },
        { eventID: firstID, eventName: 'Signed up', count: 3 },
        { eventID: firstID + 1, eventName: 'Bought', count: 1 },
        { eventID: firstID + 2, eventName: 'nothing', count: 1 },
      ]);
    });

    test('keeps its ID when it is renamed, and frees the old name', async () => {
      const site = await newSite();
      await site.server.log(byName('Signup'));
      await addEntries(site, { id: String(firstID), name: 'Signed up' });
      await site.browser.log(byName('Signed up'));
      expect(await site.events({ eventName: 'Signed up' })).toMatchObject([{ eventID: firstID }, { eventID: firstID }]);
      expect(await site.events({ eventName: 'Signup' })).toEqual([]);
      await site.browser.log(byName('Signup'));
      expect(await site.events({ eventName: 'Signup' })).toMatchObject([{ eventID: firstID + 1 }]);
    });

    test('can be listed beforehand with only its name', async () => {
      const site = await newSite({ catalogues: { event: [{ id: null, name: 'Bought' }] } });
      await addEntries(
        site,
        { id: null, name: 'Sold', browser: false },
        { id: null, name: ' Bought ' },
        { id: null, name: 'Sold' },
      );
      await site.server.log(byName('Sold'), byName('Bought'), byName('Returned'));
      expect(await site.browser.log(byName('Sold'))).toMatchObject([{ refused: 'id_not_for_browser' }]);
      expect(await listEntries(site)).toEqual([
        [firstID, 'Bought'],
        [firstID + 1, 'Sold'],
        [firstID + 2, 'Returned'],
      ]);
    });

    test('takes the lowest of several IDs whose names equal its own after Unicode normalization', async () => {
      const site = await newSite({ catalogues: { event: [{ id: '12', name: 'Caf\u0065\u0301 ' }] } });
      await addEntries(site, { id: '100', name: 'Café' }, { id: '13', name: ' Café' });
      await site.server.log(byName('Café'));
      expect(await site.events()).toMatchObject([{ eventID: 12 }]);
      expect(await site.events({ eventName: 'Cafe\u0301' })).toMatchObject([{ eventID: 12 }]);
    });

    test('never takes a removed name’s ID', async () => {
      const site = await newSite();
      await site.server.log(byName('Old'));
      await addEntries(site, { id: String(firstID), remove: true });
      await site.server.log(byName('New'), byName('Old'));
      expect(await listEntries(site)).toEqual([
        [firstID + 1, 'New'],
        [firstID + 2, 'Old'],
      ]);
    });

    test('never takes an ID under which events are stored, whether or not the ID is listed', async () => {
      const site = await newSite();
      const numbers = times(limits.idsPerCatalogue).map((nth) => ({ eventID: nth + 1 }));
      await addEntries(site, ...numbers.map(({ eventID }) => ({ id: String(eventID) })));
      // These numbers are stored but not listed, because the catalogue is full.
      await site.server.log({ eventID: firstID }, { eventID: firstID + 2 });
      await addEntries(site, ...times(9).map((nth) => ({ id: String(nth + 1), remove: true })));
      await site.server.log(byName('One'), { eventID: firstID + 4 });
      await addEntries(site, { id: null, name: 'Listed' }, { id: String(firstID + 4), remove: true, force: true });
      await site.server.log(byName('Other'));
      expect((await listEntries(site)).filter(([id]) => Number(id) >= firstID)).toEqual([
        [firstID + 1, 'One'],
        [firstID + 3, 'Listed'],
        [firstID + 5, 'Other'],
      ]);
      expect(await site.events({ eventName: 'One' })).toHaveLength(1);
      expect(await site.events({ eventID: firstID })).toMatchObject([{ eventName: String(firstID) }]);
    });

    test('never takes an ID that was dropped in the same batch to make room for a name', async () => {
      const site = await newSite();
      await site.browser.log(...times(limits.idsPerCatalogue - 1).map((nth) => ({ eventID: nth + 1 })));
      const sent = [{ eventID: firstID }, { eventID: firstID + 1 }, byName('One'), byName('Other')];
      expect(await site.browser.log(...sent)).toEqual(sent.map(() => ({ kept: true })));
      const ids = (await site.events()).slice(-4).map(({ eventID }) => eventID);
      expect(new Set(ids).size).toBe(4);
    });

    test('is stored once, and adds no name if it is a duplicate or is rejected', async () => {
      const site = await newSite();
      const eventUUID = newID('event');
      await site.browser.log(byName('Signed up', { eventUUID }));
      const repeats = [byName('Another', { eventUUID }), { eventID: 7, eventUUID }];
      const outcomes = await site.browser.log(...repeats, byName('Refused', { contactUUID: 'nobody' }));
      expect(outcomes).toMatchObject([{ duplicate: true }, { duplicate: true }, { refused: 'unknown_contact' }]);
      const twice = newID('event');
      expect(
        await site.server.log(byName('One', { eventUUID: twice }), byName('Other', { eventUUID: twice })),
      ).toMatchObject([{ kept: true }, { duplicate: true }]);
      expect(await listEntries(site)).toEqual([
        [firstID, 'Signed up'],
        [firstID + 1, 'One'],
      ]);
    });

    test('is rejected if a strict account does not list its name or withholds it from browsers', async () => {
      const event = [
        { id: '7', name: 'Bought' },
        { id: '8', name: 'Paid', browser: false },
      ];
      const site = await newSite({ strict: true, catalogues: { event } });
      const sent = [byName('Bought'), byName('Paid'), byName('Sold')];
      const unknown = { refused: 'unknown_id', field: 'eventName', message: expect.stringContaining('Sold') };
      expect(await site.browser.log(...sent)).toMatchObject([
        { kept: true },
        { refused: 'id_not_for_browser', field: 'eventName' },
        unknown,
      ]);
      expect(await site.server.log(...sent)).toMatchObject([{ kept: true }, { kept: true }, unknown]);
      expect(await listEntries(site)).toHaveLength(2);
    });

    test('leaves room for other names: browser tokens add at most 500, and their numeric IDs are dropped first', async () => {
      const site = await newSite();
      const maxNames = limits.eventNamesByBrowsers;
      const outcomes = await site.browser.log(...names(maxNames + 1).map((name) => byName(name)));
      expect(outcomes.filter(isKept)).toHaveLength(maxNames + 1);
      expect(await listEntries(site)).toHaveLength(maxNames);
      // Listed names still work. Numeric IDs fill the catalogue, and are dropped when a name needs room.
      expect(await site.browser.log(byName('name 0'))).toEqual([{ kept: true }]);
      await site.browser.log(...times(limits.idsPerCatalogue).map((nth) => ({ eventID: nth + 1 })));
      expect(await listEntries(site)).toHaveLength(limits.idsPerCatalogue);
      // A name that a server token has used belongs to the site, and no longer counts toward the limit.
      expect(await site.server.log(byName('name 1'), byName('the server’s'))).toEqual([{ kept: true }, { kept: true }]);
      await site.browser.log(byName('one more'), byName('and another'));
      expect(await listNames(site)).toContain('one more');
      expect(await listNames(site)).not.toContain('and another');
      await site.server.log(...names(maxNames - 2, 'the server’s').map((name) => byName(name)));
      expect(await listEntries(site)).toHaveLength(limits.idsPerCatalogue);
      expect(await site.server.log(byName('name 2'), byName('too much'), { eventID: 5_000 })).toEqual(
        times(3).map(() => ({ kept: true })),
      );
      expect(await listNames(site)).not.toContain('too much');
      // Expects that no name was dropped: each name still has its ID.
      expect((await site.events({ eventName: 'name 499' })).map(({ eventID }) => eventID)).toEqual([firstID + 499]);
      await addEntries(site, { id: String(firstID + 499), remove: true });
      expect(await site.server.log(byName('too much'))).toEqual([{ kept: true }]);
      expect(await listNames(site)).toContain('too much');
      expect(await site.events({ eventName: 'too much' })).toHaveLength(2);
    });

    test('is stored, found, and counted under its name, whether or not the name is listed', async () => {
      const site = await newSite();
      const { account, store } = site;
      const attributes: NewEvent['attributes'] = [['plan', 'free']];
      const unlisted = (eventName: string) => byName(eventName, { attributes, mayAddName: false });
      await site.browser.log(unlisted('Signed up'), unlisted('Signed out'), unlisted('Signed up'));
      expect(await listEntries(site)).toEqual([]);
      const before = await site.events({ eventName: 'Signed up', order: 'asc' });
      expect(before).toMatchObject(
        times(2).map(() => ({ eventName: 'Signed up', attributes: [...attributes, [unlistedNameID, 'Signed up']] })),
      );
      const [eventID] = before.map((event) => event.eventID) as [number];
      expect(await site.events({ eventID: unlistedIDOf('Signed up') })).toHaveLength(2);
      const count = async (query: Pick<CountQuery, 'eventID' | 'eventName' | 'withoutRobots'>) => {
        const edges = [0, Math.floor(site.time / 900_000 + 1) * 900_000];
        return (await store.countEvents({ account, edges, users: true, ...query }))[0];
      };
      expect(await count({ eventName: 'Signed up' })).toEqual({ events: 2, users: 1 });
      expect(await count({ eventName: 'Signed up', withoutRobots: true })).toEqual({ events: 2, users: 1 });
      expect(await count({ eventName: 'Never sent' })).toEqual({ events: 0, users: 0 });

      // Lists the name, which then has its stored events' ID.
      await site.browser.log(byName('Signed up'));
      expect(await listEntries(site)).toEqual([[eventID, 'Signed up']]);
      const of = await site.events({ eventID, order: 'asc' });
      expect(of.map(({ eventName }) => eventName)).toEqual(times(3).map(() => 'Signed up'));
      expect(await count({ eventName: 'Signed up' })).toEqual({ events: 3, users: 1 });
      expect(await store.getEventDefinitions(account)).toMatchObject([{ eventID, eventName: 'Signed up', count: 3 }]);
      await addEntries(site, { id: null, name: 'Signed out' });
      expect((await listEntries(site)).map(([, name]) => name).toSorted()).toEqual(['Signed out', 'Signed up']);
      expect(await site.events({ eventID: unlistedIDOf('Signed out') })).toHaveLength(1);
      // Logs under a name's numeric ID. The event is still found by the name.
      await site.browser.log(unlisted('Paid'), { eventID: unlistedIDOf('Paid') });
      expect((await site.events({ eventName: 'Paid' })).map(({ eventName }) => eventName)).toEqual([
        'Paid',
        String(unlistedIDOf('Paid')),
      ]);
    });

    test('is not found by its former name', async () => {
      const site = await newSite();
      const purchase = byName('Purchase', { mayAddName: false });
      await site.browser.log(purchase);
      await site.browser.log(byName('Purchase'));
      const id = String(unlistedIDOf('Purchase'));
      await addEntries(site, { id, name: 'Order paid', browser: false });
      expect(await site.browser.log(purchase)).toEqual([{ kept: true }]);
      expect(await site.events({ eventName: 'Order paid' })).toHaveLength(2);
      expect(await site.events({ eventName: 'Purchase' })).toMatchObject([{ eventName: 'Purchase' }]);
      // Lists the name again, which then keeps its event.
      await site.browser.log(byName('Purchase'));
      expect(await site.events({ eventName: 'Purchase' })).toHaveLength(2);
      expect(await site.events({ eventName: 'Order paid' })).toHaveLength(2);
    });

    test('is rejected when sent from a page if the eventID for its name is withheld from pages', async () => {
      const site = await newSite();
      await addEntries(site, { id: String(unlistedIDOf('Forged')), browser: false });
      const forged = byName('Forged', { mayAddName: false });
      expect((await site.browser.log(forged)).map(isKept)).toEqual([false]);
      expect((await site.browser.log(byName('Forged'))).map(isKept)).toEqual([false]);
      expect(await site.events()).toEqual([]);
      expect(await site.server.log(forged)).toEqual([{ kept: true }]);
    });

    test('is listed under a free ID, no matter which eventIDs a page has sent', async () => {
      const site = await newSite();
      const highest = times(200).map((nth) => ({ eventID: limits.eventIDMax - nth }));
      await site.browser.log(...highest, { eventID: firstID }, byName('Signed up'));
      expect((await site.events({ eventName: 'Signed up' })).map(({ eventID }) => eventID)).toEqual([firstID + 1]);
    });

    test('has one ID, no matter how many clients log it concurrently', async () => {
      const site = await newSite();
      for (const round of times(5)) {
        const shared = names(3, `round ${round}:`);
        await Promise.all(
          times(12).map((nth) =>
            (nth % 2 ? site.server : site.browser).log(...shared.map((name) => byName(name)), { eventID: round + 1 }),
          ),
        );
      }
      const event = await listEntries(site);
      expect(event).toHaveLength(20);
      expect(new Set(event.map(([, name]) => name)).size).toBe(20);
      expect(new Set((await site.events()).map(({ eventID, eventName }) => `${eventID} ${eventName}`)).size).toBe(20);
    });

    test('is stored as if it were logged alone, no matter what else is in the batch', async () => {
      const event = fc.oneof(
        fc.constantFrom(...names(4)).map((name) => byName(name)),
        fc.constantFrom(1, 2, firstID, firstID + 1, firstID + 2).map((eventID) => ({ eventID })),
      );
      await fc.assert(
        fc.asyncProperty(fc.boolean(), fc.array(event, { minLength: 1, maxLength: 12 }), async (browser, sent) => {
          const [oneByOne, batched] = await Promise.all([newSite(), newSite()]);
          const callerOf = (site: Site) => (browser ? site.browser : site.server);
          for (const each of sent) await callerOf(oneByOne).log(each);
          await callerOf(batched).log(...sent);
          const readState = async (site: Site) => {
            const events = (await site.events()).map(({ eventID, eventName }) => [eventID, eventName]);
            return { events, entries: await listEntries(site) };
          };
          expect(await readState(batched)).toEqual(await readState(oneByOne));
        }),
        { numRuns: 15 },
      );
    });
  });
};
