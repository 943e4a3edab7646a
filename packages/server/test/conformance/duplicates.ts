import { describe, expect, test } from 'vitest';
import { ben, day, expectRefusal, laptop, newID, phone } from '../fixtures/store.ts';
import type { NewSite } from './sites.ts';

const kept = { kept: true };
const duplicate = { kept: false, duplicate: true };
const sameEvent = { eventUUID: 'event-sent-twice' };

export const describeDuplicates = (newSite: NewSite): void => {
  describe('an event that is sent again', () => {
    test('is stored once within a batch', async () => {
      const { server, events } = await newSite();
      expect(await server.log(sameEvent, sameEvent, sameEvent)).toEqual([kept, duplicate, duplicate]);
      expect(await events()).toHaveLength(1);
    });

    test('is stored once even if it is in several batches', async () => {
      const { server, events } = await newSite();
      expect(await server.log(sameEvent)).toEqual([kept]);
      expect(await server.log({}, sameEvent)).toEqual([kept, duplicate]);
      expect(await events()).toHaveLength(2);
    });

    test('is a different event when sent with another kind of token, so that a page can’t suppress a server’s events', async () => {
      const { server, browser, events, time, erase, store } = await newSite();
      const { contactUUID } = await server.createContact({ userUUID: phone });
      expect(await browser.log(sameEvent)).toEqual([kept]);
      expect(await server.log({ ...sameEvent, contactUUID })).toEqual([kept]);
      // Expects the verified link that the server's event created.
      expect(await events()).toMatchObject([{ contactUUID }, { contactUUID }]);
      const callers = [browser, server];
      for (const days of [0, 1, 7]) {
        for (const caller of callers) expect(await caller.logAt(time + days * day, sameEvent)).toEqual([duplicate]);
      }
      expect(await events()).toHaveLength(2);
      await erase(contactUUID);
      while (!(await store.eraseContact({ account: server.account, contactUUID, time })).complete) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      for (const caller of callers) expect(await caller.logAt(time + 7 * day, sameEvent)).toEqual([duplicate]);
    });

    test('is stored once per kind of token when sent concurrently', async () => {
      const { server, browser, events } = await newSite();
      const outcomes = await Promise.all([browser, server, browser, server].map((caller) => caller.log(sameEvent)));
      expect(outcomes.flat().filter(({ kept }) => kept)).toHaveLength(2);
      expect(await events()).toHaveLength(2);
    });

    test('is recognized for 7 days after the first attempt, no matter how often it is sent', async () => {
      const { server, events, time } = await newSite();
      const evening = time + 14 * 3_600_000;
      expect(await server.logAt(evening, sameEvent)).toEqual([kept]);
      for (let days = 1; days <= 7; days += 1) {
        expect(await server.logAt(evening + days * day, sameEvent), `${days} days later`).toEqual([duplicate]);
      }
      expect(await events()).toHaveLength(1);
    });

    test('counts as a different event when sent by another user, by a contact, or by another contact', async () => {
      const { server, events } = await newSite();
      const ann = await server.createContact();
      const other = await server.createContact({ address: ben });
      const senders = [
        { userUUID: laptop },
        { userUUID: phone },
        { userUUID: null, contactUUID: ann.contactUUID },
        { userUUID: null, contactUUID: other.contactUUID },
      ];
      for (const sender of senders) expect(await server.log({ ...sameEvent, ...sender })).toEqual([kept]);
      for (const sender of senders) expect(await server.log({ ...sameEvent, ...sender })).toEqual([duplicate]);
      expect(await events()).toHaveLength(4);
    });

    test('belongs to its user, whether sent with or without a contact', async () => {
      const { server, events } = await newSite();
      const { contactUUID } = await server.createContact({ userUUID: phone });
      expect(await server.log(sameEvent, { ...sameEvent, contactUUID })).toEqual([kept, duplicate]);
      expect(await events()).toMatchObject([{ userUUID: laptop, contactUUID: '' }]);
    });

    test('changes nothing: the content of the first attempt stays', async () => {
      const { store, account, server, events, count, time } = await newSite();
      await server.log({ ...sameEvent, eventID: 1, attributes: [['size', 'XL']] });
      await server.logAt(time + 1, { ...sameEvent, eventID: 2, eventTime: time - 9, attributes: [['colour', 'red']] });
      expect(await events()).toMatchObject([
        { eventID: 1, eventTime: time, receivedTime: time, attributes: [['size', 'XL']] },
      ]);
      const { catalogues, usage } = await store.getAccount(account);
      expect(catalogues.event.map(({ id }) => id)).toEqual(['1']);
      expect(catalogues.attr.map(({ id }) => id)).toEqual(['size']);
      expect([usage.events, await count()]).toEqual([1, 1]);
    });

    test('does not link its user to the contact', async () => {
      const { server, events } = await newSite();
      const { contactUUID } = await server.createContact({ userUUID: phone });
      await server.log(sameEvent);
      await server.log({ ...sameEvent, contactUUID });
      expect(await events()).toMatchObject([{ contactUUID: '' }]);
      expect((await server.getContact(contactUUID, 'link')).links).toHaveLength(1);
    });

    test('is a duplicate even if it would be rejected now', async () => {
      const { server, change } = await newSite({ catalogues: { event: [{ id: '1' }] } });
      await server.log({ ...sameEvent, eventID: 7 });
      await change({ strict: true });
      await change({ catalogues: { event: [{ id: '1', browser: false }] } });
      expect(await server.log({ ...sameEvent, eventID: 7 }, { ...sameEvent, eventID: 8 })).toEqual([
        duplicate,
        duplicate,
      ]);
    });

    test('is a duplicate no matter which contact its user belongs to now', async () => {
      const { server, browser, merge, unlink, events } = await newSite();
      await server.log(sameEvent);
      const ann = await server.createContact();
      expect(await server.log(sameEvent)).toEqual([duplicate]);
      const other = await server.createContact({ address: ben });
      expect(await server.log(sameEvent)).toEqual([duplicate]);
      await browser.createContact();
      await merge(other.contactUUID, ann.contactUUID);
      expect(await server.log(sameEvent)).toEqual([duplicate]);
      await unlink(laptop);
      expect(await server.log(sameEvent)).toEqual([duplicate]);
      expect(await events()).toHaveLength(1);
    });

    test('is stored if the first attempt was rejected', async () => {
      const { server } = await newSite();
      await server.log({ ...sameEvent, contactUUID: 'nobody' });
      expect(await server.log(sameEvent)).toEqual([kept]);
    });
  });

  describe('a createContact that is sent again with its requestUUID', () => {
    const request = () => ({ requestUUID: newID('request') });

    test('returns the same result and writes nothing', async () => {
      const { server, update } = await newSite();
      const same = request();
      const first = await server.createContact({ ...same, fields: { contactFirstname: 'Ann' } });
      expect(first.exists).toBe(false);
      await update({ contactUUID: first.contactUUID, fields: { contactFirstname: 'Anna' } });
      expect(await server.createContact({ ...same, fields: { contactFirstname: 'Ann' }, tags: ['lost'] })).toEqual(
        first,
      );
      const contact = await server.getContact(first.contactUUID);
      expect(contact).toMatchObject({ fields: { contactFirstname: 'Anna' }, tags: [] });
    });

    test('also writes nothing if it has no user', async () => {
      const { server, update } = await newSite();
      const same = { ...request(), userUUID: null };
      const first = await server.createContact({ ...same, fields: { contactFirstname: 'Ann' } });
      await update({ contactUUID: first.contactUUID, fields: { contactFirstname: 'Anna' } });
      expect(await server.createContact({ ...same, fields: { contactFirstname: 'Ann' } })).toEqual(first);
      expect((await server.getContact(first.contactUUID)).fields.contactFirstname).toBe('Anna');
      const ofUser = await server.createContact({ ...same, userUUID: phone, address: ben });
      expect(ofUser.contactUUID).not.toBe(first.contactUUID);
    });

    test('returns the same handle to a browser, and adds nothing to its claim', async () => {
      const { browser } = await newSite();
      const same = request();
      const first = await browser.createContact(same);
      expect(first.exists).toBe(false);
      expect(await browser.createContact({ ...same, fields: { contactFirstname: 'Lost' } })).toEqual(first);
      expect((await browser.getContact(first.contactUUID)).fields.contactFirstname).toBe('');
    });

    test('is a different request with another token', async () => {
      const { server, browser } = await newSite();
      const same = request();
      const { contactUUID } = await server.createContact(same);
      const handle = await browser.createContact({ ...same, address: ben, newHandle: 'handle-of-ben-again' });
      expect(handle.contactUUID).toBe('handle-of-ben-again');
      const other = request();
      await browser.createContact({ ...other, userUUID: phone });
      expect(await server.createContact({ ...other, userUUID: phone })).toEqual({ exists: true, contactUUID });
    });

    test('doesn’t switch a user back to an earlier contact', async () => {
      const { server, browser, owners } = await newSite();
      for (const caller of [server, browser]) {
        const same = request();
        const { contactUUID } = await caller.createContact(same);
        const other = await server.createContact({ address: ben });
        expect((await caller.createContact(same)).contactUUID).toBe(contactUUID);
        const eventUUID = newID('event-after');
        await server.log({ eventUUID });
        expect((await owners())[eventUUID]).toBe(other.contactUUID);
      }
    });

    test('doesn’t link an unlinked user again', async () => {
      const { server, unlink, owners } = await newSite();
      const same = request();
      await server.createContact(same);
      await unlink(laptop);
      await server.createContact(same);
      await server.log({ eventUUID: 'event-after' });
      expect(await owners()).toEqual({ 'event-after': '' });
    });

    test('is recognized for 7 days', async () => {
      const { server, time } = await newSite();
      const same = request();
      const first = await server.createContact(same);
      for (let days = 1; days <= 7; days += 1) {
        expect(await server.createContact({ ...same, time: time + days * day })).toEqual(first);
      }
    });

    test('is a different request from another user', async () => {
      const { server } = await newSite();
      const same = request();
      const first = await server.createContact(same);
      const other = await server.createContact({ ...same, userUUID: phone, address: ben });
      expect(other).toEqual({ exists: false, contactUUID: expect.not.stringMatching(first.contactUUID) });
    });

    test('runs if the first attempt was rejected', async () => {
      const { server, change } = await newSite({ strict: true });
      const same = request();
      await expectRefusal(server.createContact({ ...same, tags: ['vip'] }), 'unknown_id');
      await change({ strict: false });
      const { contactUUID } = await server.createContact({ ...same, tags: ['vip'] });
      expect(await server.getContact(contactUUID)).toMatchObject({ tags: [{ tagID: 'vip', opt: true }] });
    });
  });
};
