import { limits } from '@firsthand/contract/limits';
import { describe, expect, test } from 'vitest';
import type { NewShareLink } from '../../../src/store/store.ts';
import type { Site } from '../../fixtures/site.ts';
import { expectRefusal, hour, newToken } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

let count = 0;
const view = '{"query":"","report":[]}';

/** Creates a link that expires in an hour. */
const createLink = async ({ store, account, time, server }: Site, changes: Partial<NewShareLink> = {}) => {
  count += 1;
  const link = {
    shareID: `share-${count}`,
    hash: `hash-${count}`,
    shareName: `Teapots ${count}`,
    page: 'overview',
    view,
  };
  const shareLink = { ...link, account, expiresTime: time + hour, by: server.token, time, ...changes };
  await store.createShareLink(shareLink);
  return shareLink;
};
const idsOf = async ({ store, account }: Site) =>
  (await store.listShareLinks({ account })).map(({ shareID }) => shareID);

export const describeShareLinks = (newSite: NewSite): void => {
  describe('share links', () => {
    test('are found by their secret’s hash until they expire', async () => {
      const settings = {
        accountOrigin: ['https://shop.example'],
        accountTimezone: 'Asia/Kolkata',
        accountCurrency: 'INR',
      };
      const site = await newSite(settings);
      const { store, account, time } = site;
      const { shareID, hash, shareName, expiresTime } = await createLink(site);
      const link = {
        shareID,
        account,
        shareName,
        page: 'overview',
        view,
        createdTime: time,
        expiresTime,
        lastUsedTime: null,
      };
      expect(await store.findShareLink({ hash, time })).toEqual({ ...link, ...settings });
      expect(await store.findShareLink({ hash, time: expiresTime - 1 })).toBeDefined();
      expect(await store.findShareLink({ hash, time: expiresTime })).toBeUndefined();
      expect(await store.findShareLink({ hash: shareID, time })).toBeUndefined();
    });

    test('are listed newest first, with their creator and without their hashes', async () => {
      const site = await newSite();
      const { store, account, time, server } = site;
      const first = await createLink(site);
      const second = await createLink(site, { time: time + 1, by: null });
      const commonFields = { page: 'overview', view: null, lastUsedTime: null, memberID: null };
      expect(await store.listShareLinks({ account })).toEqual(
        [
          { ...second, createdBy: null },
          { ...first, createdBy: server.tokenID },
        ].map(({ shareID, shareName, time: createdTime, expiresTime, createdBy }) => {
          return { ...commonFields, shareID, shareName, createdTime, createdBy, expiresTime };
        }),
      );
      expect(await store.listShareLinks({ account, views: true })).toMatchObject([{ view }, { view }]);
    });

    test('list the member in whose session they were created', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const invited = {
        account,
        memberID: `of-${account}`,
        emailaddress: 'ben@shop.example',
        kind: 'editor',
        time,
      } as const;
      await store.inviteMember({ ...invited, hash: `code-${account}`, expiresTime: time + 1 });
      const joining = { hash: `code-${account}`, memberName: 'Ben', password: 'hashed', time };
      const { access } = await store.joinMember({ ...joining, access: newToken('editor') });
      const session = newToken('editor');
      await store.createToken({ ...session, account, session: true, createdBy: access.token, time });
      const { token } = (await store.findAccess(session.hash)) as { token: number };
      await createLink(site, { by: token });
      expect(await store.listShareLinks({ account })).toMatchObject([
        { createdBy: session.tokenID, memberID: invited.memberID },
      ]);
    });

    test('record their last use', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const { shareID } = await createLink(site);
      for (const at of [time + 5, time + 4]) await store.recordShareLinkUse({ shareID, time: at });
      await store.recordShareLinkUse({ shareID: 'nobody', time });
      expect(await store.listShareLinks({ account })).toMatchObject([{ lastUsedTime: time + 5 }]);
    });

    test('are revoked once, and only by their own account', async () => {
      const [site, other] = [await newSite(), await newSite()];
      const { store, account, time } = site;
      const { shareID, hash } = await createLink(site);
      await expectRefusal(store.revokeShareLink({ account: other.account, shareID, time }), 'unknown_share_link');
      expect(await store.findShareLink({ hash, time })).toBeDefined();
      await store.revokeShareLink({ account, shareID, time });
      expect(await store.findShareLink({ hash, time })).toBeUndefined();
      expect(await idsOf(site)).toEqual([]);
      await expectRefusal(store.revokeShareLink({ account, shareID, time }), 'unknown_share_link');
    });

    test('appear in the audit log by their IDs', async () => {
      const site = await newSite();
      const { store, account, time, server } = site;
      const { shareID } = await createLink(site);
      await store.revokeShareLink({ account, shareID, by: server.token, time });
      const { entries } = await store.listAudit({ account, limit: 2 });
      expect(entries).toMatchObject([
        { action: 'revokeShareLink', actor: server.tokenID, subject: { shareID } },
        { action: 'createShareLink', actor: server.tokenID, subject: { shareID } },
      ]);
    });

    test('are limited to 100 unexpired ones per account, even if created concurrently', async () => {
      const site = await newSite();
      const { account, time, store } = site;
      const maxLinks = limits.shareLinksPerAccount;
      await createLink(site, { expiresTime: time + 1 });
      for (let nth = 4; nth < maxLinks; nth += 1) await createLink(site);
      const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => createLink(site)));
      const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
      expect(refused).toHaveLength(9);
      expect(refused[0]).toMatchObject({ code: 'invalid_field', field: 'shareName' });
      await createLink(site, { time: time + 1 });
      expect(await idsOf(site)).toHaveLength(maxLinks);
      await expectRefusal(createLink(site, { time: time + 1 }), 'invalid_field');
      await store.revokeShareLink({ account, shareID: (await idsOf(site))[7] as string, time });
      await createLink(site);
    });

    test('are not created by a revoked token', async () => {
      const site = await newSite();
      const { store, account, time, server } = site;
      await store.revokeToken({ account, tokenID: server.tokenID, time });
      await expectRefusal(createLink(site), 'invalid_token');
      expect(await idsOf(site)).toEqual([]);
    });

    test('outlive a revoked token, unless it is revoked with its descendants', async () => {
      const site = await newSite();
      const { store, account, time, server } = site;
      const childToken = newToken('editor');
      await store.createToken({ ...childToken, account, createdBy: server.token, time });
      const { token } = (await store.findAccess(childToken.hash)) as { token: number };
      const other = await site.newCaller('server');
      const remaining = await createLink(site, { by: other.token });
      await createLink(site);
      await createLink(site, { by: token });
      await store.revokeToken({ account, tokenID: server.tokenID, time });
      expect(await idsOf(site)).toHaveLength(3);
      await store.revokeToken({ account, tokenID: server.tokenID, descendants: true, time });
      expect(await idsOf(site)).toEqual([remaining.shareID]);
    });

    test('stop working when deletion of their account begins', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const { hash } = await createLink(site);
      await store.deleteAccount({ account, limit: 1, time });
      expect(await store.findShareLink({ hash, time })).toBeUndefined();
    });
  });
};
