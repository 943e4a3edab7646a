import { unlistedNameID } from '@firsthand/contract/labels';
import { limits } from '@firsthand/contract/limits';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { unlistedIDOf } from '../../src/store/rules/accounts/unlisted-names.ts';
import type { CatalogueEntry, CountQuery, NewEvent } from '../../src/store/store.ts';
import type { Site } from '../fixtures/site.ts';
import { newID } from '../fixtures/store.ts';
import type { NewSite } from './sites.ts';

const first = 1_000_000;

const named = (eventName: string, changes: Partial<NewEvent> = {}): Partial<NewEvent> => ({
  eventID: null,
  eventName,
  ...changes,
});
const times = (count: number) => Array.from({ length: count }, (_, nth) => nth);
/** Names that no other test has. */
const names = (count: number, of = 'name') => times(count).map((nth) => `${of} ${nth}`);

const listed = async ({ store, account }: Site) =>
  (await store.getAccount(account)).catalogues.event.map(({ id, name }) => [Number(id), name]);
const namesListed = async (site: Site) => (await listed(site)).map(([, name]) => name);
const list = (site: Site, ...event: CatalogueEntry[]) => site.change({ catalogues: { event } });
const isKept = ({ kept }: { kept: boolean }) => kept;

export const describeEventNames = (newSite: NewSite): void => {
  describe('an event that is logged by name', () => {
    test('that is listed beside other entries takes no ID of theirs, and no name', async () => {
      const site = await newSite({
        catalogues: {
          event: [
            { id: String(first), name: 'a' },
            { id: null, name: 'b' },
          ],
        },
      });
      expect(await listed(site)).toEqual([
        [first, 'a'],
        [first + 1, 'b'],
      ]);
      await list(site, { id: null, name: 'c' }, { id: String(first + 2), name: 'd' }, { id: null, name: 'd' });
      expect((await listed(site)).slice(2).toSorted()).toEqual([
        [first + 2, 'd'],
        [first + 3, 'c'],
      ]);
      await list(site, { id: String(first), name: 'e' }, { id: null, name: 'a' });
      expect(await listed(site)).toContainEqual([first, 'e']);
      expect(await listed(site)).toContainEqual([first + 4, 'a']);
    });

    test('gets the next free ID from 1,000,000 on, from either kind of token, and keeps it', async () => {
      const site = await newSite({ catalogues: { event: [{ id: String(first + 1) }, { id: '7', name: 'Bought' }] } });
      await site.browser.log(named('Signed up'));
      await site.server.log(named('Signed out'), named('Signed up'), named('Bought'));
      await site.browser.log(named('Signed out'));
      expect(await listed(site)).toEqual([
        [7, 'Bought'],
        [first, 'Signed up'],
        [first + 1, String(first + 1)],
        [first + 2, 'Signed out'],
      ]);
      expect((await site.events()).map(({ eventID, eventName }) => [eventID, eventName])).toEqual([
        [first, 'Signed up'],
        [first + 2, 'Signed out'],
        [first, 'Signed up'],
        [7, 'Bought'],
        [first + 2, 'Signed out'],
      ]);
    });

    test('is found and counted by its name', async () => {
      const site = await newSite();
      await site.server.log(named('Signed up'), named('Bought'), { eventID: 7 }, named('Signed up'));
      await site.server.log({ eventID: first });
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
      // Who follows events goes on from there, and finds the name once it exists.
      expect(page.through).toBeGreaterThanOrEqual(newest.events[0]?.sequence as number);
      await site.server.log(named('nothing'));
      expect(await site.events({ eventName: 'nothing', beyond: page.through })).toHaveLength(1);
      expect(await store.getEventDefinitions(account)).toMatchObject([
        { eventID: 7, count: 1 },
        { eventID: first, eventName: 'Signed up', count: 3 },
        { eventID: first + 1, eventName: 'Bought', count: 1 },
        { eventID: first + 2, eventName: 'nothing', count: 1 },
      ]);
    });

    test('keeps its ID when it is renamed, and the old name is free for another', async () => {
      const site = await newSite();
      await site.server.log(named('Signup'));
      await list(site, { id: String(first), name: 'Signed up' });
      await site.browser.log(named('Signed up'));
      expect(await site.events({ eventName: 'Signed up' })).toMatchObject([{ eventID: first }, { eventID: first }]);
      expect(await site.events({ eventName: 'Signup' })).toEqual([]);
      await site.browser.log(named('Signup'));
      expect(await site.events({ eventName: 'Signup' })).toMatchObject([{ eventID: first + 1 }]);
    });

    test('may be listed before, by its name alone', async () => {
      const site = await newSite({ catalogues: { event: [{ id: null, name: 'Bought' }] } });
      await list(
        site,
        { id: null, name: 'Sold', browser: false },
        { id: null, name: ' Bought ' },
        { id: null, name: 'Sold' },
      );
      await site.server.log(named('Sold'), named('Bought'), named('Returned'));
      expect(await site.browser.log(named('Sold'))).toMatchObject([{ refused: 'id_not_for_browser' }]);
      expect(await listed(site)).toEqual([
        [first, 'Bought'],
        [first + 1, 'Sold'],
        [first + 2, 'Returned'],
      ]);
    });

    test('takes the lowest of several IDs with its name, in whatever form they were listed', async () => {
      const site = await newSite({ catalogues: { event: [{ id: '12', name: 'Caf\u0065\u0301 ' }] } });
      await list(site, { id: '100', name: 'Café' }, { id: '13', name: ' Café' });
      await site.server.log(named('Café'));
      expect(await site.events()).toMatchObject([{ eventID: 12 }]);
      expect(await site.events({ eventName: 'Cafe\u0301' })).toMatchObject([{ eventID: 12 }]);
    });

    test('never takes the ID of a name that was removed', async () => {
      const site = await newSite();
      await site.server.log(named('Old'));
      await list(site, { id: String(first), remove: true });
      await site.server.log(named('New'), named('Old'));
      expect(await listed(site)).toEqual([
        [first + 1, 'New'],
        [first + 2, 'Old'],
      ]);
    });

    test('never takes an ID under which events are stored, listed or not', async () => {
      const site = await newSite();
      const numbers = times(limits.idsPerCatalogue).map((nth) => ({ eventID: nth + 1 }));
      await list(site, ...numbers.map(({ eventID }) => ({ id: String(eventID) })));
      // The catalogue is full, so these numbers are stored and not listed.
      await site.server.log({ eventID: first }, { eventID: first + 2 });
      await list(site, ...times(9).map((nth) => ({ id: String(nth + 1), remove: true })));
      await site.server.log(named('One'), { eventID: first + 4 });
      await list(site, { id: null, name: 'Listed' }, { id: String(first + 4), remove: true, force: true });
      await site.server.log(named('Other'));
      expect((await listed(site)).filter(([id]) => Number(id) >= first)).toEqual([
        [first + 1, 'One'],
        [first + 3, 'Listed'],
        [first + 5, 'Other'],
      ]);
      expect(await site.events({ eventName: 'One' })).toHaveLength(1);
      expect(await site.events({ eventID: first })).toMatchObject([{ eventName: String(first) }]);
    });

    test('never takes an ID that gave way to a name in the same batch', async () => {
      const site = await newSite();
      await site.browser.log(...times(limits.idsPerCatalogue - 1).map((nth) => ({ eventID: nth + 1 })));
      const sent = [{ eventID: first }, { eventID: first + 1 }, named('One'), named('Other')];
      expect(await site.browser.log(...sent)).toEqual(sent.map(() => ({ kept: true })));
      const ids = (await site.events()).slice(-4).map(({ eventID }) => eventID);
      expect(new Set(ids).size).toBe(4);
    });

    test('is kept once: neither a repeat nor a refused event lists its name', async () => {
      const site = await newSite();
      const eventUUID = newID('event');
      await site.browser.log(named('Signed up', { eventUUID }));
      const repeats = [named('Another', { eventUUID }), { eventID: 7, eventUUID }];
      const outcomes = await site.browser.log(...repeats, named('Refused', { contactUUID: 'nobody' }));
      expect(outcomes).toMatchObject([{ duplicate: true }, { duplicate: true }, { refused: 'unknown_contact' }]);
      const twice = newID('event');
      expect(
        await site.server.log(named('One', { eventUUID: twice }), named('Other', { eventUUID: twice })),
      ).toMatchObject([{ kept: true }, { duplicate: true }]);
      expect(await listed(site)).toEqual([
        [first, 'Signed up'],
        [first + 1, 'One'],
      ]);
    });

    test('is refused when a strict account does not list its name, or keeps it from browsers', async () => {
      const event = [
        { id: '7', name: 'Bought' },
        { id: '8', name: 'Paid', browser: false },
      ];
      const site = await newSite({ strict: true, catalogues: { event } });
      const sent = [named('Bought'), named('Paid'), named('Sold')];
      const unknown = { refused: 'unknown_id', field: 'eventName', message: expect.stringContaining('Sold') };
      expect(await site.browser.log(...sent)).toMatchObject([
        { kept: true },
        { refused: 'id_not_for_browser', field: 'eventName' },
        unknown,
      ]);
      expect(await site.server.log(...sent)).toMatchObject([{ kept: true }, { kept: true }, unknown]);
      expect(await listed(site)).toHaveLength(2);
    });

    test('leaves others room: browser tokens add at most 500 names, and their numbers give way', async () => {
      const site = await newSite();
      const most = limits.eventNamesByBrowsers;
      const outcomes = await site.browser.log(...names(most + 1).map((name) => named(name)));
      expect(outcomes.filter(isKept)).toHaveLength(most + 1);
      expect(await listed(site)).toHaveLength(most);
      // Known names go on; numbers fill the catalogue, and are dropped where a name needs the room.
      expect(await site.browser.log(named('name 0'))).toEqual([{ kept: true }]);
      await site.browser.log(...times(limits.idsPerCatalogue).map((nth) => ({ eventID: nth + 1 })));
      expect(await listed(site)).toHaveLength(limits.idsPerCatalogue);
      // A name that a server token uses is the site's own, and no longer counts.
      expect(await site.server.log(named('name 1'), named('the server’s'))).toEqual([{ kept: true }, { kept: true }]);
      await site.browser.log(named('one more'), named('and another'));
      expect(await namesListed(site)).toContain('one more');
      expect(await namesListed(site)).not.toContain('and another');
      await site.server.log(...names(most - 2, 'the server’s').map((name) => named(name)));
      expect(await listed(site)).toHaveLength(limits.idsPerCatalogue);
      expect(await site.server.log(named('name 2'), named('too much'), { eventID: 5_000 })).toEqual(
        times(3).map(() => ({ kept: true })),
      );
      expect(await namesListed(site)).not.toContain('too much');
      // Of the names none was dropped: each still means its ID.
      expect((await site.events({ eventName: 'name 499' })).map(({ eventID }) => eventID)).toEqual([first + 499]);
      await list(site, { id: String(first + 499), remove: true });
      expect(await site.server.log(named('too much'))).toEqual([{ kept: true }]);
      expect(await namesListed(site)).toContain('too much');
      expect(await site.events({ eventName: 'too much' })).toHaveLength(2);
    });

    test('is stored, found, and counted under its name, whether or not the name is listed', async () => {
      const site = await newSite();
      const { account, store } = site;
      const attributes: NewEvent['attributes'] = [['plan', 'free']];
      const unlisted = (eventName: string) => named(eventName, { attributes, mayAddName: false });
      await site.browser.log(unlisted('Signed up'), unlisted('Signed out'), unlisted('Signed up'));
      expect(await listed(site)).toEqual([]);
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

      // Once it is listed, it has the ID of the events that it has.
      await site.browser.log(named('Signed up'));
      expect(await listed(site)).toEqual([[eventID, 'Signed up']]);
      const of = await site.events({ eventID, order: 'asc' });
      expect(of.map(({ eventName }) => eventName)).toEqual(times(3).map(() => 'Signed up'));
      expect(await count({ eventName: 'Signed up' })).toEqual({ events: 3, users: 1 });
      expect(await store.getEventDefinitions(account)).toMatchObject([{ eventID, eventName: 'Signed up', count: 3 }]);
      await list(site, { id: null, name: 'Signed out' });
      expect((await listed(site)).map(([, name]) => name).toSorted()).toEqual(['Signed out', 'Signed up']);
      expect(await site.events({ eventID: unlistedIDOf('Signed out') })).toHaveLength(1);
      // A number under the ID of a name does not hide the name.
      await site.browser.log(unlisted('Paid'), { eventID: unlistedIDOf('Paid') });
      expect((await site.events({ eventName: 'Paid' })).map(({ eventName }) => eventName)).toEqual([
        'Paid',
        String(unlistedIDOf('Paid')),
      ]);
    });

    test('never reaches another event by the name that this event had before', async () => {
      const site = await newSite();
      const purchase = named('Purchase', { mayAddName: false });
      await site.browser.log(purchase);
      await site.browser.log(named('Purchase'));
      const id = String(unlistedIDOf('Purchase'));
      await list(site, { id, name: 'Order paid', browser: false });
      expect(await site.browser.log(purchase)).toEqual([{ kept: true }]);
      expect(await site.events({ eventName: 'Order paid' })).toHaveLength(2);
      expect(await site.events({ eventName: 'Purchase' })).toMatchObject([{ eventName: 'Purchase' }]);
      // Once listed again, the name keeps its event.
      await site.browser.log(named('Purchase'));
      expect(await site.events({ eventName: 'Purchase' })).toHaveLength(2);
      expect(await site.events({ eventName: 'Order paid' })).toHaveLength(2);
    });

    test('is refused from a page if its events would count as those of an eventID that is closed to pages', async () => {
      const site = await newSite();
      await list(site, { id: String(unlistedIDOf('Forged')), browser: false });
      const forged = named('Forged', { mayAddName: false });
      expect((await site.browser.log(forged)).map(isKept)).toEqual([false]);
      expect((await site.browser.log(named('Forged'))).map(isKept)).toEqual([false]);
      expect(await site.events()).toEqual([]);
      expect(await site.server.log(forged)).toEqual([{ kept: true }]);
    });

    test('is listed under a free ID, whichever eventIDs a page has sent', async () => {
      const site = await newSite();
      const highest = times(200).map((nth) => ({ eventID: limits.eventIDMax - nth }));
      await site.browser.log(...highest, { eventID: first }, named('Signed up'));
      expect((await site.events({ eventName: 'Signed up' })).map(({ eventID }) => eventID)).toEqual([first + 1]);
    });

    test('is one kind of event, however many log it at the same moment', async () => {
      const site = await newSite();
      for (const round of times(5)) {
        const shared = names(3, `round ${round}:`);
        await Promise.all(
          times(12).map((nth) =>
            (nth % 2 ? site.server : site.browser).log(...shared.map((name) => named(name)), { eventID: round + 1 }),
          ),
        );
      }
      const event = await listed(site);
      expect(event).toHaveLength(20);
      expect(new Set(event.map(([, name]) => name)).size).toBe(20);
      expect(new Set((await site.events()).map(({ eventID, eventName }) => `${eventID} ${eventName}`)).size).toBe(20);
    });

    test('means what it would mean had it been logged alone, whatever else is in the batch', async () => {
      const event = fc.oneof(
        fc.constantFrom(...names(4)).map((name) => named(name)),
        fc.constantFrom(1, 2, first, first + 1, first + 2).map((eventID) => ({ eventID })),
      );
      await fc.assert(
        fc.asyncProperty(fc.boolean(), fc.array(event, { minLength: 1, maxLength: 12 }), async (browser, sent) => {
          const [alone, together] = await Promise.all([newSite(), newSite()]);
          const callerOf = (site: Site) => (browser ? site.browser : site.server);
          for (const each of sent) await callerOf(alone).log(each);
          await callerOf(together).log(...sent);
          const seen = async (site: Site) => {
            const events = (await site.events()).map(({ eventID, eventName }) => [eventID, eventName]);
            return { events, listed: await listed(site) };
          };
          expect(await seen(together)).toEqual(await seen(alone));
        }),
        { numRuns: 15 },
      );
    });
  });
};
