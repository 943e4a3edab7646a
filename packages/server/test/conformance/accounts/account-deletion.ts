import { describe, expect, test } from 'vitest';
import type { AccountDeletion } from '../../../src/store/store.ts';
import type { Site } from '../../fixtures/site.ts';
import { ann, ben, cleo, expectRefusal, laptop, newToken, phone, tablet } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

/** Creates at least one row of every kind. */
const fill = async ({ store, account, server, browser, link, unlink, merge, voidLink, time }: Site) => {
  for (const userUUID of [laptop, phone, tablet]) {
    await browser.log(...Array.from({ length: 40 }, () => ({ userUUID, eventName: 'Viewed' })));
  }
  const { contactUUID } = await server.createContact({ address: ann, externalID: 'ann-1', tags: ['vip'] });
  const { contactUUID: other } = await server.createContact({
    ...{ address: ben, userUUID: phone, attributes: [['size', 'XL']] },
    requestUUID: 'request-0123456789',
  });
  await browser.createContact({ address: ann, userUUID: phone, fields: { contactFirstname: 'Anna' } });
  await server.log({ userUUID: null, contactUUID }, { userUUID: laptop, contactUUID });
  const { linkID } = await link(phone, contactUUID);
  await voidLink(linkID);
  await unlink(laptop);
  await merge(contactUUID, other);
  await store.inviteMember({
    ...{ account, memberID: `member-of-${account}`, emailaddress: ann, kind: 'viewer' },
    ...{ hash: `invitation-of-${account}`, expiresTime: time + 1_000, time },
  });
  const passkey = {
    passkeyID: `passkey-of-${account}`,
    passkeyName: 'Phone',
    credentialID: `credential-of-${account}`,
  };
  const registration = {
    ...{ hash: `invitation-of-${account}`, memberName: 'Ann', password: 'hashed', time },
    passkey: {
      ...passkey,
      origin: 'https://firsthand.shop.example',
      publicKey: 'pQECAyYgASFY',
      counter: 0,
      transports: [],
    },
  };
  const { memberID } = await store.joinMember({ ...registration, access: newToken('viewer') });
  await store.recordKnownNetwork({ memberIDs: [memberID], network: 'home', time });
  await store.saveSegment({ account, segmentName: 'All', filter: '{"event":1}', time });
  await store.saveView({ account, viewName: 'All', page: 'overview', query: '', time });
  await store.createGoal({
    ...{ account, goalID: `goal-of-${account}`, goalName: 'All', eventID: 1, eventName: null, path: null },
    ...{ attrID: '', time },
  });
  await store.createNote({ account, noteID: `note-of-${account}`, noteText: 'Released', noteTime: time, time });
  const shareLink = {
    shareID: `link-of-${account}`,
    shareName: 'All',
    page: 'overview',
    view: '{}',
    hash: `secret-of-${account}`,
  };
  await store.createShareLink({ account, ...shareLink, expiresTime: time + 1_000, by: server.token, time });
  const request = {
    operation: 'logEvent',
    input: { address: ann },
    address: ann,
    code: 'missing_field',
    message: '',
  } as const;
  await store.addRefused({ account, token: browser.token, time, sender: 0, requests: [request] });
};

/** Deletes an account step by step, and advances the clock by each requested pause. */
const deleteAll = async ({ store, account, time }: Site, limit: number): Promise<AccountDeletion[]> => {
  const steps: AccountDeletion[] = [];
  for (let now = time; ; now += steps.at(-1)?.pauseMilliseconds ?? 0) {
    const step = await store.deleteAccount({ account, limit, time: now });
    steps.push(step);
    if (step.isGone) return steps;
  }
};

export const describeAccountDeletion = (newSite: NewSite): void => {
  describe('deleteAccount', () => {
    test.each([10, 10_000])(
      'deletes all of the account’s data, but no other account’s data, with %i rows per step',
      async (limit) => {
        const [site, others] = [await newSite(), await newSite()];
        const { store, account, accountUUID, server, browser, time } = site;
        await fill(others);
        const before = [await others.events(), await store.getAccount(others.account), await others.count()];
        await fill(site);
        const { contactUUID } = await server.createContact({ address: cleo, userUUID: tablet });
        await site.erase(contactUUID);

        const steps = await deleteAll(site, limit);
        expect(steps.reduce((sum, { deletedEvents }) => sum + deletedEvents, 0)).toBeGreaterThan(40);
        for (const { deletedEvents } of steps) expect(deletedEvents).toBeLessThan(limit + 80);
        expect(steps.at(-1)).toMatchObject({ accountUUID, isGone: true });

        expect([await others.events(), await store.getAccount(others.account), await others.count()]).toEqual(before);
        expect(await store.findAccount(accountUUID)).toBeUndefined();
        expect((await store.listAccounts()).map((each) => each.account)).not.toContain(account);
        expect(await site.events()).toEqual([]);
        expect(await store.listTokens({ account })).toEqual([]);
        expect(await store.listMembers({ account })).toEqual([]);
        expect(await store.listPasskeys({ memberID: `member-of-${account}` })).toEqual([]);
        expect(await store.listSegments({ account })).toEqual([]);
        expect(await store.listViews({ account })).toEqual([]);
        expect(await store.listGoals({ account })).toEqual([]);
        expect(await store.listNotes({ account, from: 0, to: time + 1, limit: 10 })).toEqual([]);
        expect(await store.listShareLinks({ account })).toEqual([]);
        expect(await store.listRefused({ account, beyond: 0, limit: 10 })).toEqual({ requests: [], next: null });
        expect(await store.listAudit({ account, limit: 10 })).toEqual({ entries: [], next: null });
        const { entries } = await store.listAudit({ limit: 1 });
        expect(entries).toMatchObject([
          { action: 'deleteAccount', accountUUID: null, actor: null, subject: { accountUUID } },
        ]);
        await expectRefusal(store.getAccount(account), 'unknown_account');
        await expectRefusal(store.deleteAccount({ account, limit, time }), 'unknown_account');
        const again = await newSite();
        expect(again.account).toBeGreaterThan(account);
        expect(again.browser.token).toBeGreaterThan(Math.max(server.token, browser.token));
        await again.browser.log({ userUUID: laptop });
        expect(await again.events()).toMatchObject([{ userUUID: laptop, contactUUID: '' }]);
      },
    );

    test('revokes the tokens first, then waits until every server must have noticed', async () => {
      const site = await newSite();
      const { store, account, accountUUID, time } = site;
      const waiting = { accountUUID, deletedEvents: 0, isGone: false };
      await site.browser.log({});
      expect(await store.deleteAccount({ account, limit: 100, time })).toMatchObject({ isGone: false });
      const tokens = await store.listTokens({ account });
      expect(tokens.map(({ revokedTime }) => revokedTime)).toEqual([time, time]);
      let step = await store.deleteAccount({ account, limit: 100, time: time + 500 });
      while (step.pauseMilliseconds === 0) step = await store.deleteAccount({ account, limit: 100, time: time + 500 });
      expect(step).toEqual({ ...waiting, pauseMilliseconds: 1_500 });
      // Logs an event on this server, which has not noticed the revocation yet.
      await site.browser.log({});
      const last = { account, limit: 100, time: time + 2_000 };
      expect(await store.deleteAccount(last)).toMatchObject({ deletedEvents: 1, isGone: false });
      const steps = await deleteAll({ ...site, time: time + 2_000 }, 100);
      expect(steps.at(-1)).toMatchObject({ isGone: true });
    });
  });
};
