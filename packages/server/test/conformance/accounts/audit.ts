import { describe, expect, test } from 'vitest';
import { ann, ben, laptop, newToken, phone } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

export const describeAudit = (newSite: NewSite): void => {
  describe('the audit log', () => {
    test('lists who did what to whom and when, newest first', async () => {
      const site = await newSite();
      const { store, account, accountUUID, server, browser, time } = site;
      const by = server.token;
      const { contactUUID } = await server.createContact({ address: ann });
      const { contactUUID: otherContactUUID } = await server.createContact({ address: ben, userUUID: phone });
      const claim = await browser.createContact({ address: ann });
      const childToken = newToken('viewer', { createdBy: by, time });
      await store.updateAccount({ account, accountName: 'Another name', catalogues: {}, contacts: [], by, time });
      await store.createToken({ ...childToken, account });
      await store.revokeToken({ account, tokenID: childToken.tokenID, by, time });
      const { linkID } = await store.linkUser({
        account,
        token: by,
        userUUID: laptop,
        contactUUID: otherContactUUID,
        time,
      });
      const { linkID: unlinkID } = await store.unlinkUser({ account, token: by, userUUID: laptop, time });
      await store.voidLinks({ account, restore: false, links: { linkID }, by, time });
      await store.acceptClaim({ account, claimID: claim.contactUUID, by, time });
      await store.voidClaim({ account, claimID: claim.contactUUID, restore: false, by, time });
      await store.mergeContact({ account, contactUUID, otherContactUUID, by, time });
      await store.unmergeContact({ account, otherContactUUID, by, time });
      await store.recordAudit({ action: 'exportContact', subject: { contactUUID }, account, by, time });
      await store.eraseContact({ account, contactUUID, by, time: time + 1 });

      const { entries, next } = await store.listAudit({ account, limit: 100 });
      expect(next).toBeNull();
      expect(entries.map(({ action, subject }) => [action, subject])).toEqual([
        ['eraseContact', { contactUUID }],
        ['exportContact', { contactUUID }],
        ['unmergeContact', { otherContactUUID }],
        ['mergeContact', { contactUUID, otherContactUUID }],
        ['voidClaim', { claimID: claim.contactUUID, contactUUID, restore: false }],
        ['acceptClaim', { claimID: claim.contactUUID, contactUUID }],
        ['voidLink', { linkID, links: 1, restore: false }],
        ['unlinkUser', { linkID: unlinkID }],
        ['linkUser', { contactUUID: otherContactUUID, linkID }],
        ['revokeToken', { tokenID: childToken.tokenID }],
        ['createToken', { tokenID: childToken.tokenID, tokenKind: 'viewer' }],
        ['updateAccount', { field: ['accountName'] }],
        ['createToken', { tokenID: browser.tokenID, tokenKind: 'browser' }],
        ['createToken', { tokenID: server.tokenID, tokenKind: 'server' }],
        ['createAccount', {}],
      ]);
      expect(entries.map(({ actor }) => actor)).toEqual([...Array(12).fill(server.tokenID), null, null, null]);
      expect(entries[0]).toMatchObject({ accountUUID, time: time + 1 });
      // Expects no address, name or user in the entries.
      const text = JSON.stringify(entries);
      for (const personal of [ann, ben, laptop, phone]) expect(text).not.toContain(personal);
    });

    test('omits operations that were rejected or had no effect', async () => {
      const site = await newSite();
      const { store, account, server, time } = site;
      const before = (await store.listAudit({ account, limit: 100 })).entries.length;
      await store.mergeContact({ account, contactUUID: 'nobody', otherContactUUID: 'no-one', time }).catch(() => {});
      await store.revokeToken({ account, tokenID: 'nothing', time }).catch(() => {});
      await store.createToken({ ...newToken('server'), hash: 'taken', account });
      await store.createToken({ ...newToken('server'), hash: 'taken', account }).catch(() => {});
      const { contactUUID } = await server.createContact({ userUUID: laptop });
      for (const _ of [1, 2]) await store.unlinkUser({ account, token: server.token, userUUID: laptop, time });
      for (const later of [1, 2]) await store.eraseContact({ account, contactUUID, time: time + later });
      const entries = (await store.listAudit({ account, limit: 100 })).entries.slice(0, -before);
      expect(entries.map(({ action }) => action)).toEqual(['eraseContact', 'unlinkUser', 'createToken']);
    });

    test('adds an entry to a token’s own account, with its creator, when the token is revoked', async () => {
      const { store, account, time } = await newSite();
      const operator = newToken('operator');
      await store.createToken({ ...operator, account: null });
      const createdBy = (await store.findAccess(operator.hash))?.token as number;
      const childToken = newToken('server', { createdBy, time });
      await store.createToken({ ...childToken, account });
      await store.revokeToken({ account: null, tokenID: operator.tokenID, descendants: true, time });
      const { entries } = await store.listAudit({ account, limit: 2 });
      expect(entries).toMatchObject([
        { action: 'revokeToken', subject: { tokenID: childToken.tokenID }, actor: null },
        { action: 'createToken', subject: { tokenID: childToken.tokenID }, actor: operator.tokenID },
      ]);
      const all = (await store.listAudit({ limit: 1_000 })).entries;
      expect(all).toContainEqual(
        expect.objectContaining({ action: 'revokeToken', subject: { tokenID: operator.tokenID }, accountUUID: null }),
      );
    });

    test('returns one account’s entries page by page, filtered by time and action', async () => {
      const { store, account, time } = await newSite();
      await newSite();
      for (let nth = 1; nth <= 5; nth += 1) {
        const subject = { contactUUID: `contact-${nth}` };
        await store.recordAudit({ action: 'exportContact', subject, account, by: null, time: time + nth });
      }
      const idsOf = async (query: object) =>
        (await store.listAudit({ account, action: 'exportContact', limit: 100, ...query })).entries.map(
          ({ subject }) => subject.contactUUID,
        );
      expect(await idsOf({ from: time + 2, to: time + 4 })).toEqual(['contact-3', 'contact-2']);
      expect(await idsOf({ action: 'createAccount' })).toEqual([undefined]);
      const contactUUIDs: unknown[] = [];
      for (let beyond: number | undefined; ; ) {
        const { entries, next } = await store.listAudit({ account, action: 'exportContact', limit: 2, beyond });
        contactUUIDs.push(...entries.map(({ subject }) => subject.contactUUID));
        if (next === null) break;
        beyond = next;
      }
      expect(contactUUIDs).toEqual([5, 4, 3, 2, 1].map((nth) => `contact-${nth}`));
    });
  });
};
