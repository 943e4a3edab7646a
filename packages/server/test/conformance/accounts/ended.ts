import { describe, expect, test } from 'vitest';
import type { SignedIn } from '../../../src/store/store.ts';
import type { Site } from '../../fixtures/site.ts';
import { day, expectRefusal, hour, newToken } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

/** A session that began and ended at these times. */
const begin = async ({ store, account }: Site, createdBy: number | null, time: number, expiresTime = time + hour) => {
  const made = newToken('editor');
  await store.createToken({ ...made, account, session: true, createdBy, time, expiresTime });
  const { token } = (await store.findAccess(made.hash, time)) as { token: number };
  return { tokenID: made.tokenID, token };
};

const join = async ({ store, account, time }: Site): Promise<SignedIn> => {
  const [memberID, hash] = [`ended-${account}`, `code-of-${account}`];
  const invited = { account, memberID, emailaddress: 'ann@shop.example', kind: 'editor', hash, time } as const;
  await store.inviteMember({ ...invited, expiresTime: time + hour });
  const joining = { hash, memberName: 'Ann', password: 'hashed', time, access: newToken('editor') };
  return (await store.joinMember(joining)).access;
};

/** Deletes what has ended before a time, `most` in each commit. */
const sweep = async ({ store }: Site, time: number, most = 1_000) => {
  let deleted = 0;
  for (let after: number | null = 0; after !== null; ) {
    const some: { deleted: number; next: number | null } = await store.deleteEnded({ time, after, most });
    deleted += some.deleted;
    after = some.next;
  }
  return deleted;
};

/** Whether there is a row of a session: its tokenID is taken then. */
const isThere = async ({ store, account, time }: Site, { tokenID }: { tokenID: string }): Promise<boolean> =>
  store.revokeToken({ account, tokenID, time }).then(
    () => true,
    ({ code }) => {
      expect(code).toBe('unknown_token');
      return false;
    },
  );

export const describeEnded = (newSite: NewSite): void => {
  describe('deleteEnded', () => {
    test('deletes share links from their end on, and no others', async () => {
      const site = await newSite();
      const { store, account, time, server } = site;
      const make = async (shareID: string, expiresTime: number) => {
        const link = { shareID: `${shareID}-${account}`, shareName: 'Tea', page: 'overview', view: '{}' };
        await store.createShareLink({
          ...link,
          account,
          hash: `${shareID} ${account}`,
          expiresTime,
          by: server.token,
          time,
        });
        return link.shareID;
      };
      for (let nth = 0; nth < 5; nth += 1) await make(`ends-${nth}`, time + 10 + nth);
      const open = await make('open', time + 15);
      const listed = async () => (await store.listShareLinks({ account })).map(({ shareID }) => shareID);
      await sweep(site, time + 9);
      expect(await listed()).toHaveLength(6);
      await sweep(site, time + 14, 2);
      expect(await listed()).toEqual([open]);
    });

    test('deletes known networks from their end on, and no others', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      await join(site);
      const memberIDs = [`ended-${account}`];
      for (let nth = 0; nth < 5; nth += 1)
        await store.noteKnownNetwork({ memberIDs, network: `home ${nth}`, time: time + nth });
      const isKnown = async (network: string) =>
        (await store.findMembers({ emailaddress: 'ann@shop.example', network, time })).some((each) => each.isKnown);
      await sweep(site, time + 30 * day - 1);
      expect(await isKnown('home 0')).toBe(true);
      await sweep(site, time + 30 * day + 3, 2);
      expect([await isKnown('home 0'), await isKnown('home 3'), await isKnown('home 4')]).toEqual([false, false, true]);
    });

    test('deletes sessions a day after they ended, and keeps the newest of each member, who signed in with it', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const access = await join(site);
      const sessions = [];
      for (let nth = 0; nth < 4; nth += 1) sessions.push(await begin(site, access.token, time + nth));
      const revoked = await begin(site, access.token, time + 4, time + 30 * day);
      await store.revokeToken({ account, tokenID: revoked.tokenID, by: access.token, time: time + hour });
      const newest = await begin(site, access.token, time + 5);
      await sweep(site, time + hour + day - 1);
      await sweep(site, time + 10 * day, 2);
      const kept = [];
      for (const session of [...sessions, revoked, newest]) kept.push(await isThere(site, session));
      expect(kept).toEqual([false, false, false, false, false, true]);
      expect(await store.listMembers({ account })).toMatchObject([{ signedInTime: time + 5 }]);
      expect((await store.listAudit({ account, limit: 100 })).entries).toEqual(
        expect.arrayContaining([
          expect.objectContaining({
            action: 'createToken',
            subject: { tokenID: sessions[0]?.tokenID, tokenKind: 'editor' },
          }),
        ]),
      );
    });

    test('keeps open sessions, tokens, and what is needed to say who did something', async () => {
      const site = await newSite();
      const { store, account, time, server } = site;
      const access = await join(site);
      const by = async (): Promise<{ tokenID: string; token: number }> => begin(site, access.token, time);
      const [idle, saved, shared, invited] = [await by(), await by(), await by(), await by()];
      const made = await by();
      await store.updateAccount({
        account,
        accountName: 'Renamed',
        catalogues: {},
        contacts: [],
        by: saved.token,
        time,
      });
      const link = {
        shareID: `made-${account}`,
        shareName: 'Tea',
        page: 'overview',
        view: '{}',
        hash: `of ${account}`,
      };
      await store.createShareLink({ ...link, account, expiresTime: time + 90 * day, by: shared.token, time });
      const invitation = {
        account,
        memberID: `other-${account}`,
        emailaddress: 'ben@shop.example',
        kind: 'viewer',
      } as const;
      await store.inviteMember({
        ...invitation,
        hash: `other ${account}`,
        expiresTime: time + 1,
        by: invited.token,
        time,
      });
      await store.createToken({ ...newToken('viewer'), account, createdBy: made.token, time });
      const open = await begin(site, access.token, time, time + 30 * day);
      const expiring = newToken('viewer');
      await store.createToken({ ...expiring, account, createdBy: server.token, time, expiresTime: time + 1 });
      await sweep(site, time + 20 * day);
      expect(await isThere(site, idle)).toBe(false);
      for (const session of [saved, shared, invited, made, open, expiring])
        expect(await isThere(site, session)).toBe(true);
      expect(await store.listShareLinks({ account })).toMatchObject([{ createdBy: shared.tokenID }]);
      const { entries } = await store.listAudit({ account, limit: 100 });
      expect(entries.filter(({ action }) => action === 'updateAccount')).toMatchObject([{ actor: saved.tokenID }]);
      await expectRefusal(
        store.createToken({ ...newToken('viewer'), account, createdBy: idle.token, time }),
        'invalid_token',
      );
    });

    test('lets no later token have the number of one that it deleted', async () => {
      const site = await newSite();
      const { time } = site;
      const access = await join(site);
      const first = await begin(site, null, time);
      const last = await begin(site, null, time);
      await sweep(site, time + 3 * day);
      expect([await isThere(site, first), await isThere(site, last)]).toEqual([false, false]);
      expect((await begin(site, access.token, time)).token).toBeGreaterThan(last.token);
    });

    test('looks at so many tokens in each commit', async () => {
      const site = await newSite();
      const access = await join(site);
      const sessions = [];
      for (let nth = 0; nth < 10; nth += 1) sessions.push(await begin(site, access.token, site.time));
      const [first] = sessions;
      const after = (first?.token as number) - 1;
      const once = await site.store.deleteEnded({ time: site.time + 3 * day, after, most: 4 });
      expect(once).toEqual({ deleted: 4, next: sessions[3]?.token });
    });
  });
};
