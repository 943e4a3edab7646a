import { describe, expect, test } from 'vitest';
import type { MemberAccess } from '../../../src/store/store.ts';
import type { Site } from '../../fixtures/site.ts';
import { day, expectRefusal, hour, newToken } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

/** Creates a session with the given start and expiry. */
const createSession = async (
  { store, account }: Site,
  createdBy: number | null,
  time: number,
  expiresTime = time + hour,
) => {
  const session = newToken('editor');
  await store.createToken({ ...session, account, session: true, createdBy, time, expiresTime });
  const { token } = (await store.findAccess(session.hash, time)) as { token: number };
  return { tokenID: session.tokenID, token };
};

const join = async ({ store, account, time }: Site): Promise<MemberAccess> => {
  const [memberID, hash] = [`ended-${account}`, `code-of-${account}`];
  const invited = { account, memberID, emailaddress: 'ann@shop.example', kind: 'editor', hash, time } as const;
  await store.inviteMember({ ...invited, expiresTime: time + hour });
  const joining = { hash, memberName: 'Ann', password: 'hashed', time, access: newToken('editor') };
  return (await store.joinMember(joining)).access;
};

/** Deletes everything that ended before a time; each commit examines up to `limit` rows. */
const sweep = async ({ store }: Site, time: number, limit = 1_000) => {
  let deleted = 0;
  for (let after: number | null = 0; after !== null; ) {
    const some: { deleted: number; next: number | null } = await store.deleteExpired({ time, after, limit });
    deleted += some.deleted;
    after = some.next;
  }
  return deleted;
};

/** Whether a session's row exists. A token can be revoked only while its row exists. */
const exists = async ({ store, account, time }: Site, { tokenID }: { tokenID: string }): Promise<boolean> =>
  store.revokeToken({ account, tokenID, time }).then(
    () => true,
    ({ code }) => {
      expect(code).toBe('unknown_token');
      return false;
    },
  );

export const describeExpiry = (newSite: NewSite): void => {
  describe('deleteExpired', () => {
    test('deletes share links when they expire, and no others', async () => {
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
      const listShareIDs = async () => (await store.listShareLinks({ account })).map(({ shareID }) => shareID);
      await sweep(site, time + 9);
      expect(await listShareIDs()).toHaveLength(6);
      await sweep(site, time + 14, 2);
      expect(await listShareIDs()).toEqual([open]);
    });

    test('deletes known networks when they expire, and no others', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      await join(site);
      const memberIDs = [`ended-${account}`];
      for (let nth = 0; nth < 5; nth += 1)
        await store.recordKnownNetwork({ memberIDs, network: `home ${nth}`, time: time + nth });
      const isKnown = async (network: string) =>
        (await store.findMembers({ emailaddress: 'ann@shop.example', network, time })).some((each) => each.isKnown);
      await sweep(site, time + 30 * day - 1);
      expect(await isKnown('home 0')).toBe(true);
      await sweep(site, time + 30 * day + 3, 2);
      expect([await isKnown('home 0'), await isKnown('home 3'), await isKnown('home 4')]).toEqual([false, false, true]);
    });

    test('deletes sessions a day after they end, except each member’s newest, which has the sign-in time', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const access = await join(site);
      const sessions = [];
      for (let nth = 0; nth < 4; nth += 1) sessions.push(await createSession(site, access.token, time + nth));
      const revoked = await createSession(site, access.token, time + 4, time + 30 * day);
      await store.revokeToken({ account, tokenID: revoked.tokenID, by: access.token, time: time + hour });
      const newest = await createSession(site, access.token, time + 5);
      await sweep(site, time + hour + day - 1);
      await sweep(site, time + 10 * day, 2);
      const remaining = [];
      for (const session of [...sessions, revoked, newest]) remaining.push(await exists(site, session));
      expect(remaining).toEqual([false, false, false, false, false, true]);
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

    test('keeps open sessions, tokens, and sessions that other rows refer to', async () => {
      const site = await newSite();
      const { store, account, time, server } = site;
      const access = await join(site);
      const by = async (): Promise<{ tokenID: string; token: number }> => createSession(site, access.token, time);
      const [idle, saved, shared, invited] = [await by(), await by(), await by(), await by()];
      const creator = await by();
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
      await store.createToken({ ...newToken('viewer'), account, createdBy: creator.token, time });
      const open = await createSession(site, access.token, time, time + 30 * day);
      const expiring = newToken('viewer');
      await store.createToken({ ...expiring, account, createdBy: server.token, time, expiresTime: time + 1 });
      await sweep(site, time + 20 * day);
      expect(await exists(site, idle)).toBe(false);
      for (const session of [saved, shared, invited, creator, open, expiring])
        expect(await exists(site, session)).toBe(true);
      expect(await store.listShareLinks({ account })).toMatchObject([{ createdBy: shared.tokenID }]);
      const { entries } = await store.listAudit({ account, limit: 100 });
      expect(entries.filter(({ action }) => action === 'updateAccount')).toMatchObject([{ actor: saved.tokenID }]);
      await expectRefusal(
        store.createToken({ ...newToken('viewer'), account, createdBy: idle.token, time }),
        'invalid_token',
      );
    });

    test('never gives a new token the number of a deleted token', async () => {
      const site = await newSite();
      const { time } = site;
      const access = await join(site);
      const first = await createSession(site, null, time);
      const last = await createSession(site, null, time);
      await sweep(site, time + 3 * day);
      expect([await exists(site, first), await exists(site, last)]).toEqual([false, false]);
      expect((await createSession(site, access.token, time)).token).toBeGreaterThan(last.token);
    });

    test('examines a limited number of tokens in each commit', async () => {
      const site = await newSite();
      const access = await join(site);
      const sessions = [];
      for (let nth = 0; nth < 10; nth += 1) sessions.push(await createSession(site, access.token, site.time));
      const [first] = sessions;
      const after = (first?.token as number) - 1;
      const result = await site.store.deleteExpired({ time: site.time + 3 * day, after, limit: 4 });
      expect(result).toEqual({ deleted: 4, next: sessions[3]?.token });
    });
  });
};
