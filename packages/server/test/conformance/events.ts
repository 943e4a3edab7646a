import { describe, expect, test } from 'vitest';
import { ben, day, laptop, phone } from '../fixtures/store.ts';
import type { NewSite } from './sites.ts';

const hostile = [
  ['__proto__', 'polluted'],
  ['constructor', 'constructor'],
  ['toString', ''],
  ['o’neil "quoted" \\ back', "';DROP TABLE event;--"],
  ['ünïcode ☃ 🎉', '\u2028 line \t tab'],
  ['%_', '%'],
  ['2', 'two'],
  ['10', 'ten'],
] as const;

export const describeEvents = (newSite: NewSite): void => {
  describe('an event', () => {
    test('is stored with all its fields', async () => {
      const { server, events, time } = await newSite();
      const outcomes = await server.logAt(time, {
        userUUID: laptop,
        eventID: 2 ** 31 - 1,
        eventUUID: 'A_-9abcdefgh',
        eventTime: time - 5,
        timeReplaced: true,
        attributes: [['size', 'XL']],
      });
      expect(outcomes).toEqual([{ kept: true }]);
      expect(await events()).toEqual([
        {
          sequence: expect.any(Number),
          eventUUID: 'A_-9abcdefgh',
          eventID: 2 ** 31 - 1,
          eventName: String(2 ** 31 - 1),
          eventTime: time - 5,
          receivedTime: time,
          timeReplaced: true,
          userUUID: laptop,
          contactUUID: '',
          attributes: [['size', 'XL']],
          why: { rule: 'nobody', linkID: null, verified: null, claimID: null, mergedFrom: null },
        },
      ]);
    });

    test('is returned by the next read', async () => {
      const { server, events } = await newSite();
      for (let nth = 1; nth <= 10; nth += 1) {
        await server.log({ eventUUID: `event-no-${nth}` });
        expect((await events()).map(({ eventUUID }) => eventUUID).at(-1)).toBe(`event-no-${nth}`);
      }
    });

    test('keeps its attributes, no matter which characters they contain', async () => {
      const { server, events } = await newSite();
      await server.log({ attributes: hostile });
      const [event] = await events();
      expect(new Map(event?.attributes)).toEqual(new Map(hostile));
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
      for (const [attrID, attrValue] of hostile) {
        expect(await events({ attrID, attrValue })).toHaveLength(1);
        expect(await events({ attrID, attrValue: `${attrValue}!` })).toHaveLength(0);
      }
      for (const attrID of ['valueOf', 'hasOwnProperty', 'size']) expect(await events({ attrID })).toHaveLength(0);
    });

    test('comes after every event that was stored before it', async () => {
      const { server, events, time } = await newSite();
      await server.logAt(time, { eventUUID: 'event-first' }, { eventUUID: 'event-second' });
      await server.logAt(time + 1, { eventUUID: 'event-third', eventTime: time - 9_000 });
      await server.logAt(time - 5, { eventUUID: 'event-fourth' });
      const stored = await events();
      expect(stored.map(({ eventUUID }) => eventUUID)).toEqual([
        'event-first',
        'event-second',
        'event-third',
        'event-fourth',
      ]);
      const sequences = stored.map(({ sequence }) => sequence);
      expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
      expect(stored.map(({ receivedTime }) => receivedTime)).toEqual([time, time, time + 1, time - 5]);
    });

    test('comes last even if the clock has been set back, and is a duplicate by either clock', async () => {
      const { server, events, time } = await newSite();
      const days = [0, 2, -3, 1, 2, -3];
      for (const [nth, sinceFirst] of days.entries()) {
        await server.logAt(time + sinceFirst * day, { eventUUID: `event-no-${nth}` });
      }
      const uuids = days.map((_, nth) => `event-no-${nth}`);
      const readUUIDs = async (query: Parameters<typeof events>[0]) =>
        (await events(query)).map(({ eventUUID }) => eventUUID);
      for (const query of [{}, { userUUID: laptop }, { eventID: 1 }, { from: 0 }]) {
        expect(await readUUIDs({ ...query, limit: 2 })).toEqual(uuids);
        expect(await readUUIDs({ ...query, limit: 2, order: 'desc' })).toEqual(uuids.toReversed());
      }
      expect(await readUUIDs({ to: time })).toEqual(['event-no-2', 'event-no-5']);
      for (const at of [time - 3 * day, time + 2 * day]) {
        const again = await server.logAt(at, ...uuids.map((eventUUID) => ({ eventUUID })));
        expect(again).toEqual(uuids.map(() => ({ kept: false, duplicate: true })));
      }
    });

    test('has its result at its position in the batch', async () => {
      const { server, events } = await newSite();
      const outcomes = await server.log(
        { eventUUID: 'event-first' },
        { eventUUID: 'event-lost', contactUUID: 'nobody' },
        { eventUUID: 'event-first' },
        { eventUUID: 'event-last' },
      );
      expect(outcomes).toEqual([
        { kept: true },
        { kept: false, refused: 'unknown_contact', field: 'contactUUID', message: expect.any(String) },
        { kept: false, duplicate: true },
        { kept: true },
      ]);
      expect((await events()).map(({ eventUUID }) => eventUUID)).toEqual(['event-first', 'event-last']);
    });

    test('is optional in a batch', async () => {
      const { server, events } = await newSite();
      expect(await server.log()).toEqual([]);
      expect(await events()).toEqual([]);
    });
  });

  describe('an event with a contactUUID', () => {
    test('belongs to that contact, and needs no user', async () => {
      const { server, events } = await newSite();
      const { contactUUID } = await server.createContact();
      await server.log({ userUUID: null, contactUUID });
      expect(await events()).toMatchObject([
        { userUUID: '', contactUUID, why: { rule: 'logged with the contact', linkID: null } },
      ]);
    });

    test('links a user who isn’t linked, including the user’s past events', async () => {
      const { server, owners } = await newSite();
      const { contactUUID } = await server.createContact({ userUUID: phone });
      await server.log({ eventUUID: 'event-before' });
      await server.log({ eventUUID: 'event-with-both', contactUUID });
      await server.log({ eventUUID: 'event-after' });
      expect(await owners()).toEqual({
        'event-before': contactUUID,
        'event-with-both': contactUUID,
        'event-after': contactUUID,
      });
      const { links } = await server.getContact(contactUUID, 'link');
      expect(links?.map(({ userUUID, verified }) => [userUUID, verified])).toEqual([
        [phone, true],
        [laptop, true],
      ]);
    });

    test('leaves a linked user unchanged', async () => {
      const { server, owners } = await newSite();
      const ann = await server.createContact();
      const other = await server.createContact({ address: ben, userUUID: phone });
      await server.log({ eventUUID: 'event-of-ben', contactUUID: other.contactUUID });
      await server.log({ eventUUID: 'event-of-ann' });
      expect(await owners()).toEqual({ 'event-of-ben': other.contactUUID, 'event-of-ann': ann.contactUUID });
      expect((await server.getContact(other.contactUUID, 'link')).links).toHaveLength(1);
    });

    test('links an unlinked user again', async () => {
      const { server, owners, unlink } = await newSite();
      const { contactUUID } = await server.createContact();
      await unlink(laptop);
      await server.log({ eventUUID: 'event-between' });
      await server.log({ eventUUID: 'event-with-both', contactUUID });
      expect(await owners()).toEqual({ 'event-between': contactUUID, 'event-with-both': contactUUID });
    });

    test('is rejected without side effects if the contact is unknown', async () => {
      const { store, account, server, browser, events, count } = await newSite();
      for (const caller of [server, browser]) {
        const outcomes = await caller.log({ contactUUID: 'nobody', eventID: 7, attributes: [['size', 'XL']] });
        expect(outcomes).toMatchObject([{ kept: false, refused: 'unknown_contact', field: 'contactUUID' }]);
      }
      const { usage, catalogues } = await store.getAccount(account);
      expect(usage).toEqual({ contacts: 0, users: 0, events: 0 });
      expect(catalogues).toMatchObject({ event: [], attr: [] });
      expect([await events(), await count(), await store.getEventDefinitions(account)]).toEqual([[], 0, []]);
    });
  });

  describe('an event with a handle', () => {
    test('counts as its user’s event', async () => {
      const { server, browser, events } = await newSite();
      const { contactUUID: handle } = await browser.createContact();
      expect(
        await browser.log({ userUUID: null, contactUUID: handle }, { userUUID: laptop, contactUUID: handle }),
      ).toEqual([{ kept: true }, { kept: true }]);
      const contact = await server.createContact();
      expect(await events({ userUUID: laptop })).toMatchObject([
        { userUUID: laptop, contactUUID: contact.contactUUID, why: { rule: 'linked' } },
        { userUUID: laptop, contactUUID: contact.contactUUID, why: { rule: 'linked' } },
      ]);
    });

    test('belongs to its user’s current contact', async () => {
      const { server, browser, owners } = await newSite();
      const { contactUUID: handle } = await browser.createContact();
      const other = await server.createContact({ address: ben });
      await browser.log({ userUUID: null, contactUUID: handle, eventUUID: 'event-of-ben' });
      expect(await owners()).toEqual({ 'event-of-ben': other.contactUUID });
    });

    test('is recognized as a duplicate, whether sent with the handle or with its user', async () => {
      const { browser } = await newSite();
      const { contactUUID: handle } = await browser.createContact();
      await browser.log({ userUUID: null, contactUUID: handle, eventUUID: 'event-once' });
      expect(await browser.log({ eventUUID: 'event-once' })).toEqual([{ kept: false, duplicate: true }]);
    });

    test('is rejected with another user, with another token, with a server token, and if its contactUUID is not a handle', async () => {
      const { server, browser, newCaller, events } = await newSite();
      const { contactUUID: handle } = await browser.createContact();
      const { contactUUID } = await server.createContact();
      const other = await newCaller('browser');
      const refused = [{ kept: false, refused: 'unknown_contact', field: 'contactUUID' }];
      expect(await browser.log({ userUUID: phone, contactUUID: handle })).toMatchObject(refused);
      expect(await other.log({ userUUID: null, contactUUID: handle })).toMatchObject(refused);
      expect(await other.log({ userUUID: laptop, contactUUID: handle })).toMatchObject(refused);
      expect(await browser.log({ userUUID: null, contactUUID })).toMatchObject(refused);
      expect(await server.log({ userUUID: null, contactUUID: handle })).toMatchObject(refused);
      expect(await server.log({ userUUID: laptop, contactUUID: handle })).toMatchObject(refused);
      expect(await events()).toEqual([]);
    });
  });
};
