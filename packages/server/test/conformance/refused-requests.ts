import { limits } from '@firsthand/contract/limits';
import { describe, expect, test } from 'vitest';
import type { NewRefusedRequest, RefusedRequest, Store, StoreCaller } from '../../src/store/store.ts';
import { type Caller, createSite, type Site } from '../fixtures/site.ts';
import { ann, expectRefusal, laptop, newContact, newEvent, phone, tablet } from '../fixtures/store.ts';
import type { NewSite } from './sites.ts';

const refusedEvent = (changes: Partial<NewRefusedRequest> = {}): NewRefusedRequest => ({
  operation: 'logEvent',
  input: { userUUID: laptop, eventID: 0 },
  address: null,
  code: 'invalid_field',
  field: 'eventID',
  message: 'eventID must be a whole number',
  ...changes,
});

const recordFrom = ({ store, account, time }: Site, { token }: Caller, sender: number, requests: NewRefusedRequest[]) =>
  store.addRefused({ account, token, time, sender, requests });

const record = (site: Site, caller: Caller, ...requests: NewRefusedRequest[]) => recordFrom(site, caller, 0, requests);

const listOf = async ({ store, account }: { store: Store; account: number }): Promise<RefusedRequest[]> => {
  const requests: RefusedRequest[] = [];
  for (let beyond: number | null = 0; beyond !== null; ) {
    const page = await store.listRefused({ account, beyond, limit: 400 });
    requests.push(...page.requests);
    beyond = page.next;
  }
  return requests;
};

const countOf = async ({ store, account }: Site, { tokenID }: Caller) => {
  const counts = await store.countRefused({ account });
  const { listed, evicted, erased, replayed } = counts.find((count) => count.tokenID === tokenID) ?? {};
  return { listed, evicted, erased, replayed };
};

const toStoreCaller = ({ account, token, browser }: Caller): StoreCaller => ({ account, token, browser });

const none = { listed: 0, evicted: 0, erased: 0, replayed: 0 };

export const describeRefusedRequests = (newSite: NewSite): void => {
  describe('refused requests', () => {
    test('are listed as sent, oldest first, with their errors and tokens', async () => {
      const site = await newSite();
      const { server, browser, account, accountUUID, time } = site;
      const text = refusedEvent({
        input: 'no "fields" \0',
        code: 'invalid_json',
        field: undefined,
        message: 'no JSON',
      });
      await record(site, server, refusedEvent(), text);
      await record(site, browser, refusedEvent({ operation: 'createContact', address: ann }));
      const common = { account, accountUUID, refused: expect.any(Number), refusedTime: time, robot: false };
      const ofServer = {
        ...common,
        token: server.token,
        tokenID: server.tokenID,
        tokenKind: 'server',
        tokenText: null,
      };
      const { address: _, ...first } = refusedEvent();
      expect(await listOf(site)).toEqual([
        { ...ofServer, ...first },
        { ...ofServer, operation: 'logEvent', input: text.input, code: 'invalid_json', field: '', message: 'no JSON' },
        expect.objectContaining({ tokenID: browser.tokenID, tokenKind: 'browser', operation: 'createContact' }),
      ]);
      expect(await countOf(site, server)).toEqual({ ...none, listed: 2 });
    });

    test('record whether a bot sent them', async () => {
      const { store, account, browser, time, ...site } = await newSite();
      const batch = { account, token: browser.token, time, sender: 0, requests: [refusedEvent()] };
      await store.addRefused({ ...batch, robot: true });
      await store.addRefused({ ...batch, robot: false });
      expect((await listOf({ ...site, store, account })).map(({ robot }) => robot)).toEqual([true, false]);
    });

    test('are listed for their own account only', async () => {
      const [site, other] = [await newSite(), await newSite()];
      await record(site, site.server, refusedEvent());
      expect(await listOf(other)).toEqual([]);
      expect(await other.store.countRefused({ account: other.account })).toEqual([]);
      const all = await listOf({ ...other, account: null as never });
      expect(all.filter(({ account }) => account === site.account)).toHaveLength(1);
    });

    test('are evicted and counted beyond a token’s limit, oldest first', async () => {
      const site = await newSite();
      const { server, browser } = site;
      await record(site, browser, refusedEvent());
      const requests = Array.from({ length: limits.refusedPerToken + 5 }, (_, number) =>
        refusedEvent({ input: { number } }),
      );
      await record(site, server, ...requests.slice(0, 600));
      await record(site, server, ...requests.slice(600));
      expect(await countOf(site, server)).toEqual({ ...none, listed: limits.refusedPerToken, evicted: 5 });
      const serverRequests = (await listOf(site)).filter(({ tokenID }) => tokenID === server.tokenID);
      expect(serverRequests.map(({ input }) => input)).toEqual(requests.slice(5).map(({ input }) => input));
      expect(await countOf(site, browser)).toEqual({ ...none, listed: 1 });
    });

    test('are evicted beyond a token’s byte limit, even if a single request exceeds it', async () => {
      const site = await newSite();
      const half = refusedEvent({ input: 'x'.repeat(limits.refusedBytesPerToken / 2) });
      await record(site, site.server, half, half, half);
      expect(await countOf(site, site.server)).toEqual({ ...none, listed: 1, evicted: 2 });
      await record(site, site.server, refusedEvent({ input: 'x'.repeat(limits.refusedBytesPerToken) }));
      expect(await countOf(site, site.server)).toEqual({ ...none, evicted: 4 });
    });

    test('stay listed when another sender keeps filling the list, and all requests are counted', async () => {
      const site = await newSite();
      const { browser } = site;
      const [visitor, another, hostile] = [1, 2, 3];
      await recordFrom(site, browser, visitor, [refusedEvent({ input: { of: 'visitor' } })]);
      const some = Array.from({ length: 20 }, (_, number) => refusedEvent({ input: { of: 'another', number } }));
      await recordFrom(site, browser, another, some);
      const many = Array.from({ length: limits.refusedPerToken }, () => refusedEvent({ input: { of: 'hostile' } }));
      for (let round = 0; round < 2; round += 1) await recordFrom(site, browser, hostile, many);
      const huge = refusedEvent({ input: 'x'.repeat(limits.refusedTextLength) });
      await recordFrom(
        site,
        browser,
        hostile,
        Array.from({ length: 35 }, () => huge),
      );
      const others = (await listOf(site)).flatMap(({ input }) =>
        typeof input === 'object' && input.of !== 'hostile' ? [input] : [],
      );
      expect(others).toEqual([{ of: 'visitor' }, ...some.map(({ input }) => input)]);
      const { listed, evicted, ...rest } = await countOf(site, browser);
      expect(rest).toEqual({ erased: 0, replayed: 0 });
      expect((listed as number) + (evicted as number)).toBe(21 + 2_035);
      expect(listed).toBe((await listOf(site)).length);
    });

    test('are replayed once, and then removed from the list', async () => {
      const site = await newSite();
      const { store, server, time } = site;
      await record(site, server, refusedEvent());
      const [{ refused } = { refused: 0 }] = await listOf(site);
      const request = {
        ...toStoreCaller(server),
        receivedTime: time,
        events: [newEvent({ eventUUID: 'event-replayed' })],
      };
      const replay = () => store.replayRefused({ refused, write: 'logEvents', request });
      const responses = await Promise.all([replay(), replay(), replay()]);
      expect(responses.filter((response) => response !== undefined)).toEqual([[{ kept: true }]]);
      expect(await site.events()).toMatchObject([{ eventUUID: 'event-replayed' }]);
      expect(await countOf(site, server)).toEqual({ ...none, replayed: 1 });
      expect(await replay()).toBeUndefined();
    });

    test('create and change contacts when they are replayed', async () => {
      const site = await newSite();
      const { store, server, account, time } = site;
      await record(
        site,
        server,
        refusedEvent({ operation: 'createContact' }),
        refusedEvent({ operation: 'updateContact' }),
      );
      const [first, second] = await listOf(site);
      const contact = { ...newContact({ time }), ...toStoreCaller(server), verified: true };
      const created = await store.replayRefused({
        refused: first?.refused as number,
        write: 'createContact',
        request: contact,
      });
      const { contactUUID } = created as { contactUUID: string };
      const request = { account, contactUUID, fields: { contactTitle: 'Dr' } };
      await store.replayRefused({
        refused: second?.refused as number,
        write: 'updateContact',
        request: { ...request, addedTags: [], removedTags: [], attributes: [], time },
      });
      expect((await server.getContact(contactUUID)).fields.contactTitle).toBe('Dr');
      expect(await countOf(site, server)).toEqual({ ...none, replayed: 2 });
    });

    test('change nothing if they are rejected again, even if some of their events are valid', async () => {
      const site = await newSite();
      const { store, server, time } = site;
      await record(site, server, refusedEvent({ operation: 'logEvents' }));
      const [{ refused } = { refused: 0 }] = await listOf(site);
      const replay = (...events: ReturnType<typeof newEvent>[]) =>
        store.replayRefused({
          refused,
          write: 'logEvents',
          request: { ...toStoreCaller(server), receivedTime: time, events },
        });
      const good = newEvent({ eventTime: time, userUUID: phone });
      await expectRefusal(replay(good, newEvent({ contactUUID: 'nobody' })), 'unknown_contact');
      expect(await site.events()).toEqual([]);
      expect(await site.count()).toBe(0);
      expect(await countOf(site, server)).toEqual({ ...none, listed: 1 });
      expect(await replay(good)).toEqual([{ kept: true }]);
      expect(await site.count()).toBe(1);
    });

    test('are erased with a contact that they identify by address, contactUUID, handle or user', async () => {
      const site = await newSite();
      const { server, browser } = site;
      const { contactUUID: handle } = await browser.createContact({
        userUUID: phone,
        address: 'josé@xn--bcher-kva.example',
      });
      const { contactUUID } = await server.createContact({ userUUID: laptop, address: 'josé@xn--bcher-kva.example' });
      const naming = [
        { userUUID: laptop },
        { userUUID: phone, contactFirstname: 'José' },
        { contactUUID },
        { contactUUID: handle },
        { contactEmailaddress: ' JOSÉ@bücher.example' },
        { contactEmailaddress: 'jose\u0301@xn--bcher-kva.example' },
        { eventAttrArray: [{ attrID: 'note', attrValue: `sent\nto ${contactUUID}\n${laptop}` }] },
        `{"contactEmailaddress":"jos%C3%A9%40BÜCHER.example"`,
        '{"contactEmailaddress":"jos\\u00e9@b\\u00fccher.example"',
        `\n${laptop}`,
      ];
      const address = 'josé@xn--bcher-kva.example';
      const others = [{ userUUID: 'tablet-0123456789' }, { contactEmailaddress: ann }, 'laptop'];
      for (const input of [...naming, ...others]) await record(site, server, refusedEvent({ input }));
      await record(site, browser, refusedEvent({ input: { contactEmailaddress: 'josé@ＢÜcher.example' }, address }));
      const other = await newSite();
      await record(other, other.server, refusedEvent({ input: { userUUID: laptop } }));

      await site.erase(contactUUID);
      expect((await listOf(site)).map(({ input }) => input)).toEqual(others);
      expect(await countOf(site, server)).toEqual({ ...none, listed: others.length, erased: naming.length });
      expect(await countOf(site, browser)).toEqual({ ...none, erased: 1 });
      expect(await listOf(other)).toHaveLength(1);
    });

    test('are not erased if they identify other people, whatever external ID and userUUID a page gave the erased person', async () => {
      const site = await newSite();
      const { server, browser, store, account, time } = site;
      await browser.createContact({ userUUID: 'contactEmailaddress', externalID: 'userUUID', address: undefined });
      await browser.createContact({ userUUID: phone, externalID: 'newsletter', address: undefined });
      await server.createContact({ userUUID: null, externalID: 'CD12', address: 'anna@shop.example' });
      await browser.createContact({ userUUID: phone, externalID: 'shop.example', address: 'anna@shop.example' });
      await server.createContact({ userUUID: null, externalID: 'customer-7', address: undefined });
      await browser.createContact({ userUUID: tablet, externalID: 'customer-7', address: 'anna@shop.example' });
      const ofOthers = [
        { userUUID: laptop, contactExternalID: 'customer-7' },
        { userUUID: laptop, contactEmailaddress: 'joanna@shop.example', contactTagID: 'newsletter' },
        { userUUID: laptop, contactExternalID: 'cd12', eventID: 0 },
        { userUUID: laptop, eventAttrArray: [{ attrID: 'url', attrValue: 'https://shop.example/newsletter' }] },
        `{"userUUID":"${laptop}","contactEmailaddress":"joanna@shop.example"`,
      ];
      const ofErased = [
        { contactExternalID: 'newsletter' },
        { contactExternalID: { id: 'shop.example' } },
        { 'user-uuid': phone },
        `{'contactExternalID':'CD12'}`,
        'contactEmailaddress=anna%40shop.example&x=%ff',
      ];
      const message = '`contactEmailaddress` and `userUUID` are wrong';
      for (const input of [...ofOthers, ...ofErased]) await record(site, server, refusedEvent({ input, message }));
      for (const externalID of ['userUUID', 'newsletter', 'CD12'])
        await store.eraseContact({ account, externalID, time });
      expect((await listOf(site)).map(({ input }) => input)).toEqual(ofOthers);
      expect(await countOf(site, server)).toEqual({ ...none, listed: ofOthers.length, erased: ofErased.length });
    });

    test('are counted but not stored if they identify an erased contact', async () => {
      const site = await newSite();
      const { server, browser } = site;
      const { contactUUID: handle } = await browser.createContact();
      const { contactUUID } = await server.createContact();
      await site.erase(contactUUID);
      await record(
        site,
        server,
        refusedEvent({ input: { contactUUID, eventID: 0 } }),
        refusedEvent({ operation: 'logEvents', input: { event: [null, { contactUUID }] } }),
        refusedEvent({ input: `{"contactUUID":"${contactUUID}"` }),
        refusedEvent({ input: { contactUUID: 'nobody' } }),
      );
      await record(site, browser, refusedEvent({ input: { contactUUID: handle } }));
      expect((await listOf(site)).map(({ input }) => input)).toEqual([{ contactUUID: 'nobody' }]);
      expect(await countOf(site, server)).toEqual({ ...none, listed: 1, erased: 3 });
      expect(await countOf(site, browser)).toEqual({ ...none, erased: 1 });
    });

    test('are stored no longer than events', async () => {
      const site = await newSite();
      await record(site, site.server, refusedEvent());
      await site.store.deleteEventsBefore({ time: site.time, limit: 10_000 });
      expect(await countOf(site, site.server)).toEqual({ ...none, listed: 1 });
      await site.store.deleteEventsBefore({ time: site.time + 1, limit: 10_000 });
      expect(await countOf(site, site.server)).toEqual({ ...none, evicted: 1 });
    });

    test('are deleted up to the given number per call, across all accounts', async () => {
      const one = await newSite();
      const other = await createSite(one.store);
      const before = { time: Math.max(one.time, other.time) + 1 };
      // Deletes what other tests have left.
      while ((await one.store.deleteEventsBefore({ ...before, limit: 10_000 })) > 0);
      for (const site of [one, other]) await record(site, site.server, refusedEvent(), refusedEvent());
      const readCounts = async () => [await countOf(one, one.server), await countOf(other, other.server)];
      expect(await one.store.deleteEventsBefore({ ...before, limit: 3 })).toBe(3);
      expect(await readCounts()).toEqual([
        { ...none, evicted: 2 },
        { ...none, evicted: 1, listed: 1 },
      ]);
      expect(await one.store.deleteEventsBefore({ ...before, limit: 3 })).toBe(1);
      expect(await readCounts()).toEqual([
        { ...none, evicted: 2 },
        { ...none, evicted: 2 },
      ]);
    });
  });
};
