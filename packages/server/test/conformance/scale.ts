// Tests more objects than a driver caches or reads at a time. The driver must still find the first objects.
import { endOfTime } from '@firsthand/contract/fields';
import { limits } from '@firsthand/contract/limits';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../src/shared/refusal.ts';
import { createSite } from '../fixtures/site.ts';
import { ann, ben, expectRefusal, newID, newToken, quarter } from '../fixtures/store.ts';
import type { NewSite } from './sites.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, nth) => nth);

/**
 * Calls the store for each entry. Limits concurrent calls to what the store queues, and retries calls that time out.
 */
const callForAll = async <Entry, Result>(
  entries: readonly Entry[],
  call: (entry: Entry) => Promise<Result>,
  maxConcurrent = 100,
) => {
  const callUntilAvailable = async (entry: Entry): Promise<Result> => {
    for (;;) {
      try {
        return await call(entry);
      } catch (error) {
        if (!(error instanceof Refusal && error.code === 'unavailable')) throw error;
      }
    }
  };
  const responses: Result[] = [];
  for (let at = 0; at < entries.length; at += maxConcurrent) {
    responses.push(...(await Promise.all(entries.slice(at, at + maxConcurrent).map(callUntilAvailable))));
  }
  return responses;
};

export const describeScale = (newSite: NewSite): void => {
  describe('a store with a very large number of objects', () => {
    test('counts each visitor once, and still finds the first visitor after the last', async () => {
      const site = await newSite();
      const { store, account, server, time } = site;
      const userUUIDOf = (nth: number) => `visitor-number-${nth}`;
      for (const batch of numbers(51)) {
        await server.log(...numbers(1_000).map((nth) => ({ userUUID: userUUIDOf(1_000 * batch + nth) })));
      }
      await server.log({ userUUID: userUUIDOf(0) }, { userUUID: userUUIDOf(50_999) });
      expect((await store.getAccount(account)).usage).toMatchObject({ users: 51_000, events: 51_002 });
      expect(await store.countEvents({ account, edges: [time, time + quarter], users: true })).toEqual([
        { events: 51_002, users: 51_000 },
      ]);
      for (const nth of [0, 50_999]) expect(await site.events({ userUUID: userUUIDOf(nth) })).toHaveLength(2);
    });

    test('accepts each token until it is revoked', async () => {
      const { store, account, time } = await newSite();
      const tokens = numbers(10_002).map(() => newToken('browser'));
      await callForAll(tokens, (token) => store.createToken({ ...token, account }));
      const findAll = () => callForAll(tokens, async ({ hash }) => (await store.findAccess(hash))?.tokenID);
      const tokenIDs: (string | undefined)[] = tokens.map(({ tokenID }) => tokenID);
      expect(await findAll()).toEqual(tokenIDs);
      expect(await findAll()).toEqual(tokenIDs);
      await store.revokeToken({ account, tokenID: tokenIDs[0] as string, time });
      expect(await findAll()).toEqual([undefined, ...tokenIDs.slice(1)]);
    });

    test('limits a contact’s claims: drops the oldest with their links, but not accepted or verified ones', async () => {
      const site = await newSite();
      const claimBy = (userUUID: string, changes = {}) =>
        site.browser.createContact({ userUUID, newHandle: newID('handle'), ...changes });
      const users = [
        'accepted-visitor',
        'verified-visitor',
        'proven-visitor-1',
        'oldest-visitor-1',
        'second-visitor-1',
      ];
      await site.browser.log(...users.map((userUUID) => ({ userUUID, eventUUID: `event-${userUUID}` })));
      const accepted = await claimBy('accepted-visitor');
      await site.acceptClaim(accepted.contactUUID);
      const verified = await claimBy('verified-visitor');
      const { contactUUID } = await site.server.createContact({ userUUID: 'verified-visitor' });
      const proven = await claimBy('proven-visitor-1', { verified: true });
      await site.update({ contactUUID, externalID: 'customer-of-crowd' });
      const byID = await claimBy('visitor-by-the-id', { externalID: 'customer-of-crowd', address: undefined });
      const oldest = await claimBy('oldest-visitor-1', { requestUUID: 'request-of-oldest' });
      await claimBy('oldest-visitor-1', { address: ben });
      await claimBy('second-visitor-1');
      await callForAll(numbers(limits.claimsPerContact - 4), (nth) => claimBy(`one-of-a-crowd-${nth}`), 20);
      const ownedBy = async () => {
        const owners = await site.owners();
        return users.filter((userUUID) => owners[`event-${userUUID}`] === contactUUID);
      };
      // The limit is reached. The accepted claim does not count. The two verified claims count, but are never dropped.
      expect(await ownedBy()).toEqual(users);
      await claimBy('one-too-many-1');
      expect(await ownedBy()).toEqual(users.filter((userUUID) => userUUID !== 'oldest-visitor-1'));
      await expectRefusal(site.browser.getContact(oldest.contactUUID), 'unknown_contact');
      // Claims with the contact's other key have their own limit.
      for (const { contactUUID: handle } of [accepted, verified, proven, byID]) await site.browser.getContact(handle);
      // The dropped claim no longer has an effect, but the user's later claim does.
      const { contactUUID: other } = await site.store.getContact({
        account: site.account,
        token: site.server.token,
        browser: false,
        address: ben,
        include: [],
      });
      expect((await site.owners())['event-oldest-visitor-1']).toBe(other);
      const again = await claimBy('oldest-visitor-1', { requestUUID: 'request-of-oldest' });
      expect(again.exists).toBe(false);
      expect(await ownedBy()).not.toContain('second-visitor-1');
      expect((await site.browser.getContact(again.contactUUID)).fields.contactEmailaddress).toBe(ann);
    });

    test('stores at most 10,000 notes per account', async () => {
      const { store, account, time } = await newSite();
      const create = (noteID: string, noteTime: number) =>
        store.createNote({ account, noteID, noteText: 'Released', noteTime, time });
      const max = limits.notesPerAccount;
      await callForAll(numbers(max), (nth) => create(`n${nth}`, nth));
      await expectRefusal(create('one more', time), 'invalid_field', 'noteText');
      expect(await create('again', 0)).toEqual({ noteID: 'n0' });
      await store.deleteNote({ account, noteID: 'n0' });
      expect(await create('one more', time)).toEqual({ noteID: 'one more' });
      const { length } = await store.listNotes({ account, from: 0, to: endOfTime, limit: max });
      expect(length).toBe(max);
    });

    test('applies each account’s own catalogue and strictness', async () => {
      const { store, time } = await newSite();
      const sites = await callForAll(numbers(502), (nth) =>
        createSite(store, { time, strict: nth % 2 === 1, catalogues: { event: [{ id: String(nth + 1) }] } }),
      );
      for (const _ of ['first', 'again']) {
        const logging = sites.map(
          ({ server }, nth) =>
            () =>
              server.log({ eventID: nth + 1 }, { eventID: 1_000 }),
        );
        const outcomes = await callForAll(logging, (log) => log());
        const unlisted = [{ kept: true }, { refused: 'unknown_id' }];
        expect(outcomes).toMatchObject(sites.map((_, nth) => [{ kept: true }, unlisted[nth % 2]]));
      }
    });
  });
};
